"""What is said about a machine and its data directory before anything is opened."""

from pathlib import Path

import pytest

from graphiti_pkm.storage.preflight import (
    MIN_FREE_BYTES,
    access_check,
    preflight,
    require,
    space_check,
    sqlite_check,
)


@pytest.mark.parametrize(
    ("version", "is_enough"), [("3.36.0", False), ("3.37.0", True), ("3.40.1", True), ("4.0", True)]
)
def test_an_sqlite_without_strict_tables_is_refused_with_what_to_do(version: str, *, is_enough: bool) -> None:
    check = sqlite_check(version)
    assert check.ok is is_enough
    assert version in check.detail
    assert ("newer SQLite" in check.remedy) is not is_enough
    assert check.stops


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
    require(directory)
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
    require(directory)
    assert caplog.text == ""


def test_little_space_is_told_and_does_not_stop_the_reading() -> None:
    assert space_check(MIN_FREE_BYTES).ok
    short = space_check(MIN_FREE_BYTES - 1)
    assert not short.ok
    assert not short.stops
