"""The acceptance tests talk to real server processes, as those of ``tests/e2e`` do."""

from tests.e2e.conftest import data_dir, server, shared_dir

__all__ = ["data_dir", "server", "shared_dir"]
