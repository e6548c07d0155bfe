"""Which facts a filter means, as they are or as the record said at an instant, and pages of them.

A fact as it was known at ``known_at`` has the values that stood before the first change recorded after it.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.facts.statuses import OUTCOMES, keys_of_class
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.queries import COMPARED_QUOTE, FactFilter, FactPage, KindCount, NeighbourCount, Window
from graphiti_pkm.core.model.records import BECAUSE_OF, CONFIDENTIAL, DUE, HAS_GOAL, Fact
from graphiti_pkm.storage.graph.ordering import in_order
from graphiti_pkm.storage.graph.sqlite import values
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.schema import DAWN, DUSK, HAS_CAUSE
from graphiti_pkm.storage.graph.sqlite.values import as_list, instant_key, micros

_UNLIKE_STATES = "('event', 'plan', 'reading')"
_WITHOUT_DURATION = "('event', 'reading')"
_NO_CHANGE = "('proposed', 'rejected', 'deleted')"
"""Kinds of changes that leave the values as they are."""

OBSERVED = f"f.relation = '{OBSERVATION}' AND f.source_uuid = f.target_uuid"
"""That a fact ``f`` is an observation."""

EPISODES = """(SELECT json_group_array(x.episode_uuid)
  FROM (SELECT episode_uuid FROM fact_episode WHERE fact_uuid = f.uuid ORDER BY place) x)"""
"""The episodes behind a fact ``f``, as a JSON list."""


@dataclass(frozen=True)
class _Values:
    """The columns that a change of a fact overwrites, or what they held before."""

    valid_at: str
    invalid_at: str
    expired_at: str
    voided: str
    reference_time: str
    start_words: str
    end_words: str

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The columns of a fact, without the attributes."""
        return ((name, text) for name, text in vars(self).items() if not name.endswith("_words"))

    @property
    def attributes(self) -> str:
        """Attributes with the words of that time; a blank is none, which JSON's null removes."""
        words = ((START_WORDS, self.start_words), (END_WORDS, self.end_words))
        said = ", ".join(f"'{name}', nullif({text}, '')" for name, text in words)
        return f"json_patch(f.attributes, json_object({said}))"


_WORDS = tuple(f"json_extract(f.attributes, '$.{name}')" for name in (START_WORDS, END_WORDS))
_PRESENT = _Values("f.valid_at", "f.invalid_at", "f.expired_at", "f.voided", "f.reference_time", *_WORDS)
_PAST = _Values(
    "iif(c.uuid IS NULL, f.valid_at, c.previous_valid_at)",
    "iif(c.uuid IS NULL, f.invalid_at, c.previous_invalid_at)",
    "iif(c.uuid IS NULL, f.expired_at, c.previous_expired_at)",
    "iif(c.uuid IS NULL, f.voided, c.previous_voided)",
    "iif(c.uuid IS NULL, f.reference_time, coalesce(c.previous_told_at, f.reference_time))",
    f"coalesce(c.previous_start_words, {_WORDS[0]})",
    f"coalesce(c.previous_end_words, {_WORDS[1]})",
)
_FIRST_CHANGE = f"""LEFT JOIN change c ON c.uuid = (
  SELECT x.uuid FROM change x WHERE x.fact_uuid = f.uuid AND x.recorded_at > :known_at AND x.kind NOT IN {_NO_CHANGE}
  ORDER BY x.recorded_at, x.place LIMIT 1)"""
_FIRST_CHANGE_SAID = f"""LEFT JOIN change c ON c.uuid = (
  SELECT x.uuid FROM change x LEFT JOIN episode t ON t.uuid = x.episode_uuid
  WHERE x.fact_uuid = f.uuid AND x.kind NOT IN {_NO_CHANGE} AND coalesce(t.valid_at, x.recorded_at) > :known_at
  ORDER BY coalesce(t.valid_at, x.recorded_at), x.recorded_at, x.place LIMIT 1)"""
_SAID_BY_THEN = """coalesce((SELECT min(t.valid_at) FROM fact_episode x JOIN episode t ON t.uuid = x.episode_uuid
  WHERE x.fact_uuid = f.uuid), f.reference_time, f.created_at) <= :known_at"""

