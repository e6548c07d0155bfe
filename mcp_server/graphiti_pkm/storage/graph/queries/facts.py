"""Queries for the facts that pass a filter, as they are or as the record was at an instant.

A fact as known at ``$known_at`` has its values before the first change recorded after it. If few facts changed since,
their first changes are found beforehand and passed to the query; else each fact's is looked up by index, so that the
time does not grow with the changes of a group.
"""

from collections.abc import Sequence
from typing import NamedTuple

from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import BECAUSE_OF, CONFIDENTIAL, DUE, HAS_GOAL
from graphiti_pkm.storage.graph.queries.parts import (
    BELIEVED,
    IS_CURRENT,
    LATEST,
    PRESENT,
    RECORDED,
    Conditions,
    FactColumns,
    all_of,
    normalised,
)
from graphiti_pkm.storage.graph.queries.values import Query, Row

_UNLIKE_STATES = "['event', 'plan', 'reading']"
_WITHOUT_DURATION = "['event', 'reading']"
_NO_CHANGE = "['proposed', 'rejected', 'deleted']"
"""Kinds of changes that do not change values."""

FEW_CHANGES = 20
"""Up to this number, changes are compared with every fact: quicker than looking up those of each."""
_PREVIOUS = (
    *("previous_valid_at", "previous_invalid_at", "previous_expired_at", "previous_voided", "previous_told_at"),
    *("previous_start_words", "previous_end_words"),
)
_FIRST_CHANGE = f"""CALL (e) {{ OPTIONAL MATCH (c:Change {{fact_uuid: e.uuid}})
  WHERE c.recorded_at > $known_at AND NOT c.kind IN {_NO_CHANGE}
  RETURN c ORDER BY c.recorded_at, coalesce(c.place, 0) LIMIT 1 }}"""

_SAID_BY_THEN = """CALL (e) {{ UNWIND e.episodes AS teller
    MATCH (t:Episodic {{uuid: teller}}) RETURN min(t.valid_at) AS first }}
  WITH {kept}, coalesce(first, e.reference_time, e.created_at, $dusk) AS told WHERE told <= $known_at"""
_FIRST_CHANGE_SAID = f"""CALL (e) {{
  MATCH (x:Change {{fact_uuid: e.uuid}}) WHERE NOT x.kind IN {_NO_CHANGE}
  OPTIONAL MATCH (t:Episodic {{uuid: x.episode_uuid}})
  WITH x, coalesce(t.valid_at, x.recorded_at) AS said WHERE said > $known_at
  WITH x ORDER BY said, x.recorded_at, coalesce(x.place, 0) LIMIT 1
  RETURN head(collect(x)) AS c }}"""


class Matched(NamedTuple):
    """Facts ``e`` under a filter: the text so far, its parameters, and variables that the next WITH must carry."""

    text: str
    values: dict[str, object]
    columns: FactColumns
    carried: str
    is_current: str
    """As the function of this name."""


def facts_matched(
    found: str, wanted: FactFilter, kept: Sequence[str] = (), changed: Sequence[Row] | None = None
) -> Matched:
    """``found`` matches ``e`` and everything ``kept``, and ends in WHERE or AND.

    ``changed``: the first change after ``known_at`` of each changed fact, as ``first_changes`` finds them; None: there
    may be more, and each fact's is looked up.
    """
    recorded, values = _recorded_conditions(wanted)
    if wanted.known_at is None:
        conditions, more = _state_conditions(wanted, PRESENT)
        return Matched(
            f"{found} {all_of([*recorded, *conditions])}", {**values, **more}, PRESENT, "e", is_current(wanted)
        )
    names = ", ".join(("e", *kept))
    known = _SAID_BY_THEN.format(kept=names) if wanted.by_reference_time else ""
    change = _FIRST_CHANGE_SAID if wanted.by_reference_time else _FIRST_CHANGE
    conditions, more = _state_conditions(wanted, BELIEVED)
    if changed is not None:
        change = f"WITH {names}, head([r IN $changed WHERE r.fact_uuid = e.uuid]) AS c"
        more["changed"] = changed
    narrowed = f"WITH {names}, {', '.join(BELIEVED)} WHERE {all_of(conditions)}" if conditions else ""
    text = f"""{found} {all_of(recorded)} {known} {change}
    WITH {names}, {_BELIEVED_VALUES} {narrowed}"""
    return Matched(text, {**values, **more}, BELIEVED, ", ".join(("e", *BELIEVED)), is_current(wanted, BELIEVED))


