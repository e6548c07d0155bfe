"""Converts database rows to records and back; Graphiti's own parsers read what Graphiti may have written.

The parsers are imported on first use: graphiti_core takes half a second, and the drivers have loaded it by then.
"""

import functools
from datetime import datetime
from types import ModuleType
from typing import Any, get_args

from graphiti_pkm.core.facts.amounts import amount_of
from graphiti_pkm.core.model.document_records import Document, Instance, Placed
from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.queries import ReadingPoint, ReadingSeries
from graphiti_pkm.core.model.records import (
    Entity,
    EntityState,
    Episode,
    Fact,
    FactChange,
    FactKind,
    FactUpdate,
    Name,
    Passage,
    Quality,
    RecordedChange,
)
from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.storage.graph.queries.parts import ENTITY_KEYS, FACT_KEYS, VALUE_KIND, VALUE_NUMBER
from graphiti_pkm.storage.graph.queries.search import indexed, searchable, searchable_fact
from graphiti_pkm.storage.graph.queries.values import Row, day_number, storable

EPOCH = "1970-01-01T00:00:00+00:00"
"""The instant used if the writer of a record left it out."""
_KINDS = frozenset(get_args(FactKind))
_TEXTS = ("measure", "value", "unit", "quote", "quote_episode_uuid")
_OFFSETS = ("quote_start", "quote_end")
_EPISODE_SOURCES = frozenset({"text", "message", "json", "fact_triple"})
SUMMARY_BY_MODEL = "summary_by_model"
"""A property of entities whose summary is not from a caller; an ordinary attribute to Graphiti, which keeps it."""
_FACT_FIELDS = ("kind", "voided", *_TEXTS, *_OFFSETS)
_STATES = ("entity_before", "entity_after")
_NO_AMOUNT: Row = {VALUE_NUMBER: None, VALUE_KIND: None}
_INSTANTS = ("created_at", "expired_at", "valid_at", "invalid_at", "reference_time")


@functools.cache
def _parsers() -> ModuleType:
    from graphiti_core.driver import record_parsers  # noqa: PLC0415 slow to import, see above

    return record_parsers


def entity(row: Row) -> Entity:
    """From the columns ``queries.ENTITY_COLUMNS``; the first label beside ``Entity`` is its type."""
    node = _parsers().entity_node_from_record({**row, "attributes": dict(row["attributes"])})
    is_by_model = node.attributes.pop(SUMMARY_BY_MODEL, None) is True
    return Entity(
        uuid=node.uuid,
        group_id=node.group_id,
        name=node.name,
        label=next((label for label in node.labels if label != "Entity"), None),
        summary=node.summary,
        summary_by_model=is_by_model,
        created_at=as_utc(node.created_at),
        attributes=node.attributes,
    )


def episode(row: Row) -> Episode:
    """From the columns ``queries.EPISODE_COLUMNS``; a source Graphiti does not know counts as text."""
    source = row["source"] if row["source"] in _EPISODE_SOURCES else "text"
    node = _parsers().episodic_node_from_record({**row, "source": source})
    return Episode(
        uuid=node.uuid,
        group_id=node.group_id,
        name=node.name,
        content=node.content,
        source=node.source.value,
        source_description=node.source_description,
        valid_at=as_utc(node.valid_at),
        created_at=as_utc(node.created_at),
        corrected=row["corrected"],
        confidential=row["confidential"],
    )


def fact(row: Row) -> Fact:
    """From the columns ``queries.FACT_COLUMNS``; what is not ours and not Graphiti's stays in ``attributes``."""
    edge = _parsers().entity_edge_from_record({**row, "attributes": dict(row["attributes"])})
    known, attributes = _own_fields(edge.attributes)
    return Fact(
        uuid=edge.uuid,
        group_id=edge.group_id,
        source_uuid=edge.source_node_uuid,
        target_uuid=edge.target_node_uuid,
        source_name=row["source_name"] or "",
        target_name=row["target_name"] or "",
        relation=edge.name,
        text=edge.fact,
        valid_at=edge.valid_at and as_utc(edge.valid_at),
        invalid_at=edge.invalid_at and as_utc(edge.invalid_at),
        reference_time=edge.reference_time and as_utc(edge.reference_time),
        created_at=as_utc(edge.created_at),
        expired_at=edge.expired_at and as_utc(edge.expired_at),
        episodes=tuple(edge.episodes),
        attributes=attributes,
        cause=row["cause"] or "",
        is_cause_confidential=bool(row["is_cause_confidential"]),
        outcome=row["outcome"],
        **known,
    )