IS_CURRENT = f"""CASE WHEN f.expired_at <= :recorded_until THEN 0
  WHEN f.expired_at IS NULL AND f.invalid_at <= :now THEN 0 WHEN f.valid_at > :now THEN 0
  WHEN f.kind IN {_UNLIKE_STATES} THEN 0
  WHEN f.voided THEN CASE WHEN f.expired_at > :recorded_until THEN 1 ELSE 0 END ELSE 1 END"""
"""1 or 0, in the world at ``now``. What was ended or voided after ``recorded_until`` still held then: pages of one
cursor agree, and an end recorded before the clock was set back counts."""
_WAS_CURRENT = f"""CASE WHEN {_PAST.expired_at} IS NOT NULL AND {_PAST.invalid_at} IS NULL THEN 0
  WHEN {_PAST.voided} THEN 0 WHEN {_PAST.invalid_at} <= :known_at THEN 0 WHEN {_PAST.valid_at} > :known_at THEN 0
  WHEN f.kind IN {_UNLIKE_STATES} THEN 0 ELSE 1 END"""


_BECAUSE_OF = f"json_extract(f.attributes, '$.{BECAUSE_OF}')"
_HAS_CAUSE = HAS_CAUSE.format(fact="f.")
"""The same expression as in the index."""
_CAUSE = f"""coalesce((SELECT x.name FROM entity x WHERE x.uuid = {_BECAUSE_OF} AND x.group_id = f.group_id),
    (SELECT x.text FROM fact x WHERE x.uuid = {_BECAUSE_OF} AND x.group_id = f.group_id), '') AS cause,
    (SELECT json_extract(x.attributes, '$.{CONFIDENTIAL}') FROM fact x
    WHERE x.uuid = {_BECAUSE_OF} AND x.group_id = f.group_id) AS is_cause_confidential"""


_SAID = "normalised(r.value)"
_BY_STATUS = " ".join(
    f"WHEN r.kind = 'state' AND r.relation = 'HAS_STATUS' AND r.source_uuid = f.target_uuid "
    f"AND {_SAID} IN {keys_of_class(name)} THEN '{outcome}'"
    for name, outcome in OUTCOMES.items()
)
_OUTCOME = f"""CASE WHEN f.kind = 'plan' AND f.expired_at IS NOT NULL THEN (SELECT CASE
    WHEN r.uuid IS NULL THEN NULL
    {_BY_STATUS}
    WHEN r.kind <> 'plan' AND r.source_uuid = f.source_uuid AND r.target_uuid = f.target_uuid
      AND coalesce(r.value, '') = coalesce(f.value, '') THEN 'fulfilled' ELSE 'replaced' END
    FROM change x LEFT JOIN fact r ON r.uuid = x.replaced_by WHERE x.fact_uuid = f.uuid AND x.kind = 'retired'
    ORDER BY x.recorded_at DESC, x.place DESC LIMIT 1) END AS outcome"""
"""The outcome of a plan, as ``core.facts.history.outcome_of`` defines it."""
_PLAN_ENDED = """(SELECT coalesce(t.valid_at, x.invalid_at, x.recorded_at) FROM change x
    LEFT JOIN episode t ON t.uuid = x.episode_uuid WHERE x.fact_uuid = f.uuid AND x.kind = 'retired'
    ORDER BY x.recorded_at DESC, x.place DESC LIMIT 1)"""
"""When a plan was over: at the time of the note that said so, else on the given day."""


def columns(held: _Values = _PRESENT) -> str:
    """A whole fact ``f`` with the names of its ends; expects ``ENDS``."""
    own = ", ".join(f"{text} AS {column}" for column, text in held)
    attributes = "f.attributes" if held == _PRESENT else f"{held.attributes} AS attributes"
    return f"""f.uuid, f.group_id, f.source_uuid, f.target_uuid, s.name AS source_name, o.name AS target_name,
  f.relation, f.text, f.kind, f.measure, f.value, f.unit, f.quote, f.quote_start, f.quote_end, f.quote_episode_uuid,
  f.created_at, {attributes}, {_CAUSE}, {_OUTCOME}, {own}, {EPISODES} AS episodes"""


