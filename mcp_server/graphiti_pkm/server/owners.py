"""Scratch graphs with several workers: which worker owns a tenant's graphs, and how the others pass calls to it.

A tenant's graphs are in the memory of one worker, which a hash of the tenant determines. The worker that receives a
request checks the caller and its limits, sends tool, caller and arguments to the owner over a Unix socket, and returns
the owner's answer. The sockets are created before the workers, in a directory that no other user can enter. A worker
that is restarted therefore receives the calls that arrived meanwhile, but it has no graphs.
"""

import asyncio
import hashlib
import json
import logging
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mcp_types import CallToolResult

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.operating_system import local_socket
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.toolkit.schema import Json

logger = logging.getLogger(__name__)

_TAKEN = b"+"
"""The owner sends this first. Until then it is sent nothing, and it is given no more time than a start takes."""
_PATIENCE = 40.0
_BACKLOG = 1_024


class PassedOn(Record):
    """A call that one worker passes to another."""

    tool: str
    caller: Caller
    arguments: Json


Answering: TypeAlias = Callable[[PassedOn], Awaitable[CallToolResult]]


def owner_of(visibility: tuple[str, ...], workers: int) -> int:
    """The worker that owns the graphs of a tenant; the same in every process."""
    digest = hashlib.sha256(json.dumps(visibility).encode()).digest()
    return int.from_bytes(digest[:8]) % workers


@dataclass(frozen=True)
class Owners:
    """The sockets of all workers, for use by one of them."""

    listening: tuple[socket.socket, ...]
    """One socket per worker, open in all processes; only its own worker accepts calls from it."""
    tools: frozenset[str]
    """The tools whose calls must be answered by the owner."""
    slot: int = -1
    """The number of this worker."""
    patience: float = _PATIENCE

    async def pass_on(self, tool: str, caller: Caller, arguments: Json) -> CallToolResult | None:
        """The owner's answer; None if this worker has to answer itself.

        Raises:
            Unavailable: the owner does not answer, or ended before it answered.
        """
        owner = owner_of(caller.visibility, len(self.listening))
        if tool not in self.tools or owner == self.slot:
            return None
        call = PassedOn(tool=tool, caller=caller, arguments=arguments)
        try:
            async with _connected(self.listening[owner].getsockname()) as (reader, writer):
                await asyncio.wait_for(reader.readexactly(len(_TAKEN)), self.patience)
                _send(writer, call.model_dump_json().encode())
                await writer.drain()
                return CallToolResult.model_validate_json(await _received(reader))
        except TimeoutError:
            raise Unavailable(
                "The process that holds your scratch graphs does not answer. Nothing was done; call again shortly."
            ) from None
        except (OSError, asyncio.IncompleteReadError):
            raise Unavailable(
                "The process that held your scratch graphs ended during this call, and they are gone with it; memory "
                "is as it was. list_graphs shows what there is; import_graph or open_graph make a graph anew."
            ) from None

    @asynccontextmanager
    async def serving(self, answer: Answering) -> AsyncIterator[None]:
        """Answer the calls that other workers pass to this one."""

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):  # the other worker closed the connection
                writer.write(_TAKEN)
                call = PassedOn.model_validate_json(await _received(reader))
                result = await _unless_left(answer(call), reader)
                if result is not None:
                    _send(writer, result.model_dump_json(by_alias=True).encode())
                    await writer.drain()
            writer.close()

        # Not start_unix_server: since Python 3.13 it removes the socket at its end, and the next worker needs it.
        server = await asyncio.start_server(take, sock=self.listening[self.slot].dup())
        try:
            yield
        finally:
            server.close()


@contextmanager
def owners(workers: int, tools: Collection[str]) -> Iterator[Owners]:
    """Create the sockets. Enter this before the workers start; each worker then sets ``slot`` to its number.

    Raises:
        ConfigurationError: the sockets cannot be created.
    """
    directory = Path(tempfile.mkdtemp(prefix="graphiti-pkm-"))
    listening: list[socket.socket] = []
    try:
        listening.extend(_listening(directory / str(slot)) for slot in range(workers))
        yield Owners(tuple(listening), frozenset(tools))
    finally:
        for each in listening:
            each.close()
        shutil.rmtree(directory, ignore_errors=True)


def _listening(path: Path) -> socket.socket:
    made = local_socket()
    try:
        made.bind(str(path))
    except OSError as error:
        made.close()
        raise ConfigurationError(
            f"Several workers with scratch graphs need sockets in the temporary directory ({error}). Set TMPDIR to a "
            "shorter path, leave out the toolset reasoning, or use --workers 1."
        ) from None
    made.listen(_BACKLOG)
    return made


@asynccontextmanager
async def _connected(path: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    made = local_socket()
    made.setblocking(False)  # noqa: FBT003 positional in socket
    try:
        await asyncio.get_running_loop().sock_connect(made, path)
    except BaseException:
        made.close()
        raise
    reader, writer = await asyncio.open_connection(sock=made)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _unless_left(answering: Awaitable[CallToolResult], reader: asyncio.StreamReader) -> CallToolResult | None:
    """The answer; None if the other side closed the connection first, for example because its client cancelled."""
    call = asyncio.ensure_future(answering)
    left = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((call, left), return_when=asyncio.FIRST_COMPLETED)
        return call.result() if call.done() else None
    finally:
        call.cancel()
        left.cancel()


def _send(writer: asyncio.StreamWriter, message: bytes) -> None:
    writer.write(len(message).to_bytes(8) + message)


async def _received(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(8)))
