"""What is shown of series of readings, computed over all of them."""

import sqlite3
from functools import lru_cache
from zoneinfo import ZoneInfo

from graphiti_pkm.core.facts.amounts import Amount, amount_of
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.queries import FactFilter, ReadingPoint, ReadingSeries
from graphiti_pkm.core.model.records import CONFIDENTIAL
from graphiti_pkm.core.model.times import month_key
from graphiti_pkm.storage.graph.sqlite.facts import Condition, condition, ends_of
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.values import moment

_DISTINCT_VALUES = 4_096
_POINT = f"""SELECT measure, value, unit, coalesce(valid_at, reference_time, created_at) AS at,
  json_extract(attributes, '$.{START_WORDS}') AS words, json_extract(attributes, '$.{CONFIDENTIAL}') AS confidential
  FROM fact WHERE uuid = ?"""
_SAME = "r.source = g.source AND r.measure = g.measure AND r.kind = g.kind"
_PICKED = {"first": "r.at, r.ca, r.uuid", "last": "r.at DESC, r.ca DESC, r.uuid DESC"} | {
    "least": "r.number, r.at, r.uuid",
    "most": "r.number DESC, r.at, r.uuid",
}


def _register(connection: sqlite3.Connection) -> None:
    """Register the functions that the queries call; they read values as given, so older memories work too."""
    connection.create_function("amount_kind", 2, _kind, deterministic=True)
    connection.create_function("amount_number", 2, _number, deterministic=True)
    connection.create_function("month_of", 2, _month, deterministic=True)


def reading_series(
    db: sqlite3.Connection, entity_uuid: str | None, wanted: FactFilter, zone: str, limit: int, months: int
) -> list[ReadingSeries]:
    """Series of readings, those with most readings first."""
    _register(db)
    asked = condition(wanted)
    parameters = {**asked.values, "entity": entity_uuid, "zone": zone, "limit": limit, "months": months}
    each = " UNION ALL ".join(_readings(asked, end) for end in ends_of(entity_uuid, wanted))
    picked = ", ".join(
        f"(SELECT r.uuid FROM r WHERE {_SAME} {'AND r.number IS NOT NULL' if name in {'least', 'most'} else ''} "
        f"ORDER BY {order} LIMIT 1) AS {name}"
        for name, order in _PICKED.items()
    )
    readings = f"WITH r AS MATERIALIZED ({each})"
    groups = db.execute(
        f"""{readings} SELECT g.*, {picked}, (SELECT n.name FROM entity n WHERE n.uuid = g.source) AS name
        FROM (SELECT source, measure, kind, count(*) AS readings, count(number) AS numbers FROM r
          GROUP BY source, measure, kind ORDER BY readings DESC, source, measure, kind LIMIT :limit) g""",
        parameters,
    ).fetchall()
    means = db.execute(
        f"""{readings} SELECT source, measure, kind, month_of(at, :zone) AS month, avg(number) AS mean FROM r
        WHERE number IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY month DESC, source, measure, kind LIMIT :months""",
        parameters,
    ).fetchall()
    return [_series(db, group, [row for row in means if _key(row) == _key(group)]) for group in groups]


def _readings(asked: Condition, end: str) -> str:
    held = asked.held
    return f"""SELECT f.uuid, f.source_uuid AS source, lowered(f.measure) AS measure, f.created_at AS ca,
      coalesce({held.valid_at}, {held.reference_time}, f.created_at) AS at,
      amount_kind(f.value, f.unit) AS kind, amount_number(f.value, f.unit) AS number
      FROM fact f {asked.join} WHERE {end} AND {asked.where}
      AND f.kind = 'reading' AND f.measure IS NOT NULL AND NOT {held.voided}"""


def _series(db: sqlite3.Connection, group: Row, means: list[Row]) -> ReadingSeries:
    points: dict[str, ReadingPoint | None] = {}
    measure = ""
    for name in _PICKED:
        found = db.execute(
            _POINT,
            (group[name],),
        ).fetchone()
        points[name] = found and _point(found)
        measure = measure or (found["measure"] if found else "")
    return ReadingSeries(
        source_uuid=group["source"],
        source_name=group["name"],
        measure=measure,
        kind=group["kind"],
        readings=group["readings"],
        numbers=group["numbers"],
        means=tuple((row["month"], row["mean"]) for row in means),
        **points,
    )


def _point(row: Row) -> ReadingPoint:
    said = {"value": row["value"] or "", "unit": row["unit"], "confidential": bool(row["confidential"])}
    return ReadingPoint(**said, at=moment(row["at"]), words=row["words"])


def _key(row: Row) -> tuple[str, str, str]:
    return (row["source"], row["measure"], row["kind"])


@lru_cache(maxsize=_DISTINCT_VALUES)
def _amount(value: str | None, unit: str | None) -> Amount | None:
    return amount_of(value, unit)


def _kind(value: str | None, unit: str | None) -> str:
    amount = _amount(value, unit)
    return "" if amount is None else amount.kind


def _number(value: str | None, unit: str | None) -> float | None:
    amount = _amount(value, unit)
    return None if amount is None else amount.middle


def _month(at: int, zone: str) -> str:
    return month_key(moment(at), _zone(zone))


_zone = lru_cache(ZoneInfo)