COLUMNS = columns()
ENDS = "JOIN entity s ON s.uuid = f.source_uuid JOIN entity o ON o.uuid = f.target_uuid"


@dataclass
class Condition:
    """A filter over ``f`` as SQL: what has to be joined, what has to be true, and the values of its parameters."""

    join: str
    where: str
    held: _Values
    is_current: str
    """SQL that is 1 if the fact is current at ``as_of``, else ``known_at``, else ``now``; 0 if not."""
    values: dict[str, object] = field(default_factory=dict)

    @property
    def columns(self) -> str:
        """A whole fact with the values it had."""
        return COLUMNS if self.held == _PRESENT else columns(self.held)

    @property
    def starts(self) -> str:
        """SQL of the start for sorting: an unknown start comes before every other."""
        return "f.starts" if self.held == _PRESENT else f"coalesce({self.held.valid_at}, {DAWN})"


def condition(wanted: FactFilter) -> Condition:
    """The whole filter as SQL."""
    held = _PRESENT if wanted.known_at is None else _PAST
    join = ""
    if wanted.known_at is not None:
        join = _FIRST_CHANGE_SAID if wanted.by_reference_time else _FIRST_CHANGE
    parts, parameters = _recorded(wanted)
    more, others = _values_of(wanted, held)
    current = IS_CURRENT if held == _PRESENT else _WAS_CURRENT
    if wanted.as_of is not None:
        current = f"({_status(wanted, held)} = 'current')"
    return Condition(join, " AND ".join([*parts, *more]), held, current, {**parameters, **others})


def _recorded(wanted: FactFilter) -> tuple[list[str], dict[str, object]]:
    """Conditions on columns that no change overwrites."""
    parts = ["f.group_id IN (SELECT value FROM json_each(:groups))"]
    parameters: dict[str, object] = {
        "groups": as_list(wanted.group_ids),
        "now": micros(wanted.now),
        "recorded_until": DUSK if wanted.recorded_until is None else micros(wanted.recorded_until),
    }
    if wanted.recorded_until is not None:
        parts.append("f.created_at <= :recorded_until")
    if wanted.known_at is not None:
        parameters["known_at"] = micros(wanted.known_at)
        parts.append(_SAID_BY_THEN if wanted.by_reference_time else "f.created_at <= :known_at")
    if wanted.asks_open:
        parameters["open_words"] = as_list(wanted.open_words)
    elif wanted.as_of is not None:
        apart = _WITHOUT_DURATION if wanted.asks_due_plans else _UNLIKE_STATES
        parts.append(_TOLD_PLAN if wanted.asks_open_plans else f"f.kind NOT IN {apart}")
    for name, asked, part in (
        ("relations", wanted.relations, "f.relation IN (SELECT value FROM json_each(:relations))"),
        ("kinds", wanted.kinds, "f.kind IN (SELECT value FROM json_each(:kinds))"),
        (
            "because_of",
            wanted.because_of,
            f"{_HAS_CAUSE} AND {_BECAUSE_OF} IN (SELECT value FROM json_each(:because_of))",
        ),
        (
            "confidential",
            (CONFIDENTIAL,) if wanted.confidential else (),
            "json_extract(f.attributes, '$.' || json_extract(:confidential, '$[0]'))",
        ),
        (
            "labels",
            () if "Entity" in wanted.labels else wanted.labels,  # which all of them are
            """EXISTS (SELECT 1 FROM entity y WHERE y.uuid IN (f.source_uuid, f.target_uuid)
              AND y.label IN (SELECT value FROM json_each(:labels)))""",
        ),
    ):
        if asked:
            parts.append(part)
            parameters[name] = as_list(asked)
    if wanted.neighbour_uuid:
        own = f" OR {_OF_OWN_MEASURES}" if wanted.own_measures else ""
        parts.append(f"(:neighbour IN (f.source_uuid, f.target_uuid){own})")
        parameters["neighbour"] = wanted.neighbour_uuid
    if wanted.measures:
        parts.append("f.kind = 'reading' AND f.measure IN (SELECT value FROM json_each(:measures))")
        parameters["measures"] = as_list(wanted.measures)
    if wanted.own_measures:
        parameters["own_measures"] = as_list(wanted.own_measures)
    return parts, parameters


