"""Values of records as the tables hold them, and back."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from graphiti_pkm.core.model.document_records import Instance
from graphiti_pkm.core.model.records import (
    Entity,
    EntityState,
    Episode,
    Fact,
    Name,
    Passage,
    Quality,
    RecordedChange,
)
from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.queries.values import checked_integer, checked_number, checked_text, storable
from graphiti_pkm.storage.graph.sqlite.file import Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Microseconds since 1970; exact for every datetime. A naive one is taken as UTC."""
    return (as_utc(moment) - _EPOCH) // _MICROSECOND


def known_micros(moment: datetime | None) -> int | None:
    """The same as ``micros``, and None for None."""
    return None if moment is None else micros(moment)


def moment(value: int) -> datetime:
    """The instant, in UTC."""
    return _EPOCH + value * _MICROSECOND


def known_moment(value: int | None) -> datetime | None:
    """The same as ``moment``, and None for None."""
    return None if value is None else moment(value)


def instant_key(key: object) -> object:
    """A sort key of a cursor: a number, or an ISO date from a cursor of a database that sorts by those."""
    return micros(datetime.fromisoformat(key)) if isinstance(key, str) else key


def as_list(values: Iterable[object]) -> str:
    """The JSON text that ``json_each`` takes: one parameter, however many values."""
    return json.dumps(list(values))


def stored_attributes(attributes: dict[str, object]) -> str:
    """The attributes as JSON. Raises InvalidInput for what no store can hold."""
    return json.dumps({_key(key): _checked(storable(value)) for key, value in attributes.items()}, ensure_ascii=False)


def _key(name: str) -> str:
    if not name:
        raise InvalidInput("An attribute needs a name.")
    return checked_text(name)


def _checked(value: object) -> object:
    match value:
        case bool() | None:
            return value
        case str():
            return checked_text(value)
        case int():
            return checked_integer(value)
        case float():
            return checked_number(value)
        case list():
            return [_checked(one) for one in value]
        case _:
            raise InvalidInput("An attribute of an unknown type cannot be stored.")


def checked_row(values: Sequence[object]) -> Sequence[object]:
    """The values of a row, whose texts any store can hold. Raises InvalidInput."""
    for value in values:
        if isinstance(value, str):
            checked_text(value)
    return values


ENTITY_COLUMNS = "n.uuid, n.group_id, n.name, n.label, n.summary, n.summary_by_model, n.created_at, n.attributes"
EPISODE_COLUMNS = (
    "e.uuid, e.group_id, e.name, e.content, e.source, e.source_description, e.valid_at, e.created_at, e.corrected, "
    "e.confidential"
)
IN_GROUPS = "IN (SELECT value FROM json_each(:groups))"
NAME_COLUMNS = "k.key, k.group_id, k.text, k.spellings, k.entity_uuid, k.is_alias, k.is_linkable"
_STATES = ("entity_before", "entity_after")
CHANGE_FIELDS = tuple(RecordedChange.model_fields)
CHANGE_COLUMNS = ", ".join(f"c.{field}" for field in CHANGE_FIELDS)


def entity(row: Row) -> Entity:
    """The entity in a row of ``ENTITY_COLUMNS``."""
    return Entity(
        uuid=row["uuid"],
        group_id=row["group_id"],
        name=row["name"],
        label=row["label"],
        summary=row["summary"],
        summary_by_model=bool(row["summary_by_model"]),
        created_at=moment(row["created_at"]),
        attributes=json.loads(row["attributes"]),
    )


def episode(row: Row) -> Episode:
    """The episode in a row of ``EPISODE_COLUMNS``."""
    return Episode(
        uuid=row["uuid"],
        group_id=row["group_id"],
        name=row["name"],
        content=row["content"],
        source=row["source"],
        source_description=row["source_description"],
        valid_at=moment(row["valid_at"]),
        created_at=moment(row["created_at"]),
        corrected=bool(row["corrected"]),
        confidential=bool(row["confidential"]),
    )


