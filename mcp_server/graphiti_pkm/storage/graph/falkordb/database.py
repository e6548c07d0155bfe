"""The port ``Database`` on FalkorDB: pipelined queries, recovery, and what is FalkorDB's own way of everything else.

Importing this takes most of a second (graphiti_core); ``opening`` does it in a thread, on first use. Errors and logs
name a query and never hold its text, its parameters or the database's message, which may quote them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Note, Refused
from graphiti_pkm.storage.graph.falkordb import erasing as falkor_erasing
from graphiti_pkm.storage.graph.falkordb import schema as falkor_schema
from graphiti_pkm.storage.graph.falkordb import server as falkor_server
from graphiti_pkm.storage.graph.falkordb.connection import READ_TIMEOUT_MS, FalkorRefused
from graphiti_pkm.storage.graph.falkordb.driver import FalkorClient, OneGraphDriver
from graphiti_pkm.storage.graph.falkordb.link import FalkorLink
from graphiti_pkm.storage.graph.falkordb.server import Keeping
from graphiti_pkm.storage.graph.queries.values import Query, Row, rows
from graphiti_pkm.storage.graph.vector_indexes import Built, Embedded

_log = logging.getLogger(__name__)

_DURABLE_KEY = "graphiti-pkm:durable"
_CLAIMED_KEY = "graphiti-pkm:"

_Answer = TypeVar("_Answer")


class FalkorDatabase:
    """One graph on one server. ``attempt`` fails as it comes; ``read`` and ``write`` recover and try once more."""

    def __init__(self, link: FalkorLink, name: str, note: Note | None = None) -> None:
        """``note`` is told what whoever runs the server should know."""
        self.link = link
        self.name = name
        self._note = note
        self.keeping = Keeping.APPEND_ONLY
        self.has_snapshots = False
        """Whether it has to be taken for granted that the server saves its data beside an append-only file."""
        link.after_recovery(partial(falkor_schema.ensure, self))

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        return await self.link.recovering(send)

    async def read(self, *queries: Query) -> list[list[Row]]:
        """Rows of each query, sent together. Raises Unavailable."""
        try:
            return await self.recovering(partial(self.attempt, *queries))
        except Refused as refused:
            _log.warning("%s", refused)
            raise Unavailable("The database could not answer a query. Try again; get_status says more.") from None

    async def read_apart(self, *queries: Query) -> list[list[Row]]:
        """As ``read``, on a connection each, so that the database works on them side by side."""
        answers = await asyncio.gather(*map(self.read, queries))
        return [rows_ for (rows_,) in answers]

    async def write(self, query: Query) -> list[Row]:
        """Rows of one query that may safely be repeated.

        Raises:
            Refused: nothing of it is there.
            Unavailable: it may be there.
        """
        answers: list[list[Row]] = await self.recovering(partial(self.attempt, query, writing=True))
        return answers[0]

    async def attempt(self, *queries: Query, writing: bool = False) -> list[list[Row]]:
        """As ``read`` and ``write`` without recovery.

        Raises:
            Refused: by the first query that was.
            OSError, RedisError: the connection is lost.
        """
        commands = [await self._command(query, writing=writing) for query in queries]
        redis = self.link.writer if writing else self.link.reader
        async with redis.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers = await pipeline.execute(raise_on_error=False)
        for query, answer in zip(queries, answers, strict=True):
            _check(query.name, answer)
        return [rows(answer) for answer in answers]

    async def command(self, *words: str | int) -> Any:
        """A plain command that may be repeated. Raises Refused or Unavailable."""
        return await self.recovering(partial(self.attempt_command, *words))

    async def attempt_command(self, *words: str | int) -> Any:
        """As ``command`` without recovery. Raises Refused, OSError or RedisError."""
        try:
            return await self.link.writer.execute_command(*words)  # type: ignore[no-untyped-call]
        except ResponseError as error:
            raise FalkorRefused(str(words[0]), error) from None

    async def is_durable(self, timeout_ms: int) -> bool:
        """True once everything written before this call is on the server's disk.

        WAITAOF waits for the writes of its own connection only, so that connection writes first.
        """

        async def send() -> bool:
            async with self.link.waiter.pipeline(transaction=False) as pipeline:
                pipeline.set(_DURABLE_KEY, 1)
                pipeline.execute_command("WAITAOF", 1, 0, timeout_ms)
                _, waited = await pipeline.execute(raise_on_error=False)
            _check("WAITAOF", waited)
            return int(waited[0]) >= 1

        if self.keeping is Keeping.APPEND_ONLY:
            try:
                return await self.recovering(send)
            except FalkorRefused as refused:
                if self.link.address.is_ours:
                    _log.warning("%s", refused)
                    return False
        try:
            state = await self.command("INFO", "persistence")
        except FalkorRefused:
            return False
        self._keeps(falkor_server.keeping(state, has_snapshots=self.has_snapshots))
        return self.keeping is not Keeping.APPEND_ONLY and not int(state.get("rdb_changes_since_last_save", 1))

    def _keeps(self, now: Keeping) -> None:
        """Its keeper may have changed that meanwhile."""
        if now is not self.keeping:
            for keeping in (self.keeping, now):
                self.note(keeping.value, holds=keeping is now)
            self.keeping = now

    def note(self, text: str, *, holds: bool = True) -> None:
        """Have get_status tell it from now on, or no more."""
        if self._note is not None and text:
            self._note(text, holds=holds)

    async def examine(self) -> list[str]:
        if self.link.address.is_ours:
            await self.command("PING")
            return []
        self.keeping, self.has_snapshots, notes = await falkor_server.require(self.link, self.name)
        return notes

    async def prepare(self) -> None:
        if not self.link.address.is_ours:
            for note in await self.examine():
                self.note(note)
        await self.recovering(partial(falkor_schema.ensure, self))

    async def is_ready(self) -> bool:
        return await self.recovering(partial(falkor_schema.is_ready, self))

    async def clear(self) -> None:
        try:
            await self.command("GRAPH.DELETE", self.name)
        except FalkorRefused as refused:
            if not refused.is_missing_graph:
                raise Unavailable("The graph could not be cleared; nothing was changed.") from None
        await self.prepare()

    async def erase(self) -> bool:
        return await falkor_erasing.erase(self)

    async def vector_states(self) -> dict[Embedded, Built]:
        return await falkor_schema.vector_states(self)

    async def create_vector_index(self, kind: Embedded, dimension: int) -> bool:
        """Of several processes one is first, and to the others it is there already."""
        try:
            await self.write(Query("create vector index", kind.create(dimension), {}))
        except FalkorRefused as refused:
            if not refused.is_existing_index:
                _log.warning("the database refused a vector index of %s", kind.name)
            return False
        return True

    async def drop_vector_index(self, kind: Embedded) -> bool:
        try:
            await self.write(Query("drop vector index", kind.drop, {}))
        except Refused:
            return False
        return True

    async def claim(self, key: str, seconds: int) -> bool:
        return bool(await self.command("SET", f"{_CLAIMED_KEY}{self.name}:{key}", 1, "NX", "EX", seconds))

    def driver(self) -> OneGraphDriver:
        """A driver for Graphiti's own code, with connections of its own."""
        return OneGraphDriver(FalkorClient(self.link.client()), self.name, self.link.watched)

    async def close(self) -> None:
        await self.link.close()

    async def _command(self, query: Query, *, writing: bool) -> tuple[str | int, ...]:
        text = await asyncio.to_thread(query.command) if writing else query.command()
        if writing:
            return ("GRAPH.QUERY", self.name, text, "--compact")
        return ("GRAPH.RO_QUERY", self.name, text, "--compact", "timeout", READ_TIMEOUT_MS)


def _check(name: str, answer: Any) -> None:
    """An error stands in the place of the answer, or after its rows."""
    parts = answer if isinstance(answer, list) else [answer]
    for part in (*parts[:1], *parts[-1:]):
        if isinstance(part, (RedisConnectionError, RedisTimeoutError)):
            raise part
        if isinstance(part, RedisError):
            raise FalkorRefused(name, part)
