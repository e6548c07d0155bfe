"""Damaged, newer, foreign and full stores under real server processes: what is said, what is kept, what helps."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import json
import os
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from mcp import MCPError
from mcp.client import Client
from tests.e2e.support import call, over_http, over_stdio, run, serving
from tests.protocol.support import DEFAULT_TOOLS, error_of

NOTES = [f"Note {number}: Ines and Tom spoke about Heron." for number in range(6)]
ENTITIES = [{"name": name} for name in ("Ines", "Tom", "Heron")]


async def remember(client: Client, body: str) -> None:
    facts = [{"source": "Ines", "relation": "SAID", "target": "Tom", "kind": "event", "fact": body}]
    assert (await call(client, "add_memory", episode_body=body, entities=ENTITIES, facts=facts))["status"] == "stored"


async def contents(client: Client) -> list[str]:
    page = await call(client, "get_episodes", max_episodes=100)
    assert page["truncated"] is False
    return sorted(episode["content"] for episode in page["episodes"])


async def refusal(data_dir: Path) -> tuple[str, str]:
    """Code and message with which a server that lists its tools refuses to work."""
    async with over_stdio(data_dir) as client:
        assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        result = await client.call_tool("add_memory", {"episode_body": "One more."})
        message = error_of(result)
        assert result.structured_content is not None
        return str(result.structured_content["code"]), message


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the notes in it and a backup beside it."""
    directory = tmp_path_factory.mktemp("template") / "data"

    async def tell() -> None:
        async with over_stdio(directory) as client:
            for note in NOTES:
                await remember(client, note)
            backed_up = await asyncio.to_thread(run, "backup", str(directory.with_name("backup")), data_dir=directory)
            assert backed_up.returncode == 0, backed_up.stderr

    asyncio.run(tell())
    return directory


