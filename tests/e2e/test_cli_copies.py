"""backup, restore and rebuild beside real servers."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
from pathlib import Path

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_stdio, run, scramble
from tests.storm.dump import differences, dump

ENTITIES = [{"name": name} for name in ("Ines", "Tom", "Heron")]


async def remember(client: Client, body: str) -> str:
    facts = [{"source": "Ines", "relation": "LEADS", "target": "Heron", "fact": body, "replaces": "current"}]
    arguments = {"episode_body": body, "entities": ENTITIES, "facts": facts}
    return str((await call(client, "add_memory", **arguments))["episode_uuid"])


async def contents(client: Client) -> list[str]:
    page = await call(client, "get_episodes", max_episodes=100)
    found = [*page["episodes"]]
    while page["truncated"]:  # as many as were written while a command ran
        page = await call(client, "get_episodes", max_episodes=100, cursor=page["next_cursor"])
        found += page["episodes"]
    return sorted(str(episode["content"]) for episode in found)


async def command(*arguments: str, data_dir: Path, code: int = 0) -> tuple[str, str]:
    """Output and errors of a command that runs while this process's clients go on."""
    done = await asyncio.to_thread(run, *arguments, data_dir=data_dir)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


async def test_a_backup_made_while_a_server_writes_is_restored_whole_elsewhere(data_dir: Path, tmp_path: Path) -> None:
    backup, elsewhere = tmp_path / "a backup", tmp_path / "elsewhere"
    acknowledged: list[str] = []
    done = asyncio.Event()

    async def write(client: Client) -> None:
        while not done.is_set():
            note = f"Note {len(acknowledged)} on Ines and Heron."
            await remember(client, note)
            acknowledged.append(note)

    async with over_stdio(data_dir) as client:
        await remember(client, "The first note.")
        writing = asyncio.create_task(write(client))
        out, err = await command("backup", str(backup), data_dir=data_dir)
        before = len(acknowledged)
        done.set()
        await writing
        everything = await contents(client)

    assert err == ""
    assert f"graphiti-pkm restore '{backup}'" in out  # as a shell takes it
    out, err = await command("restore", str(backup), data_dir=elsewhere)
    assert err == ""
    assert out.startswith("Restored ")
    async with over_stdio(elsewhere) as client:
        restored = await contents(client)
        assert "The first note." in restored
        # What was in progress may or may not be in it, and nothing else.
        assert restored == sorted(["The first note.", *acknowledged[: len(restored) - 1]])
        assert len(restored) - 1 <= before + 1
        assert set(restored) <= set(everything)


async def test_a_backup_does_not_overwrite_and_a_memory_that_is_not_there_is_not_backed_up(
    data_dir: Path, tmp_path: Path
) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, "One note.")
    file = tmp_path / "backup"
    file.write_text("mine")
    _, err = await command("backup", str(file), data_dir=data_dir, code=1)
    assert "was not overwritten" in err
    assert file.read_text() == "mine"

    _, err = await command("backup", str(tmp_path / "other"), data_dir=tmp_path / "mistyped", code=1)
    assert "--data-dir" in err
    assert not (tmp_path / "mistyped").exists()
    assert not (tmp_path / "other").exists()


async def test_restore_replaces_only_when_told_so_and_a_running_server_goes_on_with_what_was_restored(
    data_dir: Path, tmp_path: Path
) -> None:
    backup = str(tmp_path / "backup")
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines leads Heron.")
        await command("backup", backup, data_dir=data_dir)
        before = dump(data_dir)
        await remember(client, "Tom leads Heron.")
        assert len(await contents(client)) == 2

        _, err = await command("restore", backup, data_dir=data_dir, code=1)
        assert err.startswith("graphiti-pkm: There is a memory already.")
        assert "--replace" in err
        assert len(await contents(client)) == 2

        await command("restore", backup, "--replace", data_dir=data_dir)
        assert await contents(client) == ["Ines leads Heron."]
        assert differences(before, dump(data_dir)) == []
        (node,) = (await call(client, "search_nodes", names=["Heron"]))["nodes"]
        facts = await call(client, "get_entity_connections", entity_uuid=node["uuid"])
        assert [(fact["fact"], fact["status"]) for fact in facts["facts"]] == [("Ines leads Heron.", "current")]
        await remember(client, "Written after it.")
        assert len(await contents(client)) == 2

        (kept,) = data_dir.glob("journal-before-restore-*.sqlite3")
        await command("restore", str(kept), "--replace", data_dir=data_dir)
        assert await contents(client) == ["Ines leads Heron.", "Tom leads Heron."]


async def test_restore_over_a_damaged_journal_keeps_what_is_newer_than_the_backup(
    data_dir: Path, tmp_path: Path
) -> None:
    backup = str(tmp_path / "backup")
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines leads Heron.")
        await command("backup", backup, data_dir=data_dir)
        await remember(client, "Tom leads Heron.")
    memory = data_dir / "memory.sqlite3"
    scramble(memory, "writes_by_state")
    damaged = memory.read_bytes()

    _, err = await command("status", data_dir=data_dir, code=1)
    assert "restore BACKUP --replace" in err
    await command("restore", backup, "--replace", data_dir=data_dir)
    async with over_stdio(data_dir) as client:
        assert await contents(client) == ["Ines leads Heron.", "Tom leads Heron."]
    (kept,) = data_dir.glob("memory.sqlite3.damaged-*")
    assert kept.read_bytes() == damaged


@pytest.mark.parametrize("content", [b"", b"no backup at all\n" * 500])
async def test_what_is_no_backup_changes_nothing(data_dir: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "holiday.jpg"
    file.write_bytes(content)
    async with over_stdio(data_dir) as client:
        await remember(client, "One note.")
        _, err = await command("restore", str(file), "--replace", data_dir=data_dir, code=1)
        assert "holiday.jpg" in err
        assert "Nothing was changed" in err
        assert await contents(client) == ["One note."]


async def test_rebuild_beside_a_server_gives_the_same_graph_and_the_server_goes_on(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        for number, name in enumerate(("Ines", "Tom", "Ines")):
            await remember(client, f"{name} leads Heron since week {number}.")
        gone = await remember(client, "Said by mistake.")
        await call(client, "delete_episode", uuid=gone)
        before, told = dump(data_dir), await contents(client)

        out, err = await command("rebuild", data_dir=data_dir)
        assert (out[:30], err) == ("Built the graph from 5 writes ", "")
        assert differences(before, dump(data_dir)) == []
        assert await contents(client) == told
        await remember(client, "Written after it.")
        assert await contents(client) == sorted([*told, "Written after it."])