_TOLD_PLAN = "f.kind = 'plan' AND coalesce(f.reference_time, f.created_at) <= :as_of"
_OF_OWN_MEASURES = "f.kind = 'reading' AND f.measure IN (SELECT value FROM json_each(:own_measures))"


def _values_of(wanted: FactFilter, held: _Values) -> tuple[list[str], dict[str, object]]:
    """Conditions on columns that a change overwrites."""
    parts: list[str] = []
    parameters: dict[str, object] = {}
    known_from = f"coalesce({held.valid_at}, {held.reference_time})"
    if wanted.asks_open:
        parts.append(_open(wanted, held))
        if wanted.as_of is not None:
            parameters["as_of"] = micros(wanted.as_of)
    elif wanted.as_of is not None:
        parameters["as_of"] = micros(wanted.as_of)
        parts += _held_then(wanted, held)
    for name, instant, part, words, told in (
        ("valid_after", wanted.valid_after, f"{known_from} >=", held.start_words, wanted.valid_after_told),
        ("valid_before", wanted.valid_before, f"{known_from} <", None, None),
        ("invalid_after", wanted.invalid_after, f"{held.invalid_at} >=", held.end_words, wanted.invalid_after_told),
        ("invalid_before", wanted.invalid_before, f"{held.invalid_at} <", held.end_words, wanted.invalid_before_told),
    ):
        if instant is None:
            continue
        parameters[name] = micros(instant)
        if told:
            bound = f"coalesce((SELECT value FROM json_each(:{name}_told) WHERE key = {words}), :{name})"
            parts.append(f"{part} CASE WHEN {words} IS NULL THEN :{name} ELSE {bound} END")
            parameters[f"{name}_told"] = json.dumps({one: micros(at) for one, at in told.items()})
        else:
            parts.append(f"{part} :{name}")
    if wanted.only_current:
        parts.append(f"{IS_CURRENT if held == _PRESENT else _WAS_CURRENT} = 1")
    if wanted.status is not None and not wanted.asks_open_plans and not wanted.asks_open:
        parts.append(f"{_status(wanted, held)} = :status")
        parameters["status"] = wanted.status
    return parts, parameters


def _held_then(wanted: FactFilter, held: _Values) -> list[str]:
    """Conditions on what held at ``as_of``, and on plans for then."""
    over = f":as_of < {_PLAN_ENDED}" if wanted.asks_open_plans else f"{held.invalid_at} IS NOT NULL"
    parts = [f"NOT {held.voided}", f"({held.expired_at} IS NULL OR {over})"]
    if wanted.status is None:
        parts.append(f"({held.valid_at} IS NULL OR {held.valid_at} <= :as_of)")
        parts.append(f"({held.invalid_at} IS NULL OR {held.invalid_at} > :as_of)")
    if wanted.asks_due_plans:
        parts.append(f"(f.kind <> 'plan' OR ({held.expired_at} IS NULL AND {held.valid_at} IS NOT NULL))")
    return parts


def _open(wanted: FactFilter, held: _Values) -> str:
    """Open plans, goals, statuses with an open word, and proposed ends."""
    status = _status(wanted, held)
    plan = "f.kind = 'plan' AND " + (
        f"{status} = 'planned'"
        if wanted.as_of is None
        else f"{_TOLD_PLAN} AND NOT {held.voided} AND ({held.expired_at} IS NULL OR :as_of < {_PLAN_ENDED})"
    )
    proposed = _HAS_PROPOSED_END if wanted.as_of is None and wanted.known_at is None else "0"
    return f"""(({plan}) OR (f.kind = 'state' AND (f.relation = '{HAS_GOAL}' OR (f.relation = 'HAS_STATUS'
      AND (SELECT {STATUS_WORD} FROM entity w WHERE w.uuid = f.target_uuid)
      IN (SELECT value FROM json_each(:open_words))) OR {proposed}) AND {status} = 'current'))"""


