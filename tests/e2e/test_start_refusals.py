"""Starts that are refused: where others could reach it without a token, and where SQLite lacks what is needed."""

import json
import socket
from pathlib import Path

import pytest
from tests.e2e.support import over_stdio, run
from tests.ports import free_port

REACHABLE = [
    ("0.0.0.0", "http", 1),  # noqa: S104
    ("0.0.0.0", "sse", 1),  # noqa: S104
    ("0.0.0.0", "http", 2),  # noqa: S104
    ("0", "http", 1),
    ("::", "http", 1),
    ("::", "sse", 1),
    ("::ffff:0.0.0.0", "http", 1),
    ("192.0.2.7", "http", 1),
    ("memory.example", "http", 1),
    (socket.gethostname(), "http", 1),
    ("127.0.0.1.memory.example", "http", 1),
]
"""A name is not looked up: what it stands for may be another address tomorrow."""


@pytest.mark.parametrize(("host", "transport", "workers"), REACHABLE)
def test_an_address_that_others_may_reach_is_refused_with_what_to_do(
    host: str, transport: str, workers: int, data_dir: Path
) -> None:
    port = free_port()
    arguments = ("--transport", transport, "--host", host, "--port", str(port), "--workers", str(workers))
    refused = run("serve", *arguments, data_dir=data_dir)
    assert refused.returncode == 2
    assert "no tokens to tell callers apart" in refused.stderr
    assert "`graphiti-pkm tokens create NAME` makes one" in refused.stderr
    assert not data_dir.exists() or not list(data_dir.glob("*.sqlite3"))
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize("state", ["revoked", "expired"])
def test_a_token_that_nobody_can_use_any_more_is_none(state: str, data_dir: Path) -> None:
    made = json.loads(run("tokens", "create", "anna", "--days", "1", "--json", data_dir=data_dir).stdout)
    if state == "revoked":
        assert run("tokens", "revoke", made["entry"]["hash"][:8], data_dir=data_dir).returncode == 0
    else:
        file = data_dir / "tokens.json"
        kept = json.loads(file.read_text(encoding="utf-8"))
        kept["tokens"][0]["expires"] = "2026-01-01T00:00:00Z"
        file.write_text(json.dumps(kept), encoding="utf-8")
    refused = run("serve", "--transport", "http", "--host", "0.0.0.0", data_dir=data_dir)  # noqa: S104
    assert (refused.returncode, "no tokens to tell callers apart" in refused.stderr) == (2, True)


@pytest.fixture
def _without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "without_fts5"))


@pytest.mark.usefixtures("_without_fts5")
async def test_an_sqlite_without_full_text_search_is_refused_with_what_to_do(data_dir: Path) -> None:
    said, remedy = "was built without FTS5", "use a Python with a newer SQLite, such as those of uv or python.org"
    doctor = run("doctor", data_dir=data_dir)
    assert doctor.returncode == 1
    assert f"{said}\n                      -> {remedy}\n" in doctor.stdout
    async with over_stdio(data_dir) as client:
        refused = await client.call_tool("add_memory", {"episode_body": "A note."})
    assert refused.is_error
    assert refused.structured_content is not None
    assert refused.structured_content["code"] == "unsupported_platform"
    assert f"{said}. To do: {remedy}." in refused.structured_content["error"]
    assert "there is no memory" in run("status", data_dir=data_dir).stderr.lower()
