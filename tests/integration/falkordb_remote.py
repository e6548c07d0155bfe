"""A store on a FalkorDB that somebody else runs, and what its start is told."""

from pathlib import Path
from typing import Any

import pytest
from tests.falkor import PASSWORD

from graphiti_pkm.config import Settings
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.graph.opening import Opening, opening
from graphiti_pkm.graph.store import GraphStore


def opened(directory: Path, settings: dict[str, Any]) -> tuple[GraphStore, Opening]:
    found = opening(Settings(data_dir=directory / "data", **settings))
    return GraphStore(found.open_database), found


async def refusal(directory: Path, settings: dict[str, Any], error: type[Exception] = ConfigurationError) -> str:
    """What a start is told."""
    store, _ = opened(directory, settings)
    with pytest.raises(error) as caught:
        await store.groups()
    assert PASSWORD not in str(caught.value) + repr(caught.value)
    await store.close()
    return str(caught.value)
