"""Files that are being made, and what a killed process leaves of them."""

import subprocess
import sys
from pathlib import Path

from graphiti_pkm.storage.journal.partial import partial, sweep

_MAKER = """
import sys
from pathlib import Path
from graphiti_pkm.storage.journal.partial import partial
with partial(Path(sys.argv[1]), "backup") as path:
    path.write_text("half")
    path.with_name(path.name + "-wal").write_text("more")
    print("ready", flush=True)
    sys.stdin.read()
"""


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_what_is_being_made_is_left_alone_and_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", _MAKER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert maker.stdout is not None
    assert maker.stdout.readline() == "ready\n"
    there = names(tmp_path)
    assert len(there) == 2
    assert sweep(tmp_path) == 0
    assert names(tmp_path) == there
    maker.kill()
    maker.communicate()
    assert sweep(tmp_path) == 1
    assert names(tmp_path) == []


def test_a_partial_file_is_private_and_gone_at_the_end_unless_it_was_renamed(tmp_path: Path) -> None:
    with partial(tmp_path, "one") as path:
        assert path.stat().st_mode & 0o777 == 0o600
    with partial(tmp_path, "two") as path:
        path.write_text("whole")
        path.rename(tmp_path / "two")
    assert names(tmp_path) == ["two"]


def test_what_is_left_beside_a_partial_file_that_is_gone_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".restore.7-aaaaaaaa.partial-journal").write_text("words")
    (tmp_path / "journal.sqlite3-wal").write_text("in use")
    sweep(tmp_path)
    assert names(tmp_path) == ["journal.sqlite3-wal"]