def is_current(wanted: FactFilter, columns: FactColumns = PRESENT) -> str:
    """1 or 0, at ``$as_of``, else ``$known_at``, else ``$now``."""
    if wanted.as_of is not None:
        return f"CASE {_status(wanted, columns)} WHEN 'current' THEN 1 ELSE 0 END"
    return IS_CURRENT if columns == PRESENT else _WAS_CURRENT


def first_changes(entity_uuid: str | None, wanted: FactFilter) -> Query:
    """The changes after ``known_at`` of an entity's facts, or of all, in order; at most one more than are few."""
    of = "c.group_id IN $groups" if entity_uuid is None else "(c.source_uuid = $entity OR c.target_uuid = $entity)"
    columns = ", ".join(f"c.{field} AS {field}" for field in ("fact_uuid", *_PREVIOUS))
    return Query(
        "first changes",
        f"""MATCH (c:Change) WHERE {of} AND c.recorded_at > $known_at AND NOT c.kind IN {_NO_CHANGE}
        WITH c ORDER BY c.recorded_at, coalesce(c.place, 0) LIMIT $limit RETURN {columns}""",
        {
            "entity": entity_uuid,
            "groups": wanted.group_ids,
            "known_at": wanted.known_at,
            "limit": FEW_CHANGES + 1,
        },
    )


def starts(columns: FactColumns) -> str:
    """For sorting: an unknown start before every other."""
    return f"coalesce({columns.valid_at}, $dawn)"


def known_from(columns: FactColumns) -> str:
    """The start; if unknown, the time of the episode that told it."""
    return f"coalesce({columns.valid_at}, {columns.reference_time})"


_BEFORE_EXPIRY = "e.kind IS NULL AND e.expired_at > $known_at"
"""Graphiti's own retirements have no change; ours write a kind."""
_BELIEVED_VALUES = f"""
  CASE WHEN c IS NULL THEN e.valid_at ELSE c.previous_valid_at END AS {BELIEVED.valid_at},
  CASE WHEN c IS NOT NULL THEN c.previous_invalid_at WHEN {_BEFORE_EXPIRY} THEN null
    ELSE e.invalid_at END AS {BELIEVED.invalid_at},
  CASE WHEN c IS NOT NULL THEN c.previous_expired_at WHEN {_BEFORE_EXPIRY} THEN null
    ELSE e.expired_at END AS {BELIEVED.expired_at},
  CASE WHEN c IS NULL THEN coalesce(e.voided, false) ELSE coalesce(c.previous_voided, false) END AS {BELIEVED.voided},
  CASE WHEN c IS NULL THEN e.reference_time ELSE coalesce(c.previous_told_at, e.reference_time) END
    AS {BELIEVED.reference_time},
  coalesce(c.previous_start_words, e.{START_WORDS}) AS {BELIEVED.start_words},
  coalesce(c.previous_end_words, e.{END_WORDS}) AS {BELIEVED.end_words}"""
_WAS_CURRENT = f"""CASE WHEN {BELIEVED.expired_at} IS NOT NULL AND {BELIEVED.invalid_at} IS NULL THEN 0
  WHEN {BELIEVED.voided} THEN 0
  WHEN {BELIEVED.invalid_at} <= $known_at THEN 0 WHEN {BELIEVED.valid_at} > $known_at THEN 0
  WHEN e.kind IN {_UNLIKE_STATES} THEN 0 ELSE 1 END"""


_PLAN_ENDED = """head(COLLECT { MATCH (x:Change {fact_uuid: e.uuid}) WHERE x.kind = 'retired'
    OPTIONAL MATCH (t:Episodic {uuid: x.episode_uuid})
    WITH x, t ORDER BY x.recorded_at DESC, coalesce(x.place, 0) DESC LIMIT 1
    RETURN coalesce(t.valid_at, x.invalid_at, x.recorded_at) })"""
"""When a plan was over: at the time of the note that said so, else on the given day."""


