"""The image's first process and its health check, outside of an image; `make docker-check` runs them in it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from tests.docker_check.rules import stages
from tests.e2e.support import COMMAND, call, environment, over_http, run, until
from tests.ports import free_port

DOCKER = Path(__file__).resolve().parents[2] / "docker"


@pytest.fixture
def settings(data_dir: Path) -> dict[str, str]:
    given = environment(data_dir=data_dir, transport="http", port=free_port())
    return given | {"PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def first_process(settings: dict[str, str]) -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(
        ["sh", DOCKER / "entrypoint.sh", "serve"], env=settings, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.terminate()


def healthy(settings: dict[str, str]) -> bool:
    asked = [sys.executable, "-I", DOCKER / "healthcheck.py"]
    return subprocess.run(asked, env=settings, check=False, capture_output=True).returncode == 0


async def tools_of(url: str, token: str) -> set[str]:
    async with over_http(f"{url}/mcp", authorization=f"Bearer {token}") as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def test_as_the_image_starts_it_it_answers_health_and_lists_the_tools(data_dir: Path, settings: dict[str, str]) -> None:
    """The Dockerfile's own command and variables; that it builds and runs is for `make docker-check`."""
    final = stages((DOCKER / "Dockerfile").read_text(encoding="utf-8"))[-1]
    of_image = dict(pair.split("=", 1) for pair in (final.last("ENV") or "").split())
    places = {"GRAPHITI_PKM_DATA_DIR", "GRAPHITI_PKM_CACHE_DIR", "PATH", "GRAPHITI_PKM_PORT"}
    given = settings | {name: value for name, value in of_image.items() if name not in places}
    inside = "/usr/local/lib/graphiti-pkm/"
    command = json.loads(final.last("ENTRYPOINT") or "") + json.loads(final.last("CMD") or "")
    _, *check = json.loads((final.last("HEALTHCHECK") or "").rpartition("CMD ")[2])
    command, check = ([part.replace(inside, f"{DOCKER}/") for part in parts] for parts in (command, check))
    token = json.loads(run("tokens", "create", "anna", "--json", data_dir=data_dir).stdout)["token"]
    with subprocess.Popen(command, env=given, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            asked = partial(subprocess.run, [sys.executable, *check], env=given, check=False, capture_output=True)
            until(lambda: asked().returncode == 0, "its HEALTHCHECK")
            url = f"http://127.0.0.1:{settings['GRAPHITI_PKM_PORT']}"
            assert httpx2.get(f"{url}/health").status_code == httpx2.codes.OK
            assert {"get_entity_connections", "get_entity_timeline"} <= asyncio.run(tools_of(url, token))
        finally:
            process.terminate()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_it_ends_only_after_the_memory_was_closed(
    ending: signal.Signals, settings: dict[str, str], first_process: "subprocess.Popen[bytes]", data_dir: Path
) -> None:
    assert not healthy(settings)
    until(lambda: healthy(settings), "the server to listen")
    async with over_http(f"http://127.0.0.1:{settings['GRAPHITI_PKM_PORT']}/mcp") as client:
        await call(client, "add_memory", episode_body="One note.")
    log = data_dir / "memory.sqlite3-wal"
    assert log.exists()
    first_process.send_signal(ending)
    assert first_process.wait() == 0
    assert not log.exists()


def test_it_hands_on_stdin_and_the_exit_code(settings: dict[str, str]) -> None:
    hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    hello += '"clientInfo":{"name":"test","version":"1"}}}\n'
    talked = subprocess.run(
        ["sh", DOCKER / "entrypoint.sh", "serve", "--transport", "stdio"],
        input=hello,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"serverInfo"' in talked.stdout
    assert talked.returncode == 0
    wrong = subprocess.run(["sh", DOCKER / "entrypoint.sh", "nonsense"], env=settings, check=False, capture_output=True)
    assert wrong.returncode == run("nonsense").returncode == 2
