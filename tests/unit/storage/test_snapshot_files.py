"""Files of snapshots: whole or refused, whatever was done to them."""

import sqlite3
from array import array
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import GROUP, RECORDED, a_write, an_entity, at

from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.snapshots import SnapshotHeader
from graphiti_pkm.errors import DamagedStore, InvalidInput, NewerSchema, Unavailable
from graphiti_pkm.storage.snapshots import files

HEADER = SnapshotHeader(
    tag="one",
    group="work",
    group_id=GROUP,
    taken_at=RECORDED,
    made_by="1",
    model="some",
    dimension=2,
    writes=0,
    size=GroupSize(episodes=0, entities=2, facts=0),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A snapshot of two writes."""
    path = files.snapshot_path(tmp_path, GROUP, "one")
    with files.writing(path) as writer:
        for name in ("Anna", "Tom"):
            entity = an_entity(name)
            writer.add(a_write(entity), {entity.uuid: array("f", [0.6, 0.8])})
        writer.finish(HEADER, RECORDED)
    return path


def test_a_snapshot_gives_back_what_was_written_in_pages(path: Path) -> None:
    header = files.verified(path)
    assert header == files.header_of(path)
    assert (header.writes, len(header.checksum), files.redacted_until(path)) == (2, 64, RECORDED)
    first = files.rows_after(path, 0, 1)
    second = files.rows_after(path, first[-1].seq, 5)
    assert [row.intent.entities[0].name for row in (*first, *second)] == ["Anna", "Tom"]
    assert [next(iter(row.vectors.values())).tolist() for row in second] == [array("f", [0.6, 0.8]).tolist()]
    assert files.rows_after(path, second[-1].seq, 5) == []


def test_what_is_noted_of_forgetting_changes_no_checksum(path: Path) -> None:
    before = files.verified(path)
    files.mark_redacted(path, at(2027))
    assert (files.verified(path), files.redacted_until(path)) == (before, at(2027))
    assert list(path.parent.iterdir()) == [path]


def test_a_snapshot_cut_at_any_place_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in (200, 4_096, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedStore, match="damaged, or was cut or changed"):
            files.verified(path)
    for length in (0, 1, 50):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInput, match="is no snapshot"):
            files.verified(path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE writes SET intent = replace(intent, 'Anna', 'Anne')",
        "UPDATE writes SET vectors = zeroblob(8) WHERE place = 1",
        "DELETE FROM writes WHERE place = 2",
        "UPDATE writes SET place = place + 5",
        "UPDATE header SET content = replace(content, 'work', 'home')",
        "DELETE FROM header",
        "DROP TABLE writes",
    ],
)
def test_what_was_changed_is_refused(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(DamagedStore):
        files.verified(path)


def test_one_of_a_newer_version_is_refused_with_its_number(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {files.FORMAT + 1}")
    with pytest.raises(NewerSchema, match=f"has format {files.FORMAT + 1}, .* knows {files.FORMAT}"):
        files.verified(path)


def test_another_database_is_no_snapshot(tmp_path: Path) -> None:
    other = tmp_path / "other.snapshot"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE writes (place)")
    with pytest.raises(InvalidInput, match="is no snapshot of a group"):
        files.verified(other)


def test_what_fails_while_it_is_written_leaves_nothing_behind(tmp_path: Path) -> None:
    path = files.snapshot_path(tmp_path, GROUP, "one")

    def write() -> None:
        with files.writing(path) as writer:
            writer.add(a_write(an_entity("Anna")), {})
            raise OSError

    with pytest.raises(Unavailable, match="Nothing was left behind"):
        write()
    assert list(path.parent.iterdir()) == []


def test_a_directory_that_cannot_be_made_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_text("a file")
    with (
        pytest.raises(Unavailable, match="could not be written"),
        files.writing(files.snapshot_path(tmp_path, GROUP, "one")),
    ):
        pass


def test_a_second_of_the_same_name_is_refused_even_if_it_came_meanwhile(path: Path) -> None:
    before = path.read_bytes()
    path.unlink()

    def write() -> None:
        with files.writing(path) as writer:
            writer.finish(HEADER, RECORDED)
            path.write_bytes(before)

    with pytest.raises(InvalidInput, match="There is a snapshot one already"):
        write()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
