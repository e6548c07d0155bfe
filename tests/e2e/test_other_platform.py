"""graphiti_pkm as if on Windows, in processes of its own: see ``tests/like_windows``.

What it shows: all our modules import there, and what runs here uses nothing that Python lacks there; our calls of
LockFileEx, CreateFileW and their like keep the contract of the locks, if Windows behaves as documented; no file is
renamed or removed while it is open; a server, a second one on its directory, the commands and the analyses in processes
of their own work under these rules.

What it does not show: Windows. Libraries, asyncio's event loop, pipes, SQLite's own locks, consoles, paths with
backslashes and the encoding of a terminal are those of Linux. Only a run on Windows shows them:
``.github/workflows/test.yml`` is for whoever hosts one. We have run on Linux only.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.support import call, environment, over_http, over_stdio, run, serving
from tests.neo4j_server import Neo4jAddress, empty

ROOT = Path(__file__).parents[2]
EMULATION = ROOT / "tests" / "like_windows"


@pytest.fixture(autouse=True)
def _like_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the processes that a test starts."""
    given = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(EMULATION), *([given] if given else [])]))


def checks(data_dir: Path) -> dict[str, tuple[bool, str]]:
    """What doctor finds."""
    told = run("doctor", "--json", data_dir=data_dir)
    return {check["name"]: (check["ok"], check["detail"]) for check in json.loads(told.stdout)["checks"]}


async def remember(data_dir: Path, body: str, **settings: object) -> None:
    async with over_stdio(data_dir, **settings) as client:
        await call(client, "add_memory", episode_body=body, entities=[{"name": "Ines"}])


async def found(data_dir: Path, query: str, **settings: object) -> list[str]:
    async with over_stdio(data_dir, **settings) as client:
        return [one["content"] for one in (await call(client, "search_episodes", query=query))["episodes"]]


def in_python(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False, timeout=100
    )


def test_every_module_imports_but_that_of_the_workers() -> None:
    told = in_python(
        "import importlib, pkgutil, graphiti_pkm\n"
        "for found in pkgutil.walk_packages(graphiti_pkm.__path__, 'graphiti_pkm.'):\n"
        "    try:\n"
        "        importlib.import_module(found.name)\n"
        "    except Exception as error:\n"
        "        print(found.name, type(error).__name__)\n"
    )
    assert (told.returncode, told.stdout) == (0, "graphiti_pkm.server.transports.workers AssertionError\n"), told.stderr


async def test_doctor_and_status_know_where_they_run(tmp_path: Path) -> None:
    data_dir = tmp_path / "my data"
    fresh = checks(data_dir)
    assert {name for name, (ok, _) in fresh.items() if not ok} == set()
    assert "access control lists" in fresh["directory access"][1]
    await remember(data_dir, "Ines leads Heron.")
    assert all(ok for ok, _ in checks(data_dir).values())
    told = run("status", data_dir=data_dir)
    assert (told.returncode, told.stdout.splitlines()[0]) == (0, "ok: The memory works.")


def test_a_network_drive_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKE_WINDOWS_DRIVE", "4")
    ok, detail = checks(tmp_path / "data")["file system"]
    assert not ok
    assert "network drive" in detail


async def test_two_servers_on_one_directory_write_and_find(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with over_stdio(data_dir) as one, over_stdio(data_dir) as other:
        for client, body in ((one, "Ines leads Heron."), (other, "Jonas drinks coffee."), (one, "Ines drinks tea.")):
            await call(client, "add_memory", episode_body=body, entities=[{"name": "Ines"}])
        for client in (one, other):
            (ines,) = (await call(client, "search_nodes", names=["Ines"]))["nodes"]
            assert (await call(client, "get_entity_timeline", entity_uuid=ines["uuid"]))["total"] == 3
        best, *_ = (await call(other, "search_episodes", query="tea"))["episodes"]
        assert best["content"] == "Ines drinks tea."


async def test_a_server_over_http_is_found_by_its_token(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    secret = run("tokens", "create", "ines", data_dir=data_dir).stdout.splitlines()[0]
    with serving(data_dir) as served:
        async with over_http(served.endpoint, Authorization=f"Bearer {secret}") as client:
            assert (await call(client, "get_status"))["status"] == "ok"
        assert "revoked" in run("tokens", "revoke", _id_of(data_dir), data_dir=data_dir).stdout


def _id_of(data_dir: Path) -> str:
    return str(json.loads(run("tokens", "list", "--json", data_dir=data_dir).stdout)["tokens"][0]["id"])


async def test_an_analysis_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    async with over_stdio(tmp_path / "data", toolsets="reasoning") as client:
        await call(client, "import_graph", format="dot", content="digraph { a -> b; b -> c; c -> a; }")
        for _ in range(2):
            assert (await call(client, "find_cycles"))["cycles"] == [["a", "b", "c"]]


def test_the_demo_plays_to_its_end(tmp_path: Path) -> None:
    told = run("demo", data_dir=tmp_path / "mine")
    assert (told.returncode, told.stderr) == (0, "")
    assert "Jonas Brandt is product manager of Project Heron" in told.stdout.partition("\n7. ")[2]


def test_several_workers_are_refused_with_what_to_do(tmp_path: Path) -> None:
    told = run("serve", transport="http", workers=2, data_dir=tmp_path / "data")
    assert told.returncode == 2
    assert "--workers 1" in told.stderr


@pytest.mark.storm
async def test_a_damaged_journal_is_replaced_once_no_server_has_it_open(tmp_path: Path) -> None:
    data_dir, backup = tmp_path / "data", tmp_path / "backup"
    await remember(data_dir, "Ines leads Heron.")
    assert run("backup", str(backup), data_dir=data_dir).returncode == 0
    with serving(data_dir) as served:
        async with over_http(served.endpoint) as client:
            await call(client, "add_memory", episode_body="Ines drinks tea.")
        memory = data_dir / "memory.sqlite3"
        with memory.open("r+b") as file:
            file.seek(100)
            file.write(b"x" * memory.stat().st_size)
        before = sorted(path.name for path in data_dir.iterdir())
        refused = run("restore", str(backup), "--replace", data_dir=data_dir)
        assert refused.returncode == 1
        assert "End the servers on it" in refused.stderr
        assert sorted(path.name for path in data_dir.iterdir()) == before
    assert run("restore", str(backup), "--replace", data_dir=data_dir).returncode == 0
    assert await found(data_dir, "Heron") == ["Ines leads Heron."]


async def test_neo4j_works_from_there(neo4j_server: Neo4jAddress, tmp_path: Path) -> None:
    empty(neo4j_server)
    settings = neo4j_server.product_settings()
    await remember(tmp_path / "data", "Ines leads Heron.", **settings)
    assert await found(tmp_path / "data", "Heron", **settings) == ["Ines leads Heron."]
    empty(neo4j_server)


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("tests/contracts/test_locks.py", "flock"),
        ("tests/integration/test_partial_files.py", "killed or left"),
        pytest.param("tests/integration/test_signing_key.py", "not falkor and not neo4j", marks=pytest.mark.storm),
    ],
)
def test_what_locks_and_files_promise_holds(file: str, chosen: str, tmp_path: Path) -> None:
    # With pytest's own choice of a directory it would first remove those of former runs, which takes minutes.
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--basetemp={tmp_path / 'own'}", file, "-k", chosen],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert told.returncode == 0, told.stdout[-3_000:]