QUALITY_COLUMNS = ", ".join(f"q.{field}" for field in Quality.model_fields)
_QUALITY_TIMES = ("flagged_at", "cleared_at", "confidence_at", "bias_at", "approved_at")
_QUALITY_LISTS = ("similar_to", "checks", "found_with")


def quality_row(quality: Quality) -> dict[str, object]:
    """The columns of a quality."""
    return {
        **dict(quality),
        **{field: known_micros(getattr(quality, field)) for field in _QUALITY_TIMES},
        **{field: as_list(getattr(quality, field)) for field in _QUALITY_LISTS},
    }


def quality(row: Row) -> Quality:
    """The quality in a row of ``QUALITY_COLUMNS``."""
    given = {field: row[field] for field in Quality.model_fields}
    times = {field: known_moment(row[field]) for field in _QUALITY_TIMES}
    lists = {field: tuple(json.loads(row[field])) for field in _QUALITY_LISTS}
    return Quality(**{**given, **times, **lists})


_PLAIN = ("measure", "value", "unit", "quote", "quote_start", "quote_end", "quote_episode_uuid")


def fact(row: Row) -> Fact:
    """The fact in a row of ``facts.COLUMNS``."""
    return Fact(
        uuid=row["uuid"],
        group_id=row["group_id"],
        source_uuid=row["source_uuid"],
        target_uuid=row["target_uuid"],
        source_name=row["source_name"],
        target_name=row["target_name"],
        relation=row["relation"],
        text=row["text"],
        kind=row["kind"],
        **{field: row[field] for field in _PLAIN},
        valid_at=known_moment(row["valid_at"]),
        invalid_at=known_moment(row["invalid_at"]),
        reference_time=known_moment(row["reference_time"]),
        created_at=moment(row["created_at"]),
        expired_at=known_moment(row["expired_at"]),
        voided=bool(row["voided"]),
        episodes=tuple(json.loads(row["episodes"])),
        attributes=json.loads(row["attributes"]),
        cause=row["cause"],
        is_cause_confidential=bool(row["is_cause_confidential"]),
        outcome=row["outcome"],
    )


def name(row: Row) -> Name:
    """The name in a row of ``NAME_COLUMNS``."""
    return Name(
        key=row["key"],
        group_id=row["group_id"],
        text=row["text"],
        spellings=tuple(sorted({*json.loads(row["spellings"])} - {row["text"]})),
        entity_uuid=row["entity_uuid"],
        is_alias=bool(row["is_alias"]),
        is_linkable=bool(row["is_linkable"]),
    )


def passage(row: Row) -> Passage:
    """The passage in a row of ``passage``."""
    return Passage(**{field: row[field] for field in Passage.model_fields})


def change(row: Row) -> RecordedChange:
    """The change in a row of ``CHANGE_COLUMNS``, or of as many of them as an addition has."""
    given = {field: row[field] for field in CHANGE_FIELDS if field in row.keys()}  # noqa: SIM118 a Row is no mapping
    return RecordedChange(
        **{
            field: moment(value) if field.endswith("_at") else value
            for field, value in given.items()
            if value is not None and field not in _STATES
        },
        **{field: EntityState.model_validate_json(given[field]) for field in _STATES if given.get(field)},
    )


def state(given: EntityState | None) -> str | None:
    """The state of an entity as JSON; None for None."""
    return None if given is None else given.model_dump_json()


def one(connection: sqlite3.Connection, text: str, values: Sequence[object] = ()) -> Row | None:
    """The first row, if there is any."""
    found: Row | None = connection.execute(text, values).fetchone()
    return found


def instance(row: sqlite3.Row | Mapping[str, Any]) -> Instance:
    given = {field: row[field] for field in Instance.model_fields}
    return Instance(
        **{**given, "passages": tuple(json.loads(given["passages"])), "created_at": moment(given["created_at"])}
    )