def _recorded_conditions(wanted: FactFilter) -> tuple[list[str], dict[str, object]]:
    """Conditions that changes of a fact do not affect, over an edge ``e``."""
    parts = ["coalesce(e.group_id, '') IN $groups"]
    if wanted.recorded_until is not None:
        parts.append(f"{RECORDED} <= $recorded_until")
    values: dict[str, object] = {
        "groups": wanted.group_ids,
        "now": wanted.now,
        "recorded_until": wanted.recorded_until or LATEST,
    }
    if wanted.known_at is not None:
        values["known_at"] = wanted.known_at
        if not wanted.by_reference_time:
            parts.append(f"{RECORDED} <= $known_at")
    if wanted.asks_open:
        values["open_words"] = wanted.open_words
    elif wanted.as_of is not None:
        apart = _WITHOUT_DURATION if wanted.asks_due_plans else _UNLIKE_STATES
        parts.append(_TOLD_PLAN if wanted.asks_open_plans else f"NOT coalesce(e.kind, 'state') IN {apart}")
    for name, asked, part in (
        ("relations", wanted.relations, "coalesce(e.name, '') IN $relations"),
        ("kinds", wanted.kinds, "coalesce(e.kind, 'state') IN $kinds"),
        ("because_of", wanted.because_of, f"e.{BECAUSE_OF} IN $because_of"),
        (
            "neighbour",
            wanted.neighbour_uuid,
            _own("startNode(e).uuid = $neighbour OR endNode(e).uuid = $neighbour", wanted),
        ),
        ("measures", wanted.measures, "e.kind = 'reading' AND e.measure IN $measures"),
        ("labels", wanted.labels, "any(l IN labels(startNode(e)) + labels(endNode(e)) WHERE l IN $labels)"),
    ):
        if asked:
            parts.append(part)
            values[name] = asked
    if wanted.confidential:
        parts.append(f"coalesce(e.{CONFIDENTIAL}, false)")
    if wanted.own_measures:
        values["own_measures"] = wanted.own_measures
    return parts, values


OF_OWN_MEASURES = "e.kind = 'reading' AND e.measure IN $own_measures"


def _own(ends: str, wanted: FactFilter) -> str:
    return f"({ends} OR {OF_OWN_MEASURES})" if wanted.own_measures else f"({ends})"


def _state_conditions(wanted: FactFilter, columns: FactColumns) -> tuple[list[str], dict[str, object]]:
    """Conditions on values that changes may affect."""
    parts: list[str] = []
    values: dict[str, object] = {}
    if wanted.asks_open:
        parts.append(_open(wanted, columns))
        if wanted.as_of is not None:
            values["as_of"] = wanted.as_of
    elif wanted.as_of is not None:
        parts += _held_then(wanted, columns)
        values["as_of"] = wanted.as_of
    start, end = known_from(columns), columns.invalid_at
    for name, instant, part, words, told in (
        ("valid_after", wanted.valid_after, f"{start} >=", columns.start_words, wanted.valid_after_told),
        ("valid_before", wanted.valid_before, f"{start} <", None, None),
        (
            "invalid_after",
            wanted.invalid_after,
            f"coalesce({end}, $dawn) >=",
            columns.end_words,
            wanted.invalid_after_told,
        ),
        (
            "invalid_before",
            wanted.invalid_before,
            f"coalesce({end}, $dusk) <",
            columns.end_words,
            wanted.invalid_before_told,
        ),
    ):
        if instant is None:
            continue
        values[name] = instant
        if told:
            parts.append(f"{part} coalesce(${name}_told[{words}], ${name})")
            values[f"{name}_told"] = dict(told)
        else:
            parts.append(f"{part} ${name}")
    if wanted.only_current:
        parts.append(f"{IS_CURRENT if columns == PRESENT else _WAS_CURRENT} = 1")
    if wanted.status is not None and not wanted.asks_open_plans and not wanted.asks_open:
        parts.append(f"{_status(wanted, columns)} = $status")
        values["status"] = wanted.status
    return parts, values


_TOLD_PLAN = "e.kind = 'plan' AND coalesce(e.reference_time, e.created_at) <= $as_of"
_HAS_PROPOSED_END = """head(COLLECT { MATCH (x:Change {fact_uuid: e.uuid}) WHERE x.kind <> 'dated'
    RETURN x.kind ORDER BY x.recorded_at DESC, coalesce(x.place, 0) DESC LIMIT 1 }) = 'proposed'"""
