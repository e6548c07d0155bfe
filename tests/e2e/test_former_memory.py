"""A memory that an earlier version wrote opens with this one, and the other way round, both on the embedded database.

The earlier version is the last commit before the package was arranged by capability. Of a commit that is older still,
with an older schema of the graph, a data directory is kept as ``tests/data/former_memory.tar.gz``;
``python -m tests.e2e.test_former_memory`` makes it anew from the history. The tests that run the earlier version itself
take its code from the history as well, which a shallow checkout or an archive does not have: they stay with the storms.
"""

import asyncio
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.e2e.support import environment

FORMER = "72f31d1"
OLDER = "3ec0d07"
"""Wrote what is kept; its graph has schema 4."""
ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests" / "data" / "former_memory.tar.gz"
TOGETHER = "Ada Quill moved the harbour office to Brindle Street."
FORGOTTEN = "The lighthouse keeper plays the zither."
FACTS = [
    {
        "source": "Ada Quill",
        "relation": "WORKS_AT",
        "target": "Harbour Office",
        "fact": "Ada Quill works at the Harbour Office.",
    }
]

Call = Any


def package_of(commit: str, place: Path) -> Path:
    """An earlier version's package, from the history of this repository."""
    archive = subprocess.run(["git", "archive", commit, "mcp_server"], cwd=ROOT, capture_output=True, check=False)
    assert archive.returncode == 0, f"Commit {commit} is not in this clone; `git fetch --unshallow` brings it."
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
    return place / "mcp_server"


@asynccontextmanager
async def server(package: Path, data_dir: Path) -> AsyncIterator[Call]:
    """Calls of tools to a server of this package."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from graphiti_pkm.cli.main import main; raise SystemExit(main())", "serve"],
        env=environment(data_dir=data_dir) | {"PYTHONPATH": str(package)},
        cwd=tempfile.gettempdir(),
    )
    with (data_dir.parent / "log").open("a") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr)) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return dict(result.structured_content or {})

            yield call


async def fill(call: Call) -> None:
    """A fact, an ended fact, a plan, and something that is forgotten."""
    await call("add_memory", name="Harbour", episode_body=TOGETHER, reference_time="2026-03-01", facts=FACTS)
    moved = {**FACTS[0], "target": "Customs House", "fact": "Ada Quill works at the Customs House."}
    moved["replaces"] = ["current"]
    await call(
        "add_memory", name="Customs", episode_body="Ada Quill changed.", reference_time="2026-04-01", facts=[moved]
    )
    gone = await call("add_memory", name="Keeper", episode_body=FORGOTTEN, reference_time="2026-05-01")
    preview = await call("forget", episode_uuid=gone["episode_uuid"], episodes="delete")
    await call("forget", episode_uuid=gone["episode_uuid"], episodes="delete", confirm=preview["confirm"])


async def check(call: Call) -> None:
    """All of it is there, nothing else, and more can be stored."""
    status = await call("get_status")
    assert (status["status"], status.get("attention") or []) == ("ok", []), status
    found = await call("search_memory_facts", query="Where does Ada Quill work?", max_facts=10)
    known = {one["fact"]: one["status"] for one in found["facts"] if one["name"] == "WORKS_AT"}
    assert known == {
        "Ada Quill works at the Customs House.": "current",
        "Ada Quill works at the Harbour Office.": "ended",
    }
    episodes = (await call("get_episodes"))["episodes"]
    assert {one["name"] for one in episodes} == {"Harbour", "Customs"}
    assert TOGETHER in {one["content"] for one in episodes}
    changed = (await call("what_changed", since="2020-01-01"))["changes"]
    assert "retired" in {one["change"] for one in changed}
    await call("add_memory", name="Later", episode_body="Ada Quill retired.", reference_time="2026-06-01")
    assert len((await call("get_episodes"))["episodes"]) == len(episodes) + 1


async def test_a_kept_memory_with_an_older_schema_opens(tmp_path: Path) -> None:
    with tarfile.open(KEPT) as kept:
        kept.extractall(tmp_path, filter="data")
    async with server(ROOT / "mcp_server", tmp_path / "data") as call:
        await check(call)


@pytest.mark.storm
async def test_a_memory_of_the_earlier_version_opens(tmp_path: Path) -> None:
    async with server(package_of(FORMER, tmp_path), tmp_path / "data") as call:
        await fill(call)
    async with server(ROOT / "mcp_server", tmp_path / "data") as call:
        await check(call)


@pytest.mark.storm
async def test_the_earlier_version_opens_a_memory_of_this_one(tmp_path: Path) -> None:
    package = package_of(FORMER, tmp_path)
    async with server(ROOT / "mcp_server", tmp_path / "data") as call:
        await fill(call)
    async with server(package, tmp_path / "data") as call:
        await check(call)


async def _make() -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        async with server(package_of(OLDER, place), place / "data") as call:
            await fill(call)
        while (place / "data" / "owner.lock").exists() and _is_owned(place / "data"):  # noqa: ASYNC110 another process
            await asyncio.sleep(0.2)
        with tarfile.open(KEPT, "w:gz") as kept:
            kept.add(
                place / "data",
                "data",
                filter=lambda one: None if one.name.endswith((".lock", ".log", "database.json")) else one,
            )


def _is_owned(data_dir: Path) -> bool:
    """Whether the database still runs: it stops some seconds after its last user."""
    return subprocess.run(["flock", "-n", "-x", str(data_dir / "owner.lock"), "true"], check=False).returncode != 0


if __name__ == "__main__":
    asyncio.run(_make())
