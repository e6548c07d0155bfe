"""A rebuild that is killed: whoever comes next finds the whole memory, and nothing twice."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, environment, over_stdio, run
from tests.neo4j_server import Neo4jAddress, empty

NOTES = 6
pytestmark = pytest.mark.timeout(300)  # many processes one after the other
Place = dict[str, Any]


@pytest.fixture(params=["embedded", "neo4j"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Settings of an empty memory."""
    directory = tmp_path / "data"
    if request.param == "embedded":
        return {"data_dir": directory}
    server: Neo4jAddress = request.getfixturevalue("neo4j_server")
    empty(server)
    return {
        "data_dir": directory,
        **server.product_settings(),
    }


CLEAR, APPLY = "clear", "apply"
_PLACES = {
    "embedded": {
        CLEAR: "storage.graph.sqlite.store:SqliteGraph.clear",
        APPLY: "storage.graph.sqlite.core_parts:Writer.apply",
    },
    "neo4j": {CLEAR: "storage.graph.store:GraphStore.clear", APPLY: "storage.graph.parts.writing:Writer.apply"},
}


def _command(place: Place, when: str, step: str, times: int, command: Sequence[str]) -> list[str]:
    where = _PLACES["neo4j" if "neo4j_uri" in place else "embedded"][step]
    return [sys.executable, "-m", "tests.killed", when, where, str(times), *command]


async def killed(place: Place, when: str, step: str, times: int, *command: str) -> None:
    """A command that dies at that step."""
    process = await asyncio.create_subprocess_exec(
        *_command(place, when, step, times, command), env=environment(**place)
    )
    assert await process.wait() == -signal.SIGKILL


async def remember(client: Client, number: int) -> None:
    await call(
        client,
        "add_memory",
        episode_body=f"Note {number}: Person{number} works on Heron.",
        entities=[{"name": f"Person{number}"}, {"name": "Heron"}],
        facts=[
            {"source": f"Person{number}", "relation": "WORKS_ON", "target": "Heron", "fact": f"Note {number} says so."}
        ],
    )


async def notes(client: Client) -> list[int]:
    page = await call(client, "get_episodes", max_episodes=100)
    return sorted(int(episode["content"].split(":")[0].removeprefix("Note ")) for episode in page["episodes"])


async def persons(client: Client, number: int) -> int:
    found = await call(client, "search_nodes", names=[f"Person{number}"])
    return sum(node["name"] == f"Person{number}" for node in found["nodes"])


CLEARED = ("after", CLEAR, 1)
STEPS = [
    ("before", CLEAR, 1),
    CLEARED,
    ("after", APPLY, 3),
    ("after", APPLY, NOTES),
]


@pytest.mark.storm
async def test_a_running_server_finishes_a_killed_rebuild_at_its_next_call(place: Place) -> None:
    async with over_stdio(**place) as client:
        for number in range(NOTES):
            await remember(client, number)
        await killed(place, *CLEARED, "rebuild")
        assert await notes(client) == list(range(NOTES)), "a read is never answered from half a graph"
        await killed(place, "after", APPLY, 3, "rebuild")
        await remember(client, NOTES - 1)  # of somebody whom half a graph does not know
        assert await notes(client) == sorted([*range(NOTES), NOTES - 1])
        assert [await persons(client, number) for number in (0, NOTES - 1)] == [1, 1]
        status = await call(client, "get_status")
        assert (status["status"], status["failures"]) == ("ok", [])


@pytest.mark.storm
@pytest.mark.parametrize(("when", "step", "times"), STEPS)
async def test_wherever_a_rebuild_is_killed_the_next_write_finds_the_whole_memory(
    place: Place, when: str, step: str, times: int
) -> None:
    async with over_stdio(**place) as client:
        for number in range(NOTES):
            await remember(client, number)
        await killed(place, when, step, times, "rebuild")
        await remember(client, NOTES - 1)
        assert await notes(client) == sorted([*range(NOTES), NOTES - 1])
        assert [await persons(client, number) for number in (0, NOTES - 1)] == [1, 1]


async def test_the_next_start_finishes_a_killed_rebuild_also_after_further_kills(place: Place) -> None:
    async with over_stdio(**place) as client:
        for number in range(NOTES):
            await remember(client, number)
    for times in (3, 2):
        await killed(place, "after", APPLY, times, "rebuild")
    async with over_stdio(**place) as client:
        assert await notes(client) == list(range(NOTES))
        assert (await call(client, "get_status"))["status"] == "ok"


@pytest.mark.parametrize("place", ["embedded"], indirect=True)  # the mark is in the journal, whatever the database
async def test_status_and_doctor_say_so_while_a_rebuild_is_not_finished(place: Place) -> None:
    async with over_stdio(**place) as client:
        for number in range(NOTES):
            await remember(client, number)
        standing = await asyncio.create_subprocess_exec(
            *_command(place, "stop", APPLY, 3, ["rebuild"]),
            env=environment(**place),
        )
        try:
            await stands(standing.pid)
            status = await call(client, "get_status")
            assert status["status"] == "degraded"
            assert "rebuild" in " ".join(status["failures"])
            for command in ("status", "doctor"):
                done = await asyncio.to_thread(run, command, **place)
                assert "rebuild" in done.stdout
        finally:
            standing.kill()
            await standing.wait()
        assert await notes(client) == list(range(NOTES))


async def stands(pid: int) -> None:
    """Wait until a process has stopped itself."""
    state = ""
    while state != "T":
        await asyncio.sleep(0.02)  # no event tells
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]  # noqa: ASYNC240 it is memory
