"""Saves and deletes Graphiti's nodes and edges, with their words and vectors, inside one transaction.

A record is saved as a whole, as Graphiti does it. What is left as it was: an embedding that was not loaded, as long as
the text it was made of stays, and the summary of a saga that was saved without ever having been read.
"""

import json
import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, get_args

from graphiti_core.edges import CommunityEdge, Edge, EntityEdge, EpisodicEdge, HasEpisodeEdge, NextEpisodeEdge
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode, Node, SagaNode
from pydantic import BaseModel

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.core.model.records import FactKind
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.checks import check_stored, checked_label
from graphiti_pkm.storage.graph.sqlite import schema, values, vectors, words
from graphiti_pkm.storage.graph.sqlite.graphiti_records import MEMBER_UUID, OWN_FIELDS, SUMMARY_BY_MODEL
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, EPISODE, FACT
from graphiti_pkm.storage.graph.sqlite.tables import Tables
from graphiti_pkm.storage.graph.sqlite.values import as_list, known_micros, micros
from graphiti_pkm.storage.graph.sqlite.vector_cache import stored

_OWN_TYPES: Mapping[str, type] = {"quote_start": int, "quote_end": int, "voided": bool}
"""The types of those of our own fields that are no text."""
_IN = "IN (SELECT value FROM json_each(?))"
_NODES = (("entity", ENTITY), ("episode", EPISODE), ("community", COMMUNITY))


