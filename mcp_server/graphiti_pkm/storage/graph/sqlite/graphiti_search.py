"""Graphiti's search interface over the tables: what ``Graphiti.search_`` finds.

Words and vectors are searched by the same code as our tools. ``min_score`` is on Graphiti's scale, (1 + cosine) / 2.
"""

import sqlite3
from array import array
from collections.abc import Sequence
from typing import Any

from graphiti_core.driver.search_interface.search_interface import SearchInterface
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, PropertyFilter, SearchFilters
from pydantic import PrivateAttr

from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.sqlite import lookups, vectors, words
from graphiti_pkm.storage.graph.sqlite.file import SqliteFile
from graphiti_pkm.storage.graph.sqlite.graphiti_reading import HAS_LABEL, attribute_path, by_uuids
from graphiti_pkm.storage.graph.sqlite.graphiti_records import ENTITIES, EPISODIC, FACTS, OWN_FIELDS
from graphiti_pkm.storage.graph.sqlite.schema import ENTITY, FACT
from graphiti_pkm.storage.graph.sqlite.values import as_list, micros
from graphiti_pkm.storage.graph.sqlite.vector_cache import VectorCache

_DATES = ("valid_at", "invalid_at", "created_at", "expired_at")
_OPERATORS = {one: one.value for one in ComparisonOperator}
SHOWN_TO_A_MODEL = "f.kind NOT IN ('plan', 'reading') AND NOT f.voided AND f.expired_at IS NULL"
"""What a new fact may repeat or contradict: readings add up, plans end nothing, the rest no longer holds."""


class SqliteSearch(SearchInterface):
    """The searches that Graphiti asks its driver for; the ``driver`` in them is not used."""

    _file: SqliteFile = PrivateAttr()
    _cache: VectorCache = PrivateAttr()
    _facts_shown: str = PrivateAttr()

    def __init__(self, file: SqliteFile, cache: VectorCache, facts_shown: str = "true") -> None:
        """``facts_shown``: a further condition on facts ``f``, e.g. ``SHOWN_TO_A_MODEL``."""
        super().__init__()
        self._file = file
        self._cache = cache
        self._facts_shown = facts_shown

    async def edge_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityEdge]:
        def ask(db: sqlite3.Connection) -> list[EntityEdge]:
            groups = groups_of(db, group_ids)
            found = self.facts_found(search_filter, groups)
            return by_uuids(db, FACTS, list(words.search(db, search_terms(query), groups, FACT, found, limit)))

        return await self._file.read(ask)

    async def node_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        def ask(db: sqlite3.Connection) -> list[EntityNode]:
            groups = groups_of(db, group_ids)
            found = entities_found(search_filter, groups)
            return by_uuids(db, ENTITIES, list(words.search(db, search_terms(query), groups, ENTITY, found, limit)))

        return await self._file.read(ask)

    async def episode_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,  # noqa: ARG002 Graphiti has it for symmetry
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EpisodicNode]:
        def ask(db: sqlite3.Connection) -> list[EpisodicNode]:
            groups = groups_of(db, group_ids)
            found = words.search_episodes(db, search_terms(query), EpisodeFilter(group_ids=tuple(groups)), limit)
            return by_uuids(db, EPISODIC, list(found))

        return await self._file.read(ask)

    async def edge_similarity_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        search_vector: list[float],
        source_node_uuid: str | None,
        target_node_uuid: str | None,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityEdge]:
        ends = {"edge_source_node_uuids": source_node_uuid, "edge_target_node_uuids": target_node_uuid}
        given = {name: [uuid] for name, uuid in ends.items() if uuid is not None}
        wanted = search_filter.model_copy(update=given)

        def ask(db: sqlite3.Connection) -> list[EntityEdge]:
            groups = groups_of(db, group_ids)
            found = self.facts_found(wanted, groups)
            text = f"SELECT f.uuid FROM json_each(:uuids) u JOIN fact f ON f.uuid = u.value WHERE {found.where}"
            near = self.near(db, FACT, search_vector, groups, text, found.parameters, limit, min_score)
            return by_uuids(db, FACTS, near)

        return await self._file.read(ask)

    async def node_similarity_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        search_vector: list[float],
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityNode]:
        def ask(db: sqlite3.Connection) -> list[EntityNode]:
            groups = groups_of(db, group_ids)
            found = entities_found(search_filter, groups)
            text = f"SELECT n.uuid FROM json_each(:uuids) u JOIN entity n ON n.uuid = u.value WHERE {found.where}"
            near = self.near(db, ENTITY, search_vector, groups, text, found.parameters, limit, min_score)
            return by_uuids(db, ENTITIES, near)

        return await self._file.read(ask)

    def facts_found(self, wanted: SearchFilters, groups: Sequence[str] | None) -> words.Found:
        """Condition on facts ``f``: Graphiti's filter and our own condition; groups None means all."""
        parts, parameters = _common(wanted, "f", groups)
        parts.append(self._facts_shown)
        for name, asked, part in (
            ("edge_types", wanted.edge_types, "f.relation IN (SELECT value FROM json_each(:edge_types))"),
            ("edge_uuids", wanted.edge_uuids, "f.uuid IN (SELECT value FROM json_each(:edge_uuids))"),
            ("sources", wanted.edge_source_node_uuids, "f.source_uuid IN (SELECT value FROM json_each(:sources))"),
            ("targets", wanted.edge_target_node_uuids, "f.target_uuid IN (SELECT value FROM json_each(:targets))"),
        ):
            if asked is not None:
                parts.append(part)
                parameters[name] = as_list(asked)
        if wanted.node_labels is not None and "Entity" not in wanted.node_labels:
            for end in ("f.source_uuid", "f.target_uuid"):
                parts.append(f"EXISTS (SELECT 1 FROM entity n WHERE n.uuid = {end} AND {HAS_LABEL.format(of='n')})")
            parameters["labels"] = as_list(wanted.node_labels)
        for name in _DATES:
            alternatives: list[list[DateFilter]] | None = getattr(wanted, name)
            if alternatives is not None:
                parts.append(_dates(name, alternatives, parameters))
        return words.Found("fact f ON f.uuid = h.uuid", " AND ".join(parts), "f.created_at", parameters)

    def near(
        self,
        db: sqlite3.Connection,
        kind: str,
        search_vector: Sequence[float],
        groups: Sequence[str],
        passing: str,
        parameters: dict[str, object],
        limit: int,
        min_score: float,
    ) -> list[str]:
        """Uuids of the nearest records; nothing is near a text that could not be embedded."""
        vector = array("f", search_vector)
        if not any(vector) or not vectors.is_comparable(db, vector):
            return []

        def fit(uuids: list[str]) -> set[str]:
            return {row[0] for row in db.execute(passing, {**parameters, "uuids": as_list(uuids)})}

        found = vectors.nearest(vectors.ranked(db, self._cache, kind, groups, vector, limit), fit, limit)
        return [uuid for uuid, cosine in found.items() if (1 + cosine) / 2 > min_score]