"""The rule of ``core.facts.history.open_proposals``."""
DUE_AT = f"""CASE WHEN e.name = '{HAS_GOAL}' AND toIntegerOrNull(e.{DUE}) IS NOT NULL
    THEN datetime({{epochSeconds: toIntegerOrNull(e.{DUE})}})
  WHEN e.kind = 'plan' AND e.valid_at IS NOT NULL THEN e.valid_at ELSE datetime('9999-12-31T00:00:00Z') END"""
"""When a plan or a goal is due; what has no date comes last. ``$dusk`` has nanoseconds, which no cursor keeps."""


def _held_then(wanted: FactFilter, columns: FactColumns) -> list[str]:
    """Conditions on what held at ``$as_of``, and on plans for then."""
    over = f"$as_of < {_PLAN_ENDED}" if wanted.asks_open_plans else f"{columns.invalid_at} IS NOT NULL"
    parts = [f"NOT coalesce({columns.voided}, false)", f"({columns.expired_at} IS NULL OR {over})"]
    if wanted.status is None:
        parts += [f"{starts(columns)} <= $as_of", f"coalesce({columns.invalid_at}, $dusk) > $as_of"]
    if wanted.asks_due_plans:
        is_due = f"{columns.expired_at} IS NULL AND {columns.valid_at} IS NOT NULL"
        parts.append(f"CASE WHEN e.kind = 'plan' THEN {is_due} ELSE true END")
    return parts


def _open(wanted: FactFilter, columns: FactColumns) -> str:
    """Open plans, goals, statuses with an open word, and proposed ends.

    One CASE instead of AND and OR: the planner takes half a minute to bring those with subqueries into its normal form.
    """
    status = _status(wanted, columns)
    plan = f"{status} = 'planned'"
    if wanted.as_of is not None:
        plan = f"""CASE WHEN coalesce({columns.voided}, false) OR coalesce(e.reference_time, e.created_at) > $as_of
          THEN false WHEN {columns.expired_at} IS NULL THEN true ELSE $as_of < {_PLAN_ENDED} END"""
    proposed = _HAS_PROPOSED_END if wanted.as_of is None and wanted.known_at is None else "false"
    word = normalised("coalesce(toStringOrNull(e.word), e.value, endNode(e).name, '')")
    return f"""CASE WHEN e.kind = 'plan' THEN {plan} WHEN coalesce(e.kind, 'state') <> 'state' THEN false
      WHEN {status} <> 'current' THEN false WHEN e.name = '{HAS_GOAL}' THEN true
      WHEN e.name = 'HAS_STATUS' AND {word} IN $open_words THEN true ELSE {proposed} END"""


def _status(wanted: FactFilter, columns: FactColumns) -> str:
    """The rules of ``core.reading.views.status_of``."""
    at = "$as_of" if wanted.as_of else "$known_at" if wanted.known_at else "$now"
    is_asked_of_now = wanted.as_of is None and wanted.known_at is None
    recorded = "$recorded_until" if is_asked_of_now else at
    is_retired = (
        f"{columns.expired_at} <= {recorded}" if wanted.known_at is None else f"{columns.expired_at} IS NOT NULL"
    )
    ends_now = is_retired if is_asked_of_now else f"{is_retired} AND {columns.invalid_at} IS NULL"
    unsure = f"WHEN coalesce({columns.reference_time}, e.created_at) > {at} THEN 'possible'" if wanted.as_of else ""
    return f"""CASE WHEN {columns.voided} THEN 'voided'
      WHEN e.kind IN {_UNLIKE_STATES} THEN CASE WHEN {is_retired} THEN 'ended'
        WHEN e.kind = 'plan' THEN 'planned' ELSE e.kind END
      WHEN {columns.invalid_at} <= {at} THEN 'ended' WHEN {ends_now} THEN 'ended'
      WHEN {columns.valid_at} > {at} THEN 'future' WHEN {columns.valid_at} IS NOT NULL THEN 'current' {unsure}
      ELSE 'current' END"""


def fact_conditions(wanted: FactFilter) -> Conditions:
    """The whole filter for the present facts, over an edge ``e``."""
    recorded, values = _recorded_conditions(wanted)
    conditions, more = _state_conditions(wanted, PRESENT)
    return all_of([*recorded, *conditions]), {**values, **more}