class Saving(Tables):
    """The records of one transaction; ``finish`` ends it."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db)
        self._holding: set[str] = set()
        self._changed: set[str] = set()

    def finish(self) -> None:
        """Do what follows for the groups."""
        for group in self._holding | self._changed:
            self.group_number(group)
            self.db.execute(
                "UPDATE groups SET holds = max(holds, ?1), recorded_at = max(coalesce(recorded_at, ?2), ?2) "
                "WHERE group_id = ?3",
                (int(group in self._holding), micros(datetime.now(UTC)), group),
            )
        self.recount(self._changed)
        self.tell_names()

    # Nodes

    def entity(self, node: EntityNode) -> None:
        labels = sorted({*node.labels} - {BASE})
        label = next(filter(_is_type, labels), None)
        attributes = dict(node.attributes)
        is_by_model = attributes.get(SUMMARY_BY_MODEL) is True
        if is_by_model:
            del attributes[SUMMARY_BY_MODEL]
        before = self._before(ENTITY, node, "name")
        self._node(
            ENTITY,
            node,
            label=label,
            summary=node.summary,
            summary_by_model=int(is_by_model),
            attributes=_as_json(attributes),
        )
        self.entity_words(node.uuid, node.group_id, node.name, node.summary, attributes)
        self._vector(ENTITY, node, node.name_embedding, is_same_text=before == node.name)
        self._extra(node, ("created_at",), labels=labels if labels != [label] else None)
        self._holding.add(node.group_id)

    def episode(self, node: EpisodicNode) -> None:
        self._before(EPISODE, node, "name")
        self._node(
            EPISODE,
            node,
            content=node.content,
            source=node.source.value,
            source_description=node.source_description,
            valid_at=micros(node.valid_at),
        )
        self.episode_words(node.uuid, node.group_id, node.name, node.content)
        self.source_words(node.uuid, node.group_id, node.source_description)
        self._extra(
            node,
            ("created_at", "valid_at"),
            labels=node.labels,
            metadata=node.episode_metadata,
            facts=node.entity_edges,
        )
        self._holding.add(node.group_id)

    def community(self, node: CommunityNode) -> None:
        before = self._before(COMMUNITY, node, "name")
        self._node(COMMUNITY, node, summary=node.summary)
        self.community_words(node.uuid, node.group_id, node.name)
        self._vector(COMMUNITY, node, node.name_embedding, is_same_text=before == node.name)
        self._extra(node, ("created_at",), labels=node.labels)
        self._changed.add(node.group_id)

    def saga(self, node: SagaNode) -> None:
        """Save a saga. Graphiti may have read it without its summary: then the stored one stays."""
        given: dict[str, object] = {
            "summary": node.summary,
            "first_episode_uuid": node.first_episode_uuid,
            "last_episode_uuid": node.last_episode_uuid,
            "last_summarized_at": known_micros(node.last_summarized_at),
            "last_summarized_episode_valid_at": known_micros(node.last_summarized_episode_valid_at),
        }
        kept = {field: f'"{field}"' for field in given if field not in node.model_fields_set}
        self._node("saga", node, kept, **given)
        times = ("created_at", "last_summarized_at", "last_summarized_episode_valid_at")
        self._extra(node, times, labels=node.labels)
        self._changed.add(node.group_id)

    # Edges

    def fact(self, edge: EntityEdge) -> None:
        self._require((ENTITY, edge.source_node_uuid), (ENTITY, edge.target_node_uuid))
        before = self._before(FACT, edge, "text")
        own = {name: edge.attributes[name] for name in OWN_FIELDS if _is_own(name, edge.attributes.get(name))}
        attributes = {name: value for name, value in edge.attributes.items() if name not in own}
        row: dict[str, object] = {
            "uuid": edge.uuid,
            "group_id": edge.group_id,
            "source_uuid": edge.source_node_uuid,
            "target_uuid": edge.target_node_uuid,
            "relation": edge.name,
            "text": edge.fact,
            **{name: own.get(name) for name in OWN_FIELDS},
            "kind": own.get("kind", "state"),
            "voided": int(own.get("voided", False)),
            "valid_at": known_micros(edge.valid_at),
            "invalid_at": known_micros(edge.invalid_at),
            "reference_time": known_micros(edge.reference_time),
            "created_at": micros(edge.created_at),
            "expired_at": known_micros(edge.expired_at),
            "attributes": _as_json(attributes),
        }
        self.upsert(FACT, row)
        self.set_fact_episodes(edge.uuid, edge.episodes)
        self.fact_words(edge.uuid, edge.group_id, edge.name, edge.fact, own.get("quote"))
        self._vector(FACT, edge, edge.fact_embedding, is_same_text=before == edge.fact)
        times = ("created_at", "expired_at", "valid_at", "invalid_at", "reference_time")
        self._extra(edge, times, own=list(own))
        self._changed.add(edge.group_id)

    def mention(self, edge: EpisodicEdge) -> None:
        self._require((EPISODE, edge.source_node_uuid), (ENTITY, edge.target_node_uuid))
        ends = (edge.source_node_uuid, edge.target_node_uuid)
        self.db.execute("DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", ends)
        self.db.execute(
            """INSERT INTO mention (entity_uuid, valid_at, recorded_at, episode_uuid, uuid, group_id, created_at)
            SELECT ?, e.valid_at, e.created_at, e.uuid, ?, ?, ? FROM episode e WHERE e.uuid = ?""",
            (edge.target_node_uuid, edge.uuid, edge.group_id, micros(edge.created_at), edge.source_node_uuid),
        )
        self._extra(edge, ("created_at",))

    def member(self, edge: CommunityEdge) -> None:
        """Save a member of a community: an entity or another community."""
        self._require((COMMUNITY, edge.source_node_uuid))
        is_part = self.db.execute("SELECT 1 FROM community WHERE uuid = ?", (edge.target_node_uuid,)).fetchone()
        if is_part:
            self._join("community_part", ("community_uuid", "part_uuid"), edge)
        else:
            self._require((ENTITY, edge.target_node_uuid))
            self._join("community_member", ("community_uuid", "entity_uuid"), edge)

    def step(self, edge: HasEpisodeEdge) -> None:
        self._require(("saga", edge.source_node_uuid), (EPISODE, edge.target_node_uuid))
        self._join("saga_step", ("saga_uuid", "episode_uuid"), edge)

    def link(self, edge: NextEpisodeEdge) -> None:
        self._require((EPISODE, edge.source_node_uuid), (EPISODE, edge.target_node_uuid))
        self._join("episode_link", ("previous_uuid", "next_uuid"), edge)

    # What goes

    def delete_nodes(self, uuids: Sequence[str]) -> None:
        """Delete entities, episodes and communities: Graphiti does not check which of them it deletes."""
        for table, _ in _NODES:
            self.delete(table, uuids)

    def delete_nodes_of(self, group_id: str) -> None:
        """Delete everything of the group but its sagas."""
        for table, _ in _NODES:
            self.delete_of(table, group_id)

    def delete_all_communities(self) -> None:
        self.delete_communities([row["uuid"] for row in self.db.execute("SELECT uuid FROM community").fetchall()])

    def delete_of(self, table: str, group_id: str) -> None:
        """Delete all nodes of a kind in the group."""
        found = self.db.execute(f"SELECT uuid FROM {table} WHERE group_id = ?", (group_id,))
        self.delete(table, [row["uuid"] for row in found.fetchall()])

    def delete(self, table: str, uuids: Sequence[str], group_id: str | None = None) -> None:
        """Delete nodes of a kind, only those of the group if one is given."""
        within = "" if group_id is None else "AND group_id = ?"
        given = (as_list(uuids), *(() if group_id is None else (group_id,)))
        found = self.db.execute(f"SELECT uuid, group_id FROM {table} WHERE uuid {_IN} {within}", given).fetchall()
        self._changed |= {row["group_id"] for row in found}
        there = [row["uuid"] for row in found]
        if table == COMMUNITY:
            self.delete_communities(there)
        elif table == "saga":
            self.db.executemany("DELETE FROM saga WHERE uuid = ?", [(uuid,) for uuid in there])
        else:
            one: Callable[[str], None] = self.delete_entity if table == ENTITY else self.delete_episode
            for uuid in there:
                one(uuid)

    def delete_edges(self, tables: Sequence[str], uuids: Sequence[str], group_id: str | None = None) -> None:
        """Delete edges of these kinds, only those of the group if one is given."""
        for table in tables:
            uuid = MEMBER_UUID if table == "community_member" else "m.uuid"
            group = "(SELECT c.group_id FROM community c WHERE c.uuid = m.community_uuid)"
            of = f"coalesce(m.group_id, {group})" if table == "community_member" else "m.group_id"
            within = "" if group_id is None else f"AND {of} = ?"
            given = (as_list(uuids), *(() if group_id is None else (group_id,)))
            if table == FACT:
                found = self.db.execute(f"SELECT m.uuid FROM fact m WHERE m.uuid {_IN} {within}", given).fetchall()
                self.delete_facts([row["uuid"] for row in found])
            else:
                self.db.execute(f"DELETE FROM {table} AS m WHERE {uuid} {_IN} {within}", given)

    def clear(self, group_ids: Sequence[str] | None) -> None:
        """Delete everything of the groups; with None everything there is."""
        if group_ids is None:
            schema.clear(self.db)
            return
        for group in dict.fromkeys(group_ids):
            self.clear_group(group)
            self._changed.add(group)

    def index_communities(self) -> None:
        """Index communities that were written by a version which did not index them."""
        found = self.db.execute(
            """SELECT c.uuid, c.group_id, c.name FROM community c
            WHERE NOT EXISTS (SELECT 1 FROM search_text t WHERE t.record_uuid = c.uuid)"""
        )
        for row in found.fetchall():
            self.community_words(row["uuid"], row["group_id"], row["name"])

    # Parts of a record

    def _node(self, table: str, node: Node, kept: Mapping[str, str] | None = None, **columns: object) -> None:
        row = {"uuid": node.uuid, "group_id": node.group_id, "name": node.name, "created_at": micros(node.created_at)}
        self.upsert(table, {**row, **columns}, **(kept or {}))

    def _join(self, table: str, ends: tuple[str, str], edge: Edge) -> None:
        """Save an edge between two records; it replaces an earlier one between them."""
        self.db.execute(
            f"""INSERT INTO {table} ({ends[0]}, {ends[1]}, uuid, group_id, created_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET uuid = excluded.uuid, group_id = excluded.group_id,
            created_at = excluded.created_at""",
            (edge.source_node_uuid, edge.target_node_uuid, edge.uuid, edge.group_id, micros(edge.created_at)),
        )
        self._extra(edge, ("created_at",))

    def _require(self, *ends: tuple[str, str]) -> None:
        """Raises NodeNotFoundError if an end is missing: such an edge would be left out silently."""
        for table, uuid in ends:
            if not self.db.execute(f"SELECT 1 FROM {table} WHERE uuid = ?", (uuid,)).fetchone():
                raise NodeNotFoundError(uuid)

    def _before(self, kind: str, record: Node | Edge, text: str) -> str | None:
        """The former text of the record. If it comes from another group, its words are removed and its vector moves."""
        found = values.one(self.db, f"SELECT group_id, {text} AS text FROM {kind} WHERE uuid = ?", (record.uuid,))
        if found is None:
            return None
        if found["group_id"] != record.group_id:
            words.remove(self.db, self.prefix(found["group_id"], kind), record.uuid)
            vector = self.db.execute("DELETE FROM vector WHERE uuid = ? RETURNING data", (record.uuid,)).fetchone()
            if vector is not None:
                self.db.execute(
                    "INSERT INTO vector (uuid, kind, group_id, owner, data) VALUES (?, ?, ?, ?, ?)",
                    (record.uuid, kind, record.group_id, record.uuid, vector["data"]),
                )
            self._changed.add(found["group_id"])
        text_before: str = found["text"]
        return text_before

    def _vector(self, kind: str, record: Node | Edge, given: Sequence[float] | None, *, is_same_text: bool) -> None:
        if given is None:
            if not is_same_text:
                self.db.execute("DELETE FROM vector WHERE uuid = ?", (record.uuid,))
            return
        vector = array("f", given)
        self._check(vector)
        before = values.one(self.db, "SELECT data FROM vector WHERE uuid = ?", (record.uuid,))
        if before is None or before["data"] != stored(vector):
            self.put_vector(kind, record.uuid, record.group_id, record.uuid, vector)

    def _check(self, vector: "array[float]") -> None:
        """Check the dimension; a file without vectors and model takes any. Raises WriteFailed."""
        known = vectors.dimension(self.db)
        if known is not None and known != len(vector):
            is_bound = self.db.execute(
                "SELECT EXISTS (SELECT 1 FROM vector) OR EXISTS (SELECT 1 FROM graph_meta WHERE key = 'model')"
            ).fetchone()[0]
            known = known if is_bound else None
        check_stored([vector], known or len(vector), "file")
        self.db.execute("INSERT OR REPLACE INTO graph_meta VALUES ('dimension', ?)", (str(len(vector)),))

    def _extra(
        self,
        record: BaseModel,
        times: Sequence[str],
        *,
        labels: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        facts: Sequence[str] | None = None,
        own: Sequence[str] | None = None,
    ) -> None:
        uuid = getattr(record, "uuid", "")
        naive = [name for name in times if _is_naive(getattr(record, name))]
        given = (
            labels and as_list(labels),
            None if metadata is None else _as_json(metadata),
            None if facts is None else as_list(facts),
            None if own is None else as_list(own),
            naive and as_list(naive),
        )
        columns = [value or None for value in given]
        if any(columns):
            self.db.execute("INSERT OR REPLACE INTO graphiti_extra VALUES (?, ?, ?, ?, ?, ?)", (uuid, *columns))
        else:
            self.db.execute("DELETE FROM graphiti_extra WHERE uuid = ?", (uuid,))


def save(db: sqlite3.Connection, *steps: Callable[[Saving], None]) -> None:
    """Take these steps, one after the other, inside a write transaction."""
    saving = Saving(db)
    for step in steps:
        step(saving)
    saving.finish()


def _is_naive(moment: datetime | None) -> bool:
    return moment is not None and moment.tzinfo is None


def _is_type(label: str) -> bool:
    """Whether the label may be the type of an entity of ours."""
    try:
        checked_label(label)
    except InvalidInput:
        return False
    return True


def _is_own(name: str, value: object) -> bool:
    """Whether an attribute is what our own column of this name holds."""
    if name == "kind":
        return value in get_args(FactKind)
    return type(value) is _OWN_TYPES.get(name, str)


def _as_json(attributes: Mapping[str, Any]) -> str:
    """The attributes as JSON, instants as ISO texts. Raises InvalidInput for what JSON cannot express."""
    try:
        text = json.dumps(attributes, ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"An attribute cannot be stored as JSON: {error}. Nothing was stored.") from None
    values.checked_row([text])
    return text


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"a value of the type {type(value).__name__}")
