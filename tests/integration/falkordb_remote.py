"""A store on a FalkorDB that somebody else runs, and what its start is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.falkor import PASSWORD, FalkorServer, RemoteFalkor

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.opening import Opening, opening
from graphiti_pkm.storage.graph.store import GraphStore

NO_FILE = ("--appendonly", "no")


@contextmanager
def running(server: FalkorServer) -> Iterator[FalkorServer]:
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def remote(directory: Path, *arguments: str) -> Iterator[RemoteFalkor]:
    server = RemoteFalkor(directory, arguments)
    with running(server):
        yield server


def opened(directory: Path, settings: dict[str, Any]) -> tuple[GraphStore, Opening]:
    found = opening(Settings(data_dir=directory / "data", **settings))
    return GraphStore(found.open_database), found


async def refusal(directory: Path, settings: dict[str, Any], error: type[Exception] = ConfigurationError) -> str:
    """What a start is told."""
    store, _ = opened(directory, settings)
    with pytest.raises(error) as caught:
        await store.records.groups()
    assert PASSWORD not in str(caught.value) + repr(caught.value)
    await store.close()
    return str(caught.value)
