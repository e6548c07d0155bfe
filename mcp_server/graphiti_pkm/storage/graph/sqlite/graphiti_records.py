"""Rows as Graphiti's nodes and edges, each kind described once. Our own fields of a fact are attributes to Graphiti."""

import json
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from graphiti_core.edges import CommunityEdge, Edge, EntityEdge, EpisodicEdge, HasEpisodeEdge, NextEpisodeEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, SagaNode

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.storage.graph.sqlite.facts import EPISODES
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.values import ENTITY_COLUMNS, EPISODE_COLUMNS, moment

T = TypeVar("T")
E = TypeVar("E", bound=Edge)

SUMMARY_BY_MODEL = "summary_by_model"
OWN_FIELDS = ("kind", "measure", "value", "unit", "quote", "quote_start", "quote_end", "quote_episode_uuid", "voided")
"""Columns of a fact that Graphiti knows as attributes."""
_UNSAID = {"kind": "state", "voided": 0}
"""The values of these columns for a fact that says nothing about them."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind of Graphiti's records: where it is in the tables, and how a row becomes a record."""

    table: str
    """The table with its alias, for FROM."""
    uuid: str
    group: str
    columns: str
    of: Callable[[Row], T]

    def select(self, *, embedded: bool = False) -> str:
        """The columns of a record; ``embedded``: with its vector."""
        vector = f", (SELECT v.data FROM vector v WHERE v.uuid = {self.uuid}) AS embedding" if embedded else ""
        return f"SELECT {self.columns}, {_EXTRA}{vector}"

    @property
    def extra(self) -> str:
        """Joins what ``select`` needs besides the table."""
        return f"LEFT JOIN graphiti_extra x ON x.uuid = {self.uuid}"


_EXTRA = (
    "x.labels AS extra_labels, x.metadata AS extra_metadata, x.facts AS extra_facts, x.own AS extra_own, "
    "x.naive AS extra_naive"
)


def floats(data: bytes | None) -> list[float] | None:
    """A stored vector as Graphiti has it."""
    if data is None:
        return None
    found = array("f")
    found.frombytes(data)
    if sys.byteorder == "big":
        found.byteswap()
    return found.tolist()


def _instants(row: Row, *names: str) -> dict[str, datetime | None]:
    """The values as instants; those that were saved without an offset come back without one."""
    naive = json.loads(row["extra_naive"]) if row["extra_naive"] else ()
    found: dict[str, datetime | None] = {}
    for name in names:
        instant = None if row[name] is None else moment(row[name])
        found[name] = instant.replace(tzinfo=None) if instant is not None and name in naive else instant
    return found


def _embedding(row: Row) -> list[float] | None:
    return floats(row["embedding"]) if "embedding" in row.keys() else None  # noqa: SIM118 a Row is no mapping


def _labels(row: Row) -> list[str]:
    return json.loads(row["extra_labels"]) if row["extra_labels"] else []


def node_of(row: Row) -> EntityNode:
    attributes: dict[str, Any] = json.loads(row["attributes"])
    if row["summary_by_model"]:
        attributes[SUMMARY_BY_MODEL] = True
    return EntityNode(
        uuid=row["uuid"],
        name=row["name"],
        name_embedding=_embedding(row),
        group_id=row["group_id"],
        labels=[BASE, *(_labels(row) or ([row["label"]] if row["label"] else ()))],
        summary=row["summary"],
        attributes=attributes,
        **_instants(row, "created_at"),
    )


def edge_of(row: Row) -> EntityEdge:
    """A fact as Graphiti's edge. Our default values are no attributes of a fact that Graphiti wrote."""
    given = json.loads(row["extra_own"]) if row["extra_own"] else OWN_FIELDS
    own = {
        field: row[field]
        for field in OWN_FIELDS
        if row[field] is not None and (field in given or row[field] != _UNSAID.get(field))
    }
    if "voided" in own:
        own["voided"] = bool(own["voided"])
    return EntityEdge(
        uuid=row["uuid"],
        source_node_uuid=row["source_uuid"],
        target_node_uuid=row["target_uuid"],
        name=row["relation"],
        fact=row["text"],
        fact_embedding=_embedding(row),
        group_id=row["group_id"],
        episodes=json.loads(row["episodes"]),
        attributes={**json.loads(row["attributes"]), **own},
        **_instants(row, "created_at", "expired_at", "valid_at", "invalid_at", "reference_time"),
    )


