"""Damaged append-only files: repaired, reported, the original kept, and the database runs."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import json
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.integration.embedded_support import count, end_database, endpoint, query, stopped

from graphiti_pkm.errors import NewerSchema
from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.embedded.redis_socket import command

NODES = 40


@pytest.fixture
async def data_dir(tmp_path: Path) -> AsyncIterator[Path]:
    """Forty nodes, each written by a command of its own, in a database that has stopped."""
    directory = tmp_path / "data"
    database = EmbeddedDatabase(directory, 0.02)
    path = await database.acquire()
    for number in range(NODES):
        await query(path, f"CREATE (:A {{text: 'PLANTED {number:04d} abcdefghijklmnopqrstuvwxyz'}})")
    database.release()
    await stopped(directory)
    yield directory
    await end_database(directory)


def part(data_dir: Path, kind: str) -> Path:
    """The base or the incremental file."""
    (found,) = (data_dir / "appendonlydir").glob(f"*.{kind}.*")
    return found


def truncated(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    path.write_bytes(path.read_bytes()[:-17])


def garbage_in_the_middle(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 300] = random.Random(1).randbytes(300)  # noqa: S311 the same garbage each time
    path.write_bytes(content)


def zeros_at_the_end(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    path.write_bytes(path.read_bytes() + bytes(4096))


def unknown_command(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    path.write_bytes(path.read_bytes() + b"*2\r\n$7\r\nPLANTED\r\n$3\r\nabc\r\n")


def unreadable_query(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    words = (b"GRAPH.QUERY", b"g", b"CREATE x:A {text: 'PLANTED'}")
    command = b"*3\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    path.write_bytes(path.read_bytes() + command)


def unreadable_effect(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    content = bytearray(path.read_bytes())
    begin = content.index(b"\r\n", content.rindex(b"GRAPH.EFFECT", 0, content.index(b"PLANTED 0007")) + 21) + 2
    content[begin] = 0xFF  # where the version of its format stands
    path.write_bytes(content)


def another_value(data_dir: Path) -> None:
    path = part(data_dir, "incr")
    path.write_bytes(path.read_bytes().replace(b"PLANTED 0007", b"PLANTED 0009"))


def garbage_in_the_base(data_dir: Path) -> None:
    path = part(data_dir, "base")
    content = path.read_bytes()
    path.write_bytes(content[:40] + bytes(20) + content[60:])


def base_gone(data_dir: Path) -> None:
    part(data_dir, "base").unlink()


def manifest_gone(data_dir: Path) -> None:
    (data_dir / "appendonlydir" / "appendonly.aof.manifest").unlink()


def manifest_damaged(data_dir: Path) -> None:
    (data_dir / "appendonlydir" / "appendonly.aof.manifest").write_bytes(b"file \xff\xfe what")


@pytest.mark.parametrize(
    ("damage", "outcome", "least", "most"),
    [
        (truncated, "cut", NODES - 1, NODES - 1),
        (garbage_in_the_middle, "cut", NODES // 4, NODES - 1),
        (zeros_at_the_end, "cut", NODES, NODES),
        (unknown_command, "started_empty", 0, 0),
        (unreadable_query, "skipped", NODES, NODES),
        (unreadable_effect, "started_empty", 0, 0),
        (another_value, "started_empty", 0, 0),
        (garbage_in_the_base, "started_empty", 0, 0),
        (base_gone, "started_empty", 0, 0),
        (manifest_gone, "started_empty", 0, 0),
        (manifest_damaged, "started_empty", 0, 0),
    ],
)
async def test_a_damaged_append_only_file_is_repaired_with_a_report(
    data_dir: Path, damage: Callable[[Path], None], outcome: str, least: int, most: int
) -> None:
    damage(data_dir)
    damaged = {path.name: path.read_bytes() for path in (data_dir / "appendonlydir").iterdir()}
    database = EmbeddedDatabase(data_dir, 0.05)
    path = await database.acquire()
    assert least <= await count(path) <= most

    (report,) = data_dir.glob("aof-repair-*.json")
    told = json.loads(report.read_text())
    assert told["outcome"] == outcome
    assert told["bytes_after"] <= told["bytes_before"]
    kept = {file.name: file.read_bytes() for file in (data_dir / told["original"]).iterdir()}
    for files in (kept, damaged):
        files.pop("appendonly.aof.manifest", None)  # Redis rewrites it while loading
    assert kept == damaged
    line = database.last_repair()
    assert line is not None
    assert told["time"] in line

    await query(path, "CREATE (:B)")
    database.release()
    await stopped(data_dir)
    assert "PLANTED" not in (data_dir / "database.log").read_text()
    assert least + 1 <= await count(await database.acquire()) <= most + 1
    assert len(list(data_dir.glob("aof-repair-*.json"))) == 1
    database.release()


async def test_only_the_newest_damaged_originals_are_kept(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.02)
    for _ in range(aof.KEPT_ORIGINALS + 1):
        truncated(data_dir)
        await database.acquire()
        database.release()
        await stopped(data_dir)
    assert len(list(data_dir.glob("appendonlydir-damaged-*"))) == aof.KEPT_ORIGINALS
    assert len(list(data_dir.glob("aof-repair-*.json"))) == aof.KEPT_ORIGINALS + 1


async def test_data_of_a_newer_version_that_cannot_be_loaded_is_not_called_damaged(data_dir: Path) -> None:
    unknown_command(data_dir)
    record = data_dir / "database.json"
    known = json.loads(record.read_text())
    record.write_text(json.dumps(known | {"data_version": "99.1"}))
    with pytest.raises(NewerSchema, match=r"99\.1"):
        await EmbeddedDatabase(data_dir, 0.05).acquire()
    assert not list(data_dir.glob("aof-repair-*"))
    assert endpoint(data_dir).data_version == "99.1"


async def test_the_database_keeps_no_text_of_queries_beside_the_data(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.05)
    path = str(await database.acquire())
    assert command(path, "DBSIZE") == "1"  # the graph, and no stream of queries
    database.release()