@pytest.fixture
def told(template: Path, data_dir: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(template, data_dir)
    return data_dir


def beheaded(file: Path) -> None:
    file.write_bytes(b"damaged " * 64 + file.read_bytes()[512:])


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize("damage", [cut, *(pytest.param(one, marks=pytest.mark.storm) for one in (beheaded, emptied))])
async def test_a_damaged_file_is_left_alone_and_restored_from_a_backup(
    told: Path, template: Path, damage: Callable[[Path], None]
) -> None:
    memory = told / "memory.sqlite3"
    damage(memory)
    damaged = memory.read_bytes()

    code, message = await refusal(told)
    assert code == "damaged_store"
    assert "restore" in message
    assert memory.read_bytes() == damaged
    status = run("status", data_dir=told)
    assert (status.returncode, status.stdout) == (1, "")
    assert status.stderr.startswith("graphiti-pkm: ")
    assert status.stderr.count("\n") == 1

    restored = run("restore", str(template.with_name("backup")), "--replace", data_dir=told)
    assert restored.returncode == 0, restored.stderr
    async with over_stdio(told) as client:
        assert await contents(client) == sorted(NOTES)


async def answers(client: Client) -> str | list[str]:
    """What is in it, or the code of the error."""
    result = await client.call_tool("get_episodes", {"max_episodes": 100})
    return str((result.structured_content or {})["code"]) if result.is_error else await contents(client)


async def test_a_file_that_is_removed_under_a_server_becomes_no_empty_memory(told: Path, tmp_path: Path) -> None:
    """Put back, it is the memory again."""
    async with over_stdio(told) as client:
        await remember(client, "One more.")
        (told / "memory.sqlite3").rename(tmp_path / "away")
        for tool, arguments in (("get_episodes", {}), ("add_memory", {"episode_body": "In vain."})):
            message = error_of(await client.call_tool(tool, arguments))
            assert "memory.sqlite3 was removed" in message
            assert "Nothing was stored" in message
        assert (await call(client, "get_status"))["status"] == "unavailable"
        assert not (told / "memory.sqlite3").exists()
        (tmp_path / "away").rename(told / "memory.sqlite3")
        assert await contents(client) == sorted([*NOTES, "One more."])
        await remember(client, "And another.")
    async with over_stdio(told) as client:
        assert await contents(client) == sorted([*NOTES, "One more.", "And another."])


def scrambled(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:] = random.Random(3).randbytes(len(content) - 4096)  # noqa: S311  the same garbage each time
    with file.open("r+b") as there:
        there.write(content)


@pytest.mark.parametrize("damage", [scrambled, *(pytest.param(one, marks=pytest.mark.storm) for one in (emptied, cut))])
async def test_a_file_that_is_damaged_under_a_server_gives_no_wrong_answer(
    told: Path, template: Path, damage: Callable[[Path], None]
) -> None:
    async with over_stdio(told) as client:
        assert await contents(client) == sorted(NOTES)
        with closing(sqlite3.connect(told / "memory.sqlite3")) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else all of it is in the log
        damage(told / "memory.sqlite3")
        assert await answers(client) in ("damaged_store", sorted(NOTES))
        stored = not (await client.call_tool("add_memory", {"episode_body": "After."})).is_error
        assert await answers(client) in ("damaged_store", sorted([*NOTES, *["After."] * stored]))
    assert (await refusal(told))[0] == "damaged_store"
    restored = run("restore", str(template.with_name("backup")), "--replace", data_dir=told)
    assert restored.returncode == 0, restored.stderr
    async with over_stdio(told) as client:
        assert set(NOTES) <= set(await contents(client)) <= {*NOTES, "After."}


@pytest.mark.parametrize("when", ["before it starts", "while it runs"])
async def test_who_is_elsewhere_is_not_told_where_the_damaged_file_is(told: Path, when: str) -> None:
    """The log and doctor say it."""
    memory = told / "memory.sqlite3"
    token = json.loads(run("tokens", "create", "anna", "--tier", "curator", "--json", data_dir=told).stdout)["token"]
    if when == "before it starts":
        emptied(memory)
    with serving(told) as server:
        async with over_http(server.endpoint, authorization=f"Bearer {token}") as client:
            if when == "while it runs":
                await remember(client, "One more.")
                emptied(memory)
            for tool, arguments in (("get_episodes", {}), ("add_memory", {"episode_body": "In vain."})):
                result = await client.call_tool(tool, arguments)
                assert (result.structured_content or {})["code"] == "damaged_store"
                assert "The journal DATA_DIR/memory.sqlite3 is damaged." in error_of(result)
                assert str(told) not in str(result)
            assert str(told) not in str(await client.call_tool("get_status", {}))
            with pytest.raises(MCPError, match=r"DATA_DIR/memory\.sqlite3 is damaged"):
                await client.read_resource(f"pkm://entity/{uuid4()}")
    assert f"The journal {memory} is damaged." in server.log.read_text()
    assert str(memory) in run("doctor", data_dir=told).stdout


async def test_a_file_that_is_replaced_under_a_server_is_not_mixed_with_the_former(told: Path, tmp_path: Path) -> None:
    """The write-ahead log beside it is of the file that was there before."""
    memory, former, other = told / "memory.sqlite3", told / "former", tmp_path / "other"
    others = sorted(f"Other {number}." for number in range(2 * len(NOTES)))
    async with over_stdio(other) as client:
        for body in others:
            await call(client, "add_memory", episode_body=body, entities=[{"name": f"Otto {body}"}])
    async with over_stdio(told) as client:
        await remember(client, "One more.")
        memory.rename(former)
        shutil.copy(other / "memory.sqlite3", memory)
        for tool, arguments in (("get_episodes", {}), ("add_memory", {"episode_body": "In vain."})):
            assert "Another file was put in the place of memory.sqlite3" in error_of(
                await client.call_tool(tool, arguments)
            )
        former.replace(memory)
        assert await contents(client) == sorted([*NOTES, "One more."])
        shutil.copy(other / "memory.sqlite3", former)
        former.replace(memory)
    (told / "memory.sqlite3-wal").unlink()
    async with over_stdio(told) as client:
        assert await contents(client) == others


async def test_a_journal_of_a_newer_version_is_refused_and_unchanged(told: Path) -> None:
    memory = told / "memory.sqlite3"
    with closing(sqlite3.connect(memory)) as newer:
        newer.execute("PRAGMA user_version = 99")
    before = memory.read_bytes()
    code, message = await refusal(told)
    assert code == "newer_schema"
    assert "99" in message
    assert "newer" in message
    assert memory.read_bytes() == before


async def test_a_graph_of_a_newer_version_is_refused_by_the_older_process(data_dir: Path) -> None:
    async with over_stdio(data_dir) as newer:
        await remember(newer, NOTES[0])
        set_meta(data_dir, schema_version="99")
        code, message = await refusal(data_dir)
        assert code == "newer_schema"
        assert "99" in message
        assert await contents(newer) == NOTES[:1]


async def test_another_embedding_dimension_stops_the_start_with_what_to_do(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, NOTES[0])
        set_meta(data_dir, dimension="768", model="another-model")
        code, message = await refusal(data_dir)
        assert code == "embedding_mismatch"
        assert "another-model (768 dimensions)" in message
        assert "384" in message
        assert "graphiti-pkm reembed" in message


def set_meta(data_dir: Path, **values: str) -> None:
    """As another version, or another model, would have recorded it."""
    with closing(sqlite3.connect(data_dir / "memory.sqlite3")) as other, other:
        other.executemany("INSERT OR REPLACE INTO graph_meta VALUES (?, ?)", list(values.items()))


async def test_a_directory_that_cannot_be_written_is_named_with_the_setting(tmp_path: Path) -> None:
    nowhere = Path("/proc/graphiti-pkm")  # not even root may make it
    async with over_stdio(nowhere, log=tmp_path / "log") as client:
        result = await client.call_tool("get_status", {})
        assert "--data-dir" in error_of(result)
        assert result.structured_content is not None
        assert result.structured_content["code"] == "configuration"
    status = run("status", data_dir=nowhere)
    assert status.returncode == 1
    assert "--data-dir" in status.stderr


async def test_a_full_disk_refuses_what_it_cannot_keep_and_goes_on_when_there_is_room(data_dir: Path) -> None:
    large = "A page of the report. " * 20_000
    with serving(data_dir) as server:
        async with over_http(server.endpoint) as client:
            await remember(client, NOTES[0])
            may_not_grow(server.process.pid, [*data_dir.glob("memory*"), server.log])
            result = await client.call_tool("add_memory", {"episode_body": large})
            assert "Nothing was stored" in error_of(result)
            assert result.structured_content is not None
            assert result.structured_content["code"] == "not_kept"
            assert await contents(client) == NOTES[:1]
            may_grow(server.process.pid)
            await call(client, "add_memory", episode_body=large)
            page = await call(client, "get_episodes", max_content_chars=100)
            assert page["total"] == 2


def may_not_grow(pid: int, among: list[Path]) -> None:
    """From now on the process can make no file larger than the largest of these: a disk that is full for it."""
    most = max(file.stat().st_size for file in among)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def may_grow(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
