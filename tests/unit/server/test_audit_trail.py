"""The table of writes and refusals: what is kept, how long, and what cannot fill it."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphiti_pkm.errors import DamagedStore, NewerSchema, NotFound
from graphiti_pkm.server.observability.audit_trail import AuditFilter, AuditLine, AuditTrail, read_audit

START = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
DAY = 86_400
WRITE = {"audit": "write", "principal": "anna", "token": "0a1b2c3d", "action": "add_memory", "outcome": "ok", "ms": 4.5}
REFUSED = {"audit": "refused", "action": "connect", "outcome": "token_missing"}


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "audit.sqlite3"


def lines(path: Path, limit: int = 100, **wanted: object) -> list[AuditLine]:
    return read_audit(path, AuditFilter.model_validate(wanted), limit)[0]


def test_a_line_comes_back_with_all_it_says_and_the_newest_first(path: Path) -> None:
    clock = Clock()
    trail = AuditTrail(path, 90, clock)
    trail.keep({**WRITE, "request": "r1", "targets": ["11111111"], "groups": ["work"]})
    clock.now += 1
    trail.keep(REFUSED)
    trail.close()
    refused, written = lines(path)
    assert written == AuditLine(
        **{name: value for name, value in WRITE.items() if name != "audit"},
        at=datetime.fromtimestamp(START, UTC),
        kind="write",
        request="r1",
        targets=("11111111",),
        groups=("work",),
    )
    assert (refused.kind, refused.principal, refused.action, refused.times) == ("refused", None, "connect", 1)
    assert path.stat().st_mode & 0o777 == 0o600


def test_filters_narrow_and_the_limit_leaves_the_total(path: Path) -> None:
    clock = Clock()
    trail = AuditTrail(path, 90, clock)
    for day, principal in enumerate(("anna", "ben", "anna")):
        clock.now = START + day * DAY
        trail.keep({**WRITE, "principal": principal, "action": f"tool_{day}"})
    trail.close()
    assert [line.action for line in lines(path, principal="anna")] == ["tool_2", "tool_0"]
    assert [line.action for line in lines(path, action="tool_1")] == ["tool_1"]
    since = datetime.fromtimestamp(START + DAY, UTC)
    assert [line.action for line in lines(path, since=since)] == ["tool_2", "tool_1"]
    newest, total = read_audit(path, AuditFilter(), 1)
    assert ([line.action for line in newest], total) == (["tool_2"], 3)


def test_older_lines_go_after_the_days_that_were_set(path: Path) -> None:
    clock = Clock()
    trail = AuditTrail(path, 2, clock)
    trail.keep({**WRITE, "action": "old"})
    trail.close()
    clock.now += 2 * DAY - 1
    trail.keep({**WRITE, "action": "recent"})
    trail.close()
    assert [line.action for line in lines(path)] == ["recent", "old"]
    clock.now += 2
    trail.keep({**WRITE, "action": "new"})
    trail.close()
    assert [line.action for line in lines(path)] == ["new", "recent"]


def test_equal_refusals_within_a_minute_are_counted_and_writes_never(path: Path) -> None:
    clock = Clock()
    trail = AuditTrail(path, 90, clock)
    for _ in range(50):
        trail.keep(REFUSED)
        trail.keep(WRITE)
    clock.now += 60
    trail.keep(REFUSED)
    trail.close()
    refused = [line for line in lines(path, 200) if line.kind == "refused"]
    assert [line.times for line in refused] == [1, 41] + [1] * 9
    assert len(lines(path, 200)) - len(refused) == 50


def test_two_processes_write_to_one_table(path: Path) -> None:
    one, other = AuditTrail(path, 90, Clock()), AuditTrail(path, 90, Clock())
    for _ in range(20):
        one.keep({**WRITE, "action": "one"})
        other.keep({**WRITE, "action": "other"})
    one.close()
    other.close()
    assert sorted(line.action for line in lines(path)) == ["one"] * 20 + ["other"] * 20


def test_a_file_that_cannot_be_written_loses_lines_and_stops_nothing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir(parents=True)
    trail = AuditTrail(path, 90, Clock())
    trail.keep(WRITE)
    trail.close()
    assert "kept in this log alone" in caplog.text
    path.rmdir()
    trail.keep({**WRITE, "action": "again"})
    trail.close()
    assert [line.action for line in lines(path)] == ["again"]


def test_what_cannot_be_read_is_left_as_it_is(path: Path) -> None:
    with pytest.raises(NotFound, match="no audit log"):
        lines(path)
    trail = AuditTrail(path, 90, Clock())
    trail.keep(WRITE)
    trail.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerSchema, match="version 99"):
        lines(path)
    trail.keep(WRITE)
    trail.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM audit").fetchone() == (1,)
    path.write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(DamagedStore, match="the memory is not concerned"):
        lines(path)
