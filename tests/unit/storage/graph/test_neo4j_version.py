"""Which Neo4j is new enough: what Graphiti asks for, and its vector indexes."""

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.storage.graph.neo4j.schema import check_version
from graphiti_pkm.storage.graph.queries.values import Query, Row


class Neo4jOf:
    """Answers what is asked of a server of one version."""

    def __init__(self, version: str) -> None:
        self._version = version

    async def attempt(self, *_: Query, writing: bool = False) -> list[list[Row]]:
        assert not writing
        return [[{"version": self._version}]]


@pytest.mark.parametrize("version", ["4.4.30", "5.11.0", "5.25.1", "5.9.0-drop01"])
async def test_an_older_one_is_refused_with_what_is_needed_and_what_to_do(version: str) -> None:
    with pytest.raises(ConfigurationError, match=f"version {version}; 5.26 or newer is needed. Update it, or"):
        await check_version(Neo4jOf(version))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["5.26.0", "5.26-aura", "5.26.29", "6.0.1", "2025.01.0", "2026.10.1-22109"])
async def test_a_newer_one_of_either_numbering_is_taken(version: str) -> None:
    await check_version(Neo4jOf(version))  # type: ignore[arg-type]
