"""One data directory with a server process on it for each module of these tests."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.support import CALL_SECONDS, Served, serving

pytest.register_assert_rewrite("tests.e2e.isolation_suite")

# A shell's background job, as CI may be one, ignores SIGINT and hands that on to the processes we mean to interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def shared_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory for a module."""
    return tmp_path_factory.mktemp("shared") / "data"


@pytest.fixture(scope="module")
def server(shared_dir: Path) -> Iterator[Served]:
    with serving(shared_dir, call_seconds=CALL_SECONDS) as served:
        yield served


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory for one test."""
    return tmp_path / "data"
