"""The image's first process and its health check, outside of an image; `make docker-check` runs them in it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.support import COMMAND, call, environment, free_port, over_http, run, until

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


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_it_ends_only_after_the_database_has_saved(
    ending: signal.Signals, settings: dict[str, str], first_process: "subprocess.Popen[bytes]", data_dir: Path
) -> None:
    assert not healthy(settings)
    until(lambda: healthy(settings), "the server to listen")
    async with over_http(f"http://127.0.0.1:{settings['GRAPHITI_PKM_PORT']}/mcp") as client:
        await call(client, "add_memory", episode_body="One note.")
    seal = data_dir / "appendonly.seal.json"
    assert not seal.exists()
    first_process.send_signal(ending)
    assert first_process.wait() == 128 + signal.SIGTERM
    assert seal.exists()


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
