"""Rows as Graphiti's nodes and edges. Our own fields of a fact are attributes to Graphiti, which keeps them."""

import json
import sqlite3
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.storage.graph.sqlite.facts import EPISODES
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.values import known_moment, moment

SUMMARY_BY_MODEL = "summary_by_model"
OWN_FIELDS = ("kind", "measure", "value", "unit", "quote", "quote_start", "quote_end", "quote_episode_uuid", "voided")
"""Columns of a fact that Graphiti knows as attributes."""
EDGE_COLUMNS = f"""f.uuid, f.group_id, f.source_uuid, f.target_uuid, f.relation, f.text, f.valid_at, f.invalid_at,
  f.reference_time, f.created_at, f.expired_at, f.attributes, {", ".join(f"f.{field}" for field in OWN_FIELDS)},
  {EPISODES} AS episodes"""


def node_of(row: Row) -> EntityNode:
    """From ``ENTITY_COLUMNS``."""
    attributes: dict[str, Any] = json.loads(row["attributes"])
    if row["summary_by_model"]:
        attributes[SUMMARY_BY_MODEL] = True
    return EntityNode(
        uuid=row["uuid"],
        name=row["name"],
        group_id=row["group_id"],
        labels=["Entity", *([row["label"]] if row["label"] else ())],
        created_at=moment(row["created_at"]),
        summary=row["summary"],
        attributes=attributes,
    )


def edge_of(row: Row) -> EntityEdge:
    """From ``EDGE_COLUMNS``."""
    own = {field: row[field] for field in OWN_FIELDS if row[field] is not None}
    own["voided"] = bool(row["voided"])
    return EntityEdge(
        uuid=row["uuid"],
        source_node_uuid=row["source_uuid"],
        target_node_uuid=row["target_uuid"],
        name=row["relation"],
        fact=row["text"],
        group_id=row["group_id"],
        episodes=json.loads(row["episodes"]),
        created_at=moment(row["created_at"]),
        expired_at=known_moment(row["expired_at"]),
        valid_at=known_moment(row["valid_at"]),
        invalid_at=known_moment(row["invalid_at"]),
        reference_time=known_moment(row["reference_time"]),
        attributes={**json.loads(row["attributes"]), **own},
    )


def episodic_of(db: sqlite3.Connection, episode: Episode) -> EpisodicNode:
    """With the facts that it supports."""
    facts = db.execute("SELECT fact_uuid FROM fact_episode WHERE episode_uuid = ? ORDER BY fact_uuid", (episode.uuid,))
    return EpisodicNode(
        uuid=episode.uuid,
        name=episode.name,
        group_id=episode.group_id,
        source=EpisodeType.from_str(episode.source),
        source_description=episode.source_description,
        content=episode.content,
        created_at=episode.created_at,
        valid_at=episode.valid_at,
        entity_edges=[row[0] for row in facts],
    )
