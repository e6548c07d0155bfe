"""What differs between operating systems, as far as this one can show it."""

import ast
import os
from pathlib import Path, PureWindowsPath

import pytest

from graphiti_pkm.core.operating_system import command_line, linux_mounts, mac_mounts, network_kind, publish
from graphiti_pkm.storage import preflight
from graphiti_pkm.storage.journal.copies import read_only

PACKAGE = Path(preflight.__file__).parents[1]
MAY_ASK = frozenset({"core/operating_system.py", "core/windows.py", "server/transports/workers.py"})
"""The last one only says that it is not for Windows."""
ASKING = frozenset({"sys.platform", "os.name", "os.uname"})
OF_ONE_SYSTEM = frozenset({"fcntl", "resource", "msvcrt", "winreg", "pwd", "grp", "platform"})

LINUX = r"""overlay / overlay rw,relatime 0 0
//nas/home /home/me/My\040Files cifs rw 0 0
server:/vol /srv nfs4 rw 0 0
/dev/sdb1 /srv/local ext4 rw 0 0
me@host: /mnt/far fuse.sshfs rw 0 0
/dev/sdc1 /mnt/again ext4 rw 0 0
host:/v /mnt/again nfs rw 0 0
"""
MAC = """/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//me@nas._smb._tcp.local/home on /Volumes/on my nas (smbfs, nodev, nosuid, mounted by me)
"""


def asked(tree: ast.AST) -> set[str]:
    """What a module asks about the system it runs on."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"} & ASKING
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & OF_ONE_SYSTEM
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} & OF_ONE_SYSTEM
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & ASKING
    return found


def test_only_one_module_asks_which_system_it_runs_on() -> None:
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    asking = {name for name, path in modules.items() if asked(ast.parse(path.read_text(encoding="utf-8")))}
    assert asking == MAY_ASK
    assert asked(ast.parse("from sys import platform")) == {"sys.platform"}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/data", ""),
        ("/home/me/My Files/pkm/data", "cifs"),
        ("/srv/data", "nfs4"),
        ("/srv/local/data", ""),
        ("/srvs/data", ""),
        ("/mnt/far", "fuse.sshfs"),
        ("/mnt/again/data", "nfs"),
    ],
)
def test_a_network_file_system_of_linux_is_recognised(path: str, kind: str) -> None:
    assert network_kind(Path(path), linux_mounts(LINUX)) == kind


def test_a_network_file_system_of_macos_is_recognised() -> None:
    assert network_kind(Path("/Volumes/on my nas/data"), mac_mounts(MAC)) == "smbfs"
    assert network_kind(Path("/Users/me/Library/Application Support"), mac_mounts(MAC)) == ""


def test_nothing_is_said_about_a_system_that_does_not_list_its_mounts() -> None:
    assert network_kind(Path("/home/me"), linux_mounts("")) == ""


def test_a_data_directory_on_the_network_is_warned_of_and_does_not_stop_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert {check.name: check.ok for check in preflight.preflight(tmp_path)}["file system"]
    monkeypatch.setattr(preflight, "network_file_system", lambda _path: "nfs4")
    (found,) = [check for check in preflight.preflight(tmp_path) if check.name == "file system"]
    assert (found.ok, found.stops) == (False, False)
    assert "nfs4" in found.detail
    assert "--data-dir" in found.remedy
    preflight.require(tmp_path)
    assert found.detail in caplog.text


@pytest.mark.parametrize("has_links", [True, False])
def test_a_finished_file_never_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:

        def refuse(*_: object) -> None:
            raise PermissionError("as on exFAT")

        monkeypatch.setattr(os, "link", refuse)
    first, second, path = (tmp_path / name for name in ("first", "second", "path"))
    for file in (first, second):
        file.write_text(file.name, encoding="utf-8")
    publish(first, path)
    with pytest.raises(FileExistsError):
        publish(second, path)
    assert (path.read_text(encoding="utf-8"), second.exists()) == ("first", True)


def test_a_command_to_copy_quotes_a_path_with_a_space() -> None:
    assert command_line(["graphiti-pkm", "status", "--data-dir", "/Application Support/x"]).endswith(
        "'/Application Support/x'"
    )


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (PureWindowsPath("C:/my notes/b"), "file:///C:/my%20notes/b?mode=ro"),
        (PureWindowsPath("//nas/share/b"), "file:////nas/share/b?mode=ro"),
    ],
)
def test_sqlite_is_given_a_path_of_windows_as_it_reads_one(path: PureWindowsPath, address: str) -> None:
    assert read_only(path) == address