def groups_of(db: sqlite3.Connection, group_ids: Sequence[str] | None) -> Sequence[str]:
    return lookups.groups(db) if group_ids is None else group_ids


def entities_found(wanted: SearchFilters, groups: Sequence[str] | None) -> words.Found:
    """Condition on entities ``n``; groups None means all, and what concerns facts only is ignored."""
    parts, parameters = _common(wanted, "n", groups)
    if wanted.node_labels is not None and "Entity" not in wanted.node_labels:
        parts.append(HAS_LABEL.format(of="n"))
        parameters["labels"] = as_list(wanted.node_labels)
    return words.Found("entity n ON n.uuid = h.uuid", " AND ".join(parts), "n.created_at", parameters)


def _common(wanted: SearchFilters, one: str, groups: Sequence[str] | None) -> tuple[list[str], dict[str, object]]:
    parts = ["true"] if groups is None else [f"{one}.group_id IN (SELECT value FROM json_each(:groups))"]
    parameters: dict[str, object] = {} if groups is None else {"groups": as_list(groups)}
    for i, asked in enumerate(wanted.property_filters or ()):
        parts.append(_property(one, f"property_{i}", asked, parameters))
    return parts, parameters


def _dates(name: str, alternatives: Sequence[Sequence[DateFilter]], parameters: dict[str, object]) -> str:
    """SQL of a date filter: any of the alternatives holds, each of which needs all of its comparisons."""
    each = [
        " AND ".join(_date(name, f"{name}_{i}_{j}", asked, parameters) for j, asked in enumerate(group))
        for i, group in enumerate(alternatives)
    ]
    return f"({' OR '.join(f'({one})' for one in each if one) or 'true'})"


def _date(name: str, parameter: str, asked: DateFilter, parameters: dict[str, object]) -> str:
    """SQL of one comparison; a comparison with an unknown date is false."""
    operator = asked.comparison_operator
    if operator in {ComparisonOperator.is_null, ComparisonOperator.is_not_null}:
        return f"f.{name} {_OPERATORS[operator]}"
    if asked.date is None:
        raise InvalidInput(f"A filter by {name} needs a date to compare with.")
    parameters[parameter] = micros(asked.date)
    return f"coalesce(f.{name} {_OPERATORS[operator]} :{parameter}, false)"


def _property(one: str, parameter: str, asked: PropertyFilter, parameters: dict[str, object]) -> str:
    """SQL of a filter by an attribute, whose name is a parameter too."""
    parameters[f"{parameter}_name"] = attribute_path(asked.property_name)
    value = f"json_extract({one}.attributes, :{parameter}_name)"
    if one == "f" and asked.property_name in OWN_FIELDS:
        value = f"coalesce({value}, f.{asked.property_name})"
    if asked.comparison_operator in {ComparisonOperator.is_null, ComparisonOperator.is_not_null}:
        return f"{value} {_OPERATORS[asked.comparison_operator]}"
    parameters[parameter] = asked.property_value
    return f"coalesce({value} {_OPERATORS[asked.comparison_operator]} :{parameter}, false)"
