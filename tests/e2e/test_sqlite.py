"""The memory in one SQLite file, through real processes: nothing acknowledged is lost, what is forgotten is gone."""

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_http, over_stdio, run, serving
from tests.integration.planted import files_with
from tests.protocol.support import error_of

pytestmark = pytest.mark.timeout(300)

PERSON = "Wilhelmina Ostrander"
HIDDEN = "Quolltext-4711"


async def remember(client: Client, body: str, **arguments: Any) -> str:
    given = {"entities": [{"name": "Ines"}, {"name": "Heron"}], "facts": []} | arguments
    return str((await call(client, "add_memory", episode_body=body, **given))["episode_uuid"])


async def contents(client: Client) -> set[str]:
    found: set[str] = set()
    cursor = None
    while True:
        page = await call(client, "get_episodes", max_episodes=100, cursor=cursor)
        found |= {episode["content"] for episode in page["episodes"]}
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def the_only_store(data_dir: Path) -> None:
    assert (data_dir / "memory.sqlite3").is_file()
    assert not (data_dir / "journal.sqlite3").exists()
    assert not (data_dir / "appendonlydir").exists()


async def test_what_was_acknowledged_is_there_after_servers_were_killed(tmp_path: Path) -> None:
    """Three servers on one file, of which two are killed while they write; the third one and a new one have it all."""
    data_dir = tmp_path / "data"
    acknowledged: list[str] = []

    async def write(name: str, url: str) -> None:
        with contextlib.suppress(Exception):  # its server is killed while it writes
            async with over_http(url) as client:
                for number in range(200):
                    body = f"{name} wrote note {number} about Ines."
                    await remember(client, body)
                    acknowledged.append(body)

    with (
        serving(data_dir) as one,
        serving(data_dir) as other,
        serving(data_dir) as third,
    ):
        writers = [asyncio.create_task(write(name, served.endpoint)) for name, served in (("A", one), ("B", other))]
        while len(acknowledged) < 20:
            assert not all(writer.done() for writer in writers), (one.log.read_text(), other.log.read_text())
            await asyncio.sleep(0.01)
        one.process.kill()
        while len(acknowledged) < 40:
            assert not writers[1].done(), other.log.read_text()
            await asyncio.sleep(0.01)
        other.process.kill()
        await asyncio.gather(*writers)
        async with over_http(third.endpoint) as client:
            kept = await contents(client)
            assert set(acknowledged) <= kept
            await remember(client, "Afterwards the third server writes on.")
            (ines,) = (await call(client, "search_nodes", names=["Ines"]))["nodes"]
            timeline = await call(client, "get_entity_timeline", entity_uuid=ines["uuid"], max_episodes=1)
            assert timeline["total"] == len(kept) + 1  # the note that was written since names her as well
    async with over_stdio(data_dir) as client:
        assert await contents(client) == kept | {"Afterwards the third server writes on."}
        assert (await call(client, "get_status"))["status"] == "ok"
    the_only_store(data_dir)


async def test_forgotten_words_are_in_no_file_and_no_answer(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with over_stdio(data_dir) as client, over_stdio(data_dir) as other:
        for number in range(12):
            said = f"{PERSON} whispered {HIDDEN} on walk {number}."
            facts = [{"source": PERSON, "relation": "WHISPERED", "value": f"{HIDDEN} {number}", "quote": said}]
            body = f"Tobias planted {number + 2} trees. {said}"
            await remember(
                (client, other)[number % 2], body, entities=[{"name": PERSON}, {"name": "Tobias"}], facts=facts
            )
        assert files_with(data_dir, HIDDEN)
        (person,) = (await call(other, "search_nodes", names=[PERSON], max_nodes=1))["nodes"]
        preview = await call(client, "forget", entity_uuid=person["uuid"])
        done = await call(client, "forget", entity_uuid=person["uuid"], confirm=preview["confirm"])
        assert done["status"] == "forgotten", done
        assert files_with(data_dir, HIDDEN) == []
        assert files_with(data_dir, "Ostrander") == []
        for asked in (client, other):
            seen = json.dumps(
                [
                    await call(asked, "search_episodes", query=f"{PERSON} {HIDDEN}"),
                    await call(asked, "search_memory_facts", query=HIDDEN),
                    await call(asked, "what_changed", since="2000-01-01"),
                ]
            )
            assert HIDDEN not in seen
            assert "Ostrander" not in seen
            assert len(await contents(asked)) == 12


PLANTED = "xylophonist"


async def test_a_query_that_fails_puts_no_text_into_an_answer_or_a_log(data_dir: Path) -> None:
    with serving(data_dir, log_level="debug", log_format="json") as server:
        async with over_http(server.endpoint) as client:
            await remember(client, f"The {PLANTED} plays.", entities=[{"name": PLANTED}])
            with contextlib.closing(sqlite3.connect(data_dir / "memory.sqlite3")) as other:
                other.executescript("ALTER TABLE search_text RENAME TO lost; ALTER TABLE episode RENAME TO lost_too")
            failing: dict[str, dict[str, Any]] = {
                "search_nodes": {"query": PLANTED},
                "search_episodes": {"query": PLANTED},
                "search_memory_facts": {"query": PLANTED},
                "get_episodes": {},
                "add_memory": {"episode_body": f"Another {PLANTED}.", "entities": [{"name": f"{PLANTED} II"}]},
            }
            for tool, arguments in failing.items():
                message = error_of(await client.call_tool(tool, arguments))
                assert PLANTED not in message
                assert "SELECT" not in message
    written = server.log.read_text()
    assert '"tool":"add_memory"' in written
    assert PLANTED not in written


async def test_commands_work_on_the_file(tmp_path: Path) -> None:
    """doctor, status, backup, restore and rebuild."""
    data_dir, elsewhere, backup = tmp_path / "data", tmp_path / "elsewhere", tmp_path / "backup.sqlite3"
    async with over_stdio(data_dir) as client:
        for number in range(5):
            await remember(client, f"Note {number}: Ines leads Heron.")
        before = await contents(client)

    async def command(*arguments: str, into: Path) -> str:
        done = await asyncio.to_thread(run, *arguments, data_dir=into)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    await command("doctor", into=data_dir)
    assert "5" in await command("status", into=data_dir)
    await command("backup", str(backup), into=data_dir)
    await command("restore", str(backup), into=elsewhere)
    await command("rebuild", into=data_dir)
    for directory in (data_dir, elsewhere):
        the_only_store(directory)
        async with over_stdio(directory) as client:
            assert await contents(client) == before
            assert len((await call(client, "search_nodes", names=["Ines"]))["nodes"]) == 1
