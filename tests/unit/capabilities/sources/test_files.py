"""What is read of the file system: only files under the root, whole and unchanged."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphiti_pkm.capabilities.sources.files import MOST_BYTES, read_file, read_whole
from graphiti_pkm.errors import InvalidInput, NotFound

_watched: list[list[str]] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        for opened in _watched:
            opened.append(str(arguments[0]))


sys.addaudithook(_note)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The paths that are opened meanwhile."""
    opened: list[str] = []
    _watched.append(opened)
    try:
        yield opened
    finally:
        _watched.remove(opened)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "guide.md").write_bytes(b"\xef\xbb\xbf# Guide\r\n\r\nText.\r\n")
    (tmp_path / "secret.md").write_text("A secret.")
    return root


def test_a_file_is_read_as_it_stands_without_its_byte_order_mark(root: Path) -> None:
    read = read_file(root / "sub" / "guide.md", root)
    assert (read.path, read.kind, read.text) == ("sub/guide.md", "markdown", "# Guide\r\n\r\nText.\r\n")


@pytest.mark.parametrize(("name", "kind"), [("a.MARKDOWN", "markdown"), ("a.txt", "text"), ("a.Text", "text")])
def test_the_ending_says_what_it_is(root: Path, name: str, kind: str) -> None:
    (root / name).write_text("Text.")
    assert read_file(root / name, root).kind == kind


def test_a_path_out_of_the_root_is_refused_and_not_opened(root: Path) -> None:
    (root / "link.md").symlink_to(root.parent / "secret.md")
    (root / "dir").symlink_to(root.parent)
    with opened_files() as opened:
        for path in ("../secret.md", "link.md", "dir/secret.md", "sub/../../secret.md"):
            with pytest.raises(InvalidInput, match="does not lie under"):
                read_file(root / path, root)
        with pytest.raises(InvalidInput, match="does not lie under"):
            read_file(root.parent / "secret.md", root)
    assert not any("secret" in path or "link" in path for path in opened)


def test_a_link_within_the_root_is_followed_to_its_file(root: Path) -> None:
    (root / "link.md").symlink_to("sub/guide.md")
    assert read_file(root / "link.md", root).path == "sub/guide.md"


def test_what_is_not_there_or_no_text_is_refused(root: Path) -> None:
    (root / "loop.md").symlink_to("loop.md")
    for name in ("none.md", "loop.md"):
        with pytest.raises(NotFound, match="There is no file"):
            read_file(root / name, root)
    (root / "page.odt").write_bytes(b"PK")
    with pytest.raises(InvalidInput, match="only these can be ingested"):
        read_file(root / "page.odt", root)
    (root / "latin.txt").write_bytes("Müller".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"no text in UTF-8 \(byte 1\)"):
        read_file(root / "latin.txt", root)
    (root / "nul.txt").write_bytes(b"a\0b")
    with pytest.raises(InvalidInput, match="NUL"):
        read_file(root / "nul.txt", root)
    (root / "dir.md").mkdir()
    with pytest.raises(InvalidInput):
        read_file(root / "dir.md", root)


def test_a_pipe_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with pytest.raises(InvalidInput, match="is no file"):
        read_file(root / "pipe.md", root)


def test_a_gigabyte_is_refused_unread(root: Path) -> None:
    with (root / "huge.md").open("wb") as made:
        made.truncate(1_000_000_000)
    with pytest.raises(InvalidInput, match="1,000,000,000 bytes, more than 4,000,000"):
        read_file(root / "huge.md", root)
    (root / "most.md").write_bytes(b"a" * MOST_BYTES)
    assert len(read_file(root / "most.md", root).text) == MOST_BYTES


class Growing(io.FileIO):
    """A file to which somebody else adds a line while it is read."""

    def read(self, size: int | None = -1) -> bytes:
        with Path(os.fsdecode(self.name)).open("ab") as other:
            other.write(b"More.\n")
        return super().read(-1 if size is None else size) or b""


class Rewritten(io.FileIO):
    """A file whose bytes become others while it is read, as many as before."""

    def read(self, size: int | None = -1) -> bytes:
        read = super().read(-1 if size is None else size) or b""
        path = Path(os.fsdecode(self.name))
        path.write_bytes(b"x" * len(read))
        os.utime(path, ns=(1, 1))
        return read


@pytest.mark.parametrize("kind", [Growing, Rewritten])
def test_a_file_that_changes_while_it_is_read_is_refused(root: Path, kind: type[io.FileIO]) -> None:
    path = root / "sub" / "guide.md"
    with kind(path) as opened, pytest.raises(InvalidInput, match="was changed while it was read"):
        read_whole(opened, path)  # type: ignore[arg-type] a raw file