_HAS_PROPOSED_END = """f.uuid IN (SELECT x.fact_uuid FROM change x WHERE x.kind = 'proposed'
  AND x.group_id IN (SELECT value FROM json_each(:groups)) AND NOT EXISTS (SELECT 1 FROM change y
  WHERE y.fact_uuid = x.fact_uuid AND y.kind NOT IN ('proposed', 'dated')
  AND (y.recorded_at, y.place) > (x.recorded_at, x.place)))"""
"""As ``core.facts.history.open_proposals`` says it."""
_DUE = f"""coalesce(json_extract(f.attributes, '$.{DUE}') * 1000000,
  CASE WHEN f.kind = 'plan' THEN f.valid_at END, {DUSK})"""
"""When a plan or a goal is due; what has no date comes last."""
STATUS_WORD = "normalised(coalesce(json_extract(f.attributes, '$.word'), f.value, w.name))"
"""The word of a status, normalised; in older memories it is an attribute, or the name of the target."""


def _status(wanted: FactFilter, held: _Values) -> str:
    """The condition of a status, as ``core.reading.views.status_of`` defines it."""
    at = ":as_of" if wanted.as_of else ":known_at" if wanted.known_at else ":now"
    is_of_now = wanted.as_of is None and wanted.known_at is None
    recorded = ":recorded_until" if is_of_now else at
    is_retired = f"{held.expired_at} <= {recorded}" if wanted.known_at is None else f"{held.expired_at} IS NOT NULL"
    ends_now = is_retired if is_of_now else f"{is_retired} AND {held.invalid_at} IS NULL"
    unsure = f"WHEN coalesce({held.reference_time}, f.created_at) > {at} THEN 'possible'" if wanted.as_of else ""
    return f"""CASE WHEN {held.voided} THEN 'voided'
      WHEN f.kind IN {_UNLIKE_STATES} THEN CASE WHEN {is_retired} THEN 'ended'
        WHEN f.kind = 'plan' THEN 'planned' ELSE f.kind END
      WHEN {held.invalid_at} <= {at} THEN 'ended' WHEN {ends_now} THEN 'ended'
      WHEN {held.valid_at} > {at} THEN 'future' WHEN {held.valid_at} IS NOT NULL THEN 'current' {unsure}
      ELSE 'current' END"""


_ENTITY_ENDS = {
    "out": ("f.source_uuid = :entity",),
    "in": ("f.target_uuid = :entity",),
    "both": ("f.source_uuid = :entity", "f.target_uuid = :entity AND f.source_uuid <> :entity"),
}