def episodic_of(row: Row) -> EpisodicNode:
    """An episode as Graphiti's node, with the facts that Graphiti saved with it, or else those that it supports."""
    return EpisodicNode(
        uuid=row["uuid"],
        name=row["name"],
        group_id=row["group_id"],
        labels=_labels(row),
        source=EpisodeType.from_str(row["source"]),
        source_description=row["source_description"],
        content=row["content"],
        entity_edges=json.loads(row["extra_facts"] or row["facts"]),
        episode_metadata=json.loads(row["extra_metadata"]) if row["extra_metadata"] else None,
        **_instants(row, "created_at", "valid_at"),
    )


def community_of(row: Row) -> CommunityNode:
    return CommunityNode(
        uuid=row["uuid"],
        name=row["name"],
        name_embedding=floats(row["vector"]),
        group_id=row["group_id"],
        labels=_labels(row),
        summary=row["summary"],
        **_instants(row, "created_at"),
    )


def saga_of(row: Row) -> SagaNode:
    return SagaNode(
        uuid=row["uuid"],
        name=row["name"],
        group_id=row["group_id"],
        labels=_labels(row),
        summary=row["summary"],
        first_episode_uuid=row["first_episode_uuid"],
        last_episode_uuid=row["last_episode_uuid"],
        **_instants(row, "created_at", "last_summarized_at", "last_summarized_episode_valid_at"),
    )


def _simple(edge: type[E], rows: str) -> Kind[E]:
    """An edge that has nothing but its ends."""

    def of(row: Row) -> E:
        return edge(
            uuid=row["uuid"],
            group_id=row["group_id"],
            source_node_uuid=row["source"],
            target_node_uuid=row["target"],
            **_instants(row, "created_at"),
        )

    columns = "h.uuid, h.group_id, h.source, h.target, h.created_at"
    return Kind(f"({rows}) h", "h.uuid", "h.group_id", columns, of)


MEMBER_UUID = "coalesce(m.uuid, m.community_uuid || ':' || m.entity_uuid)"
"""Members of communities of ours have no edge with a uuid of its own; both ends make one."""

ENTITIES = Kind("entity n", "n.uuid", "n.group_id", ENTITY_COLUMNS, node_of)
FACTS = Kind(
    "fact f",
    "f.uuid",
    "f.group_id",
    f"""f.uuid, f.group_id, f.source_uuid, f.target_uuid, f.relation, f.text, f.valid_at, f.invalid_at,
  f.reference_time, f.created_at, f.expired_at, f.attributes, {", ".join(f"f.{field}" for field in OWN_FIELDS)},
  {EPISODES} AS episodes""",
    edge_of,
)
EPISODIC = Kind(
    "episode e",
    "e.uuid",
    "e.group_id",
    f"""{EPISODE_COLUMNS}, (SELECT json_group_array(y.fact_uuid) FROM (SELECT s.fact_uuid FROM fact_episode s
    WHERE s.episode_uuid = e.uuid ORDER BY s.fact_uuid) y) AS facts""",
    episodic_of,
)
COMMUNITIES = Kind(
    "community c",
    "c.uuid",
    "c.group_id",
    """c.uuid, c.group_id, c.name, c.summary, c.created_at,
  (SELECT v.data FROM vector v WHERE v.uuid = c.uuid) AS vector""",
    community_of,
)
SAGAS = Kind(
    "saga g",
    "g.uuid",
    "g.group_id",
    """g.uuid, g.group_id, g.name, g.summary, g.created_at, g.first_episode_uuid, g.last_episode_uuid,
  g.last_summarized_at, g.last_summarized_episode_valid_at""",
    saga_of,
)
MENTIONS = _simple(
    EpisodicEdge, "SELECT uuid, group_id, episode_uuid AS source, entity_uuid AS target, created_at FROM mention"
)
MEMBERS = _simple(
    CommunityEdge,
    f"""SELECT {MEMBER_UUID} AS uuid, coalesce(m.group_id, c.group_id) AS group_id, m.community_uuid AS source,
    m.entity_uuid AS target, coalesce(m.created_at, c.created_at) AS created_at
  FROM community_member m JOIN community c ON c.uuid = m.community_uuid
  UNION ALL SELECT uuid, group_id, community_uuid, part_uuid, created_at FROM community_part""",
)
STEPS = _simple(
    HasEpisodeEdge, "SELECT uuid, group_id, saga_uuid AS source, episode_uuid AS target, created_at FROM saga_step"
)
LINKS = _simple(
    NextEpisodeEdge, "SELECT uuid, group_id, previous_uuid AS source, next_uuid AS target, created_at FROM episode_link"
)
