"""Damaged, newer, foreign and full stores under real server processes: what is said, what is kept, what helps."""

import asyncio
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from graphiti_pkm.storage.graph.embedded.redis_socket import command
from mcp.client import Client
from tests.e2e.support import call, over_http, over_stdio, run, serving
from tests.integration.embedded_support import endpoint
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
    """A data directory with the notes in it and a backup beside it, which nobody uses any more."""
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


async def test_a_corrupted_journal_is_left_alone_and_restored_from_a_backup(told: Path, template: Path) -> None:
    journal = told / "journal.sqlite3"
    damaged = b"damaged " * 64 + journal.read_bytes()[512:]
    journal.write_bytes(damaged)

    code, message = await refusal(told)
    assert code == "damaged_store"
    assert "restore" in message
    assert journal.read_bytes() == damaged
    status = run("status", data_dir=told)
    assert (status.returncode, status.stdout) == (1, "")
    assert status.stderr.startswith("graphiti-pkm: ")
    assert status.stderr.count("\n") == 1

    restored = run("restore", str(template.with_name("backup")), "--replace", data_dir=told)
    assert restored.returncode == 0, restored.stderr
    async with over_stdio(told) as client:
        assert await contents(client) == sorted(NOTES)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def scrambled(file: Path) -> None:
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 500] = random.Random(3).randbytes(500)  # noqa: S311  the same garbage each time
    file.write_bytes(content)


def with_another_word(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"Note 3: Ines", b"Note 3: Tess"))


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, scrambled, with_another_word, emptied, Path.unlink])
async def test_a_corrupted_append_only_file_costs_nothing_that_was_acknowledged(
    told: Path, damage: Callable[[Path], None]
) -> None:
    (increments,) = (told / "appendonlydir").glob("*.incr.*")
    damage(increments)
    async with over_stdio(told) as client:
        assert await contents(client) == sorted(NOTES)
        nodes = (await call(client, "search_nodes", names=["Ines", "Tom", "Heron"]))["nodes"]
        assert sorted(node["name"] for node in nodes) == ["Heron", "Ines", "Tom"]
        for node in nodes:
            assert (await call(client, "get_entity_timeline", entity_uuid=node["uuid"]))["total"] == len(NOTES)
            said = (await call(client, "get_entity_connections", entity_uuid=node["uuid"]))["facts"]
            assert sorted(fact["fact"] for fact in said) == ([] if node["name"] == "Heron" else NOTES)
        status = await call(client, "get_status")
        assert "append-only file" in " ".join(status["failures"])
        await remember(client, "After the repair.")
        assert "After the repair." in await contents(client)


async def test_a_journal_of_a_newer_version_is_refused_and_unchanged(told: Path) -> None:
    journal = told / "journal.sqlite3"
    with closing(sqlite3.connect(journal)) as newer:
        newer.execute("PRAGMA user_version = 99")
    before = journal.read_bytes()
    code, message = await refusal(told)
    assert code == "newer_schema"
    assert "99" in message
    assert "newer" in message
    assert journal.read_bytes() == before


async def test_a_graph_of_a_newer_version_is_refused_by_the_older_process(data_dir: Path) -> None:
    async with over_stdio(data_dir) as newer:
        await remember(newer, NOTES[0])
        set_meta(data_dir, "m.schema_version = 99")
        code, message = await refusal(data_dir)
        assert code == "newer_schema"
        assert "99" in message
        assert await contents(newer) == NOTES[:1]


async def test_another_embedding_dimension_stops_the_start_with_what_to_do(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, NOTES[0])
        set_meta(data_dir, "m.dimension = 768, m.model = 'another-model'")
        code, message = await refusal(data_dir)
        assert code == "embedding_mismatch"
        assert "another-model (768 dimensions)" in message
        assert "384" in message
        assert "graphiti-pkm reembed" in message


def set_meta(data_dir: Path, assignment: str) -> None:
    """As another version, or another model, would have recorded it."""
    command(endpoint(data_dir).socket, "GRAPH.QUERY", "memory", f"MATCH (m:Meta {{id: 'database'}}) SET {assignment}")


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
            may_not_grow(server.process.pid, [*files(data_dir, "journal*"), server.log])
            result = await client.call_tool("add_memory", {"episode_body": large})
            assert "Nothing was stored" in error_of(result)
            assert result.structured_content is not None
            assert result.structured_content["code"] == "not_kept"
            assert await contents(client) == NOTES[:1]
            may_grow(server.process.pid)
            await call(client, "add_memory", episode_body=large)
            page = await call(client, "get_episodes", max_content_chars=100)
            assert page["total"] == 2


async def test_a_database_that_cannot_grow_loses_nothing_that_was_acknowledged(data_dir: Path) -> None:
    with serving(data_dir) as server:
        async with over_http(server.endpoint) as client:
            await remember(client, NOTES[0])
            redis = endpoint(data_dir).redis_pid
            may_not_grow(redis, files(data_dir, "appendonlydir/*"))
            kept = [NOTES[0]]
            for note in NOTES[1:]:
                result = await client.call_tool("add_memory", {"episode_body": note})
                answer = result.structured_content or {}
                if not result.is_error or answer["code"] == "kept_but_pending":
                    kept.append(note)
            if endpoint(data_dir).redis_pid == redis:
                may_grow(redis)
            await remember(client, "There is room again.")
            assert await contents(client) == sorted([*kept, "There is room again."])


def files(data_dir: Path, pattern: str) -> list[Path]:
    return list(data_dir.glob(pattern))


def may_not_grow(pid: int, among: list[Path]) -> None:
    """From now on the process can make no file larger than the largest of these: a disk that is full for it."""
    most = max(file.stat().st_size for file in among)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def may_grow(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
