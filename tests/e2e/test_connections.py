"""A server process and whoever opens connections to it: strangers that send nothing, too little or too slowly."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from tests.e2e.support import Served, call, over_http, serving, until

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

MANY = 1_100
FEW_FILES = ("sh", "-c", 'ulimit -n 512 && exec "$@"', "sh")
"""Starts a command that may open 512 files, no more."""
MOST_LOGGED = 20_000
HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n"


@dataclass(frozen=True)
class AccessGate:
    """A server, and a token for it."""

    server: Served
    secret: str

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.server.url.removeprefix("http://").partition(":")
        return host, int(port)

    @property
    def authorization(self) -> str:
        return f"Bearer {self.secret}"

    def connect(self, data: bytes = b"") -> socket.socket:
        client = socket.create_connection(self.address, timeout=20)
        client.sendall(data)
        return client

    def healthy(self) -> bool:
        return httpx2.get(f"{self.server.url}/health", timeout=5).status_code == httpx2.codes.OK

    async def works(self) -> None:
        async with over_http(self.server.endpoint, authorization=self.authorization) as client:
            assert (await call(client, "get_status"))["status"] == "ok"


@contextmanager
def door(data_dir: Path, **settings: object) -> Iterator[AccessGate]:
    secret = new_secret()
    token = Token.model_validate({"hash": hash_of(secret), "principal": "anna", "created": datetime.now(UTC)})
    write_tokens(data_dir / "tokens.json", [token])
    with serving(data_dir, within=FEW_FILES, **settings) as server:
        until(server.ready, "the database")
        yield AccessGate(server, secret)


@pytest.fixture(scope="module")
def few_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccessGate]:
    """A server that runs out of files long before the test does."""
    data_dir = tmp_path_factory.mktemp("connections") / "data"
    with door(data_dir, head_seconds=2, body_seconds=2) as found:
        yield found


@pytest.fixture(autouse=True)
def files_for_the_test() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], 8_192), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def connected(found: AccessGate, count: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(found.connect(data)) for _ in range(count)]


def closed(client: socket.socket) -> bool:
    """Whether the server closes the connection, within the client's patience."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


async def test_idle_connections_keep_nobody_out_and_do_not_fill_the_log(few_files: AccessGate) -> None:
    with connected(few_files, MANY):
        for _ in range(5):
            assert few_files.healthy()
        await few_files.works()
    assert few_files.server.log.stat().st_size < MOST_LOGGED


async def test_connections_that_stop_in_the_middle_of_a_head_keep_nobody_out(few_files: AccessGate) -> None:
    with connected(few_files, MANY, HEAD):
        assert few_files.healthy()
        await few_files.works()
    assert few_files.server.log.stat().st_size < MOST_LOGGED


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /hea", HEAD, HEAD + b"\r\n{", b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET /he"],
    ids=["nothing", "half a line", "half a head", "half a body", "half a second request"],
)
def test_a_client_that_never_ends_its_request_is_left(sent: bytes, few_files: AccessGate) -> None:
    with few_files.connect(sent) as client:
        assert closed(client)


def test_a_head_that_comes_a_byte_at_a_time_is_not_waited_for(few_files: AccessGate) -> None:
    """Each byte begins no new time."""
    with few_files.connect(HEAD) as client:
        client.settimeout(0.2)
        for _ in range(100):
            try:
                client.sendall(b"x")
                assert client.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("a head of one byte every 0.2 s was read for 20 s")


@asynccontextmanager
async def standing(found: AccessGate, count: int) -> AsyncIterator[list[httpx2.Response]]:
    """Streams of events of one token, from one address."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "many", "version": "1"}}
    headers = {"authorization": found.authorization, "accept": "application/json, text/event-stream"}
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=found.server.url, headers=headers, timeout=40, limits=limits) as web:
        streams = []
        for _ in range(count):
            opened = await web.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
            session = {"mcp-session-id": opened.headers["mcp-session-id"]}
            streams.append(await web.send(web.build_request("GET", "/mcp", headers=session), stream=True))
        yield streams
        for stream in streams:
            await stream.aclose()


async def test_idle_strangers_close_no_connection_that_has_shown_a_token(tmp_path: Path) -> None:
    """Also where all come from one address, as behind a proxy."""
    data_dir = tmp_path / "data"
    few = {"connections_without_token": 10, "connections_per_address": 5}
    with door(data_dir, **few) as found:
        async with standing(found, 20) as streams:
            with connected(found, 50):
                assert found.healthy()
                await found.works()
            assert [stream.status_code for stream in streams] == [200] * 20
            ends = [asyncio.ensure_future(anext(stream.aiter_raw(), b"")) for stream in streams]
            done, _ = await asyncio.wait(ends, timeout=0.5)
            assert not [one for one in done if one.exception() or one.result() == b""]
            for one in ends:
                one.cancel()


def test_a_server_takes_as_many_files_as_it_may(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    soft = ("sh", "-c", 'ulimit -S -n 256 && exec "$@"', "sh")
    with serving(data_dir, within=soft) as server:
        allowed = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0]
        assert allowed == min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 65_536)