def _own_fields(properties: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits edge attributes; one with our name but a value of another form counts as a foreign attribute."""
    own: dict[str, Any] = {}
    attributes = dict(properties)
    if properties.get("kind") in _KINDS:
        own["kind"] = attributes.pop("kind")
    if isinstance(properties.get("voided"), bool):
        own["voided"] = attributes.pop("voided")
    for name in (VALUE_NUMBER, VALUE_KIND):
        attributes.pop(name, None)
    for name in _TEXTS:
        if isinstance(properties.get(name), str):
            own[name] = attributes.pop(name)
    for name in _OFFSETS:
        if isinstance(properties.get(name), int):
            own[name] = attributes.pop(name)
    return own, attributes


def reading_series(row: Row, means: list[Row]) -> ReadingSeries:
    """From the columns of both queries of ``reading_series``."""
    key = ("source", "measure", "kind")
    return ReadingSeries(
        source_uuid=row["source"],
        source_name=row["name"] or "",
        measure=row["first"]["told"],
        kind=row["kind"],
        readings=row["readings"],
        numbers=row["numbers"],
        **{place: _point(row[place]) for place in ("first", "last", "least", "most")},
        means=tuple((one["month"], one["mean"]) for one in means if all(one[part] == row[part] for part in key)),
    )


def _point(told: "Row | None") -> ReadingPoint | None:
    if told is None:
        return None
    said = {"value": told["value"] or "", "unit": told["unit"], "confidential": bool(told["confidential"])}
    return ReadingPoint(**said, at=instant(told["at"]), words=told["words"])


def name(row: Row) -> Name:
    """From the properties of a ``Name``."""
    return Name(
        key=row["key"],
        group_id=row["group_id"],
        text=row["text"],
        spellings=tuple(sorted({*(row["spellings"] or ())} - {row["text"]})),
        entity_uuid=row["entity_uuid"],
        is_alias=bool(row["is_alias"]),
        is_linkable=bool(row["is_linkable"]),
    )


def passage(row: Row) -> Passage:
    """From the properties of a ``Passage``."""
    return Passage(**{field: row[field] for field in Passage.model_fields})


def place(row: Row) -> Place:
    """From the columns ``uuid``, ``group_id``, ``va`` and ``ca``."""
    return Place(
        uuid=row["uuid"],
        group_id=row["group_id"],
        valid_at=instant(row["va"]),
        created_at=instant(row["ca"]),
    )


def entity_properties(record: Entity) -> Row:
    """What Graphiti saves on an Entity but its embedding, which is set apart."""
    return {
        **_attributes(record.attributes, (*ENTITY_KEYS, SUMMARY_BY_MODEL)),
        "uuid": record.uuid,
        "name": record.name,
        "group_id": record.group_id,
        "summary": record.summary,
        **({SUMMARY_BY_MODEL: True} if record.summary_by_model else {}),
        "created_at": record.created_at,
    }


def episode_properties(record: Episode, fact_uuids: list[str]) -> Row:
    """What Graphiti saves on an Episodic."""
    return {
        "uuid": record.uuid,
        "name": record.name,
        "group_id": record.group_id,
        "source": record.source,
        "source_description": record.source_description,
        "content": record.content,
        "entity_edges": fact_uuids,
        "created_at": record.created_at,
        "valid_at": record.valid_at,
    }


def fact_properties(record: Fact, scope: str) -> Row:
    """What Graphiti saves on a RELATES_TO but its embedding, with our own fields flat beside it."""
    return {
        **_attributes(record.attributes, FACT_KEYS + _FACT_FIELDS),
        **(derived_from(record.value, record.unit) if record.kind == "reading" else _NO_AMOUNT),
        **{field: getattr(record, field) for field in (*_FACT_FIELDS, *_INSTANTS)},
        "uuid": record.uuid,
        "group_id": record.group_id,
        "source_node_uuid": record.source_uuid,
        "target_node_uuid": record.target_uuid,
        "name": record.relation,
        "fact": record.text,
        "episodes": record.episodes,
        "search_scope": scope,
        "search_text": indexed(searchable_fact(record.relation, record.text, record.quote)),
        "recorded_day": day_number(record.created_at),
    }


def derived_from(value: str | None, unit: str | None) -> Row:
    """What is stored beside the value of a reading: its number and kind."""
    amount = amount_of(value, unit)
    return _NO_AMOUNT if amount is None else {VALUE_NUMBER: amount.middle, VALUE_KIND: amount.kind}


def fact_update_row(record: FactUpdate) -> Row:
    """New values of a fact; ``attributes`` are the properties that change beside our own."""
    return {
        **dict(record),
        "attributes": _attributes(record.attributes, FACT_KEYS + _FACT_FIELDS),
        "quote_words": f" {indexed(searchable(record.quote))}" if record.quote else "",
    }


def states(record: FactChange) -> dict[str, str]:
    """What an update found and left, as JSON."""
    return {field: state.model_dump_json() for field in _STATES if (state := getattr(record, field))}


def change_properties(record: FactChange, group_id: str, place: int) -> Row:
    """Properties of a ``Change``; ``place`` is its order among those of its write."""
    return {
        **dict(record),
        **states(record),
        **({"source_uuid": record.fact_uuid} if record.is_of_entity else {}),
        "group_id": group_id,
        "place": place,
        "recorded_day": day_number(record.recorded_at),
    }


def change(row: Row) -> RecordedChange:
    """From the columns ``queries_changes.CHANGE_COLUMNS``, or those of an addition: what older versions left out."""
    known = {field: value for field, value in row.items() if value is not None}
    of_entity = {field: EntityState.model_validate_json(known.pop(field)) for field in _STATES if field in known}
    return RecordedChange(
        **{field: instant(value) if field.endswith("_at") else value for field, value in known.items()}, **of_entity
    )


_QUALITY_TIMES = ("flagged_at", "cleared_at", "confidence_at", "bias_at", "approved_at")
_QUALITY_LISTS = ("similar_to", "checks", "found_with")


def quality(row: Row) -> Quality:
    """From the properties of a ``QualityRecord``."""
    times = {field: instant(row[field]) if row[field] else None for field in _QUALITY_TIMES}
    lists = {field: tuple(row[field] or ()) for field in _QUALITY_LISTS}
    return Quality(**{**row, **times, **lists})


def document_properties(document: Document) -> Row:
    """With the length of the front matter in code points, which Neo4j cannot count."""
    return {**dict(document), "front_length": len(document.front)}


def document(row: Row) -> Document:
    """From the properties of a ``DocumentRecord``."""
    return Document(**{**row, "created_at": instant(row["created_at"])})


def placed(row: Row) -> Placed:
    """From the columns ``queries_documents.PLACED``."""
    given = {field: row[field] for field in ("is_present", "paragraph", "start")}
    return Placed(document=document(row["document"]), **given)


def instance(row: Row) -> Instance:
    """From the properties of an ``InstanceRecord``."""
    return Instance(**{**row, "passages": tuple(row["passages"]), "created_at": instant(row["created_at"])})


def instant(text: str) -> datetime:
    """As a query returns it; aware."""
    return as_utc(datetime.fromisoformat(text))


def _attributes(attributes: dict[str, object], reserved: tuple[str, ...]) -> Row:
    return {
        key: storable(value)
        for key, value in attributes.items()
        if key not in reserved and not key.endswith("_embedding")
    }