def connections(db: sqlite3.Connection, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
    """A page of one entity's facts with its sort keys, and the total."""
    return _page(db, ends_of(entity_uuid, wanted), {"entity": entity_uuid}, wanted, window)


def ends_of(entity_uuid: str | None, wanted: FactFilter) -> tuple[str, ...]:
    """Conditions whose facts together are those of an entity, or of the groups; each is walked by its index."""
    if entity_uuid is None:
        return _GROUP
    ends: tuple[str, ...] = _ENTITY_ENDS[wanted.direction]
    if wanted.own_measures and wanted.direction != "out":
        ends = (*ends, f"{_OF_OWN_MEASURES} AND :entity NOT IN (f.source_uuid, f.target_uuid)")
    return ends


def group_facts(db: sqlite3.Connection, wanted: FactFilter, window: Window) -> FactPage:
    """A page of all facts with its sort keys, and the total."""
    return _page(db, _GROUP, {}, wanted, window)


_GROUP = ("true",)


def _page(
    db: sqlite3.Connection, ends: Sequence[str], given: dict[str, object], wanted: FactFilter, window: Window
) -> FactPage:
    """A page of facts: current ones first, then newest; or oldest first. Walks indexes in order and ends early."""
    asked = condition(wanted)
    parameters = {**asked.values, **given}
    total = sum(
        db.execute(f"SELECT count(*) FROM fact f {asked.join} WHERE {end} AND {asked.where}", parameters).fetchone()[0]
        for end in ends
    )
    found: list[Row] = []
    if window.newest:
        first = 1 if window.after is None else int(window.after[0])
        after = window.after[1:] if window.after else None
        all_first = wanted.only_current and wanted.as_of is None
        for current in (1, 0)[1 - first :]:
            if len(found) < window.limit and not (current == 0 and all_first):
                only = asked.where if all_first else f"{asked.where} AND {asked.is_current} = {current}"
                keys = (asked.starts, "DESC")
                at = after if current == first else None
                found += _walk(
                    db, asked, ends, only, current, keys, at, {**parameters, "limit": window.limit - len(found)}
                )
    else:
        since = _DUE if wanted.asks_open else f"coalesce({asked.held.valid_at}, {asked.held.reference_time}, {DAWN})"
        found = _walk(
            db, asked, ends, asked.where, None, (since, ""), window.after, {**parameters, "limit": window.limit}
        )
    names = ("cur", "va", "ca", "uuid") if window.newest else ("va", "ca", "uuid")
    return FactPage(
        facts=tuple(map(values.fact, found)),
        keys=tuple(tuple(row[key] for key in names) for row in found),
        total=total,
    )


def _walk(
    db: sqlite3.Connection,
    asked: Condition,
    ends: Sequence[str],
    where: str,
    current: int | None,
    order: tuple[str, str],
    after: Sequence[object] | None,
    parameters: dict[str, object],
) -> list[Row]:
    """The next facts in one order: the keys of each end by its index, merged, and only then the whole rows."""
    since, direction = order
    further = ""
    if after is not None:
        sign = "<" if direction else ">"
        parameters = {**parameters, "c0": instant_key(after[0]), "c1": instant_key(after[1]), "c2": after[2]}
        further = f"""AND {since} {sign}= :c0
          AND ({since} <> :c0 OR f.created_at {sign} :c1 OR (f.created_at = :c1 AND f.uuid > :c2))"""
    each = " UNION ALL ".join(
        f"""SELECT * FROM (SELECT f.rowid AS id, {since} AS va, f.created_at AS ca, f.uuid AS uuid
        FROM fact f {asked.join} WHERE {end} AND {where} {further}
        ORDER BY {since} {direction}, f.created_at {direction}, f.uuid LIMIT :limit)"""
        for end in ends
    )
    text = f"""SELECT {"NULL" if current is None else current} AS cur, k.va, k.ca, {asked.columns}
    FROM ({each} ORDER BY va {direction}, ca {direction}, uuid LIMIT :limit) k
    CROSS JOIN fact f ON f.rowid = k.id {ENDS} {asked.join}
    ORDER BY k.va {direction}, k.ca {direction}, k.uuid"""
    return db.execute(text, parameters).fetchall()


def under(db: sqlite3.Connection, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
    """The given facts that pass the filter, in the order asked, with the values they had."""
    asked = condition(wanted)
    found = db.execute(
        f"""SELECT {asked.columns} FROM json_each(:uuids) u JOIN fact f ON f.uuid = u.value {ENDS} {asked.join}
        WHERE {asked.where}""",
        {**asked.values, "uuids": as_list(dict.fromkeys(uuids))},
    )
    return in_order(uuids, map(values.fact, found))


def neighbour_counts(db: sqlite3.Connection, entity_uuid: str, wanted: FactFilter, limit: int) -> list[NeighbourCount]:
    """Neighbours with their numbers of facts, most facts first, then by name."""
    asked = condition(wanted)
    ends = {"out": ("target",), "in": ("source",), "both": ("target", "source")}[wanted.direction]
    each = " UNION ALL ".join(
        f"""SELECT f.{other}_uuid AS uuid FROM fact f {asked.join}
        WHERE {end} AND {asked.where} AND NOT ({OBSERVED})"""
        for other, end in zip(ends, _ENTITY_ENDS[wanted.direction], strict=True)
    )
    found = db.execute(
        f"""SELECT n.uuid, n.name, x.facts FROM (SELECT uuid, count(*) AS facts FROM ({each}) GROUP BY uuid) x
        JOIN entity n ON n.uuid = x.uuid ORDER BY x.facts DESC, n.name, n.uuid LIMIT :limit""",
        {**asked.values, "entity": entity_uuid, "limit": limit},
    )
    return [NeighbourCount(entity_uuid=row["uuid"], name=row["name"], facts=row["facts"]) for row in found]


def kind_counts(db: sqlite3.Connection, entity_uuid: str, wanted: FactFilter, limit: int) -> list[KindCount]:
    """Kinds and relations with their numbers of facts, most facts first, then by kind and name."""
    asked = condition(wanted)
    each = " UNION ALL ".join(
        f"""SELECT f.kind AS kind, CASE f.kind WHEN 'reading' THEN coalesce(f.measure, f.relation) ELSE f.relation END
        AS name FROM fact f {asked.join} WHERE {end} AND {asked.where}"""
        for end in _ENTITY_ENDS[wanted.direction]
    )
    found = db.execute(
        f"""SELECT kind, name, count(*) AS facts FROM ({each}) GROUP BY kind, name
        ORDER BY facts DESC, kind, name LIMIT :limit""",
        {**asked.values, "entity": entity_uuid, "limit": limit},
    )
    return [KindCount(kind=row["kind"], name=row["name"], facts=row["facts"]) for row in found]


def by_uuids(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
    """These facts in the order asked."""
    found = db.execute(
        f"""SELECT {COLUMNS} FROM json_each(?) u JOIN fact f ON f.uuid = u.value {ENDS}
        WHERE f.group_id IN (SELECT value FROM json_each(?))""",
        (as_list(dict.fromkeys(uuids)), as_list(group_ids)),
    )
    return in_order(uuids, map(values.fact, found))


def texts(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
    """Sentence, relation, both names and quote of each of these."""
    found = db.execute(
        f"""SELECT f.uuid, f.text || ' ' || replace(f.relation, '_', ' ') || ' ' || s.name || ' ' || o.name
          || CASE WHEN f.quote <> f.text THEN ' ' || substr(f.quote, 1, {COMPARED_QUOTE}) ELSE '' END
        FROM json_each(?) u JOIN fact f ON f.uuid = u.value {ENDS}
        WHERE f.group_id IN (SELECT value FROM json_each(?))""",
        (as_list(uuids), as_list(group_ids)),
    )
    return dict(found.fetchall())


def voided(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
    """Which of these were voided."""
    found = db.execute(
        """SELECT f.uuid FROM json_each(?) u JOIN fact f ON f.uuid = u.value
        WHERE f.voided AND f.group_id IN (SELECT value FROM json_each(?))""",
        (as_list(uuids), as_list(group_ids)),
    )
    return {uuid for (uuid,) in found}


def newest_created(db: sqlite3.Connection, found: str, parameters: dict[str, object], limit: int) -> list[Fact]:
    """Facts newest created first; ``found`` is what follows ``FROM`` and gives ``f``, up to the end of WHERE."""
    text = f"""SELECT {COLUMNS} FROM (SELECT DISTINCT f.uuid AS uuid, f.created_at AS ca FROM {found}
      ORDER BY ca DESC, uuid LIMIT :limit) k CROSS JOIN fact f ON f.uuid = k.uuid {ENDS} ORDER BY k.ca DESC, k.uuid"""
    return list(map(values.fact, db.execute(text, {**parameters, "limit": limit})))


def first_fact(
    db: sqlite3.Connection, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
) -> datetime | None:
    """The date of the earliest fact that never turned out wrong; facts of which only the end is known do not count."""
    named = "AND f.relation IN (SELECT value FROM json_each(:relations))" if relations else ""
    of = "" if entity_uuid is None else "AND :entity IN (f.source_uuid, f.target_uuid)"
    (first,) = db.execute(
        f"""SELECT min(coalesce(f.valid_at, f.reference_time, f.created_at)) FROM fact f
        WHERE f.group_id IN (SELECT value FROM json_each(:groups)) {of} AND NOT f.voided {named}
        AND (f.valid_at IS NOT NULL OR coalesce(f.invalid_at, {DUSK}) > coalesce(f.reference_time, {DAWN}))""",
        {"entity": entity_uuid, "groups": as_list(group_ids), "relations": as_list(relations)},
    ).fetchone()
    return values.known_moment(first)
