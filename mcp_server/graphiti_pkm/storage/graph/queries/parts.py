"""Parts of all Cypher texts: columns, filters and orders. Only constants, never input.

``coalesce`` spells "unknown": an unknown start sorts before every instant (``$dawn``), an unknown end after
(``$dusk``). It also keeps a condition from the index of its property, so that a walk starts at its entity, whatever the
planner takes for rarer: a condition that is to be found by index stands without.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.facts.statuses import OUTCOMES, keys_of_class
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.names import BETWEEN_DIGITS, MINUS
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter
from graphiti_pkm.core.model.records import BECAUSE_OF, CONFIDENTIAL

FACT_KEYS = (
    "uuid",
    "group_id",
    "name",
    "fact",
    "episodes",
    "created_at",
    "expired_at",
    "valid_at",
    "invalid_at",
    "reference_time",
    "source_uuid",
    "target_uuid",
    "source_node_uuid",
    "target_node_uuid",
    "search_scope",
    "search_text",
    "recorded_day",
)
"""Edge properties that are not attributes."""

VALUE_NUMBER, VALUE_KIND = "value_number", "value_kind"
"""Edge properties derived from the value and unit of a reading, for statistics; no record has them."""

ENTITY_KEYS = ("uuid", "group_id", "name", "summary", "created_at", "labels")
"""Entity properties that are not attributes."""


class FactColumns(NamedTuple):
    """Where to read the values that changes affect: on the edge, or in variables of the query."""

    valid_at: str = "e.valid_at"
    invalid_at: str = "e.invalid_at"
    expired_at: str = "e.expired_at"
    voided: str = "e.voided"
    reference_time: str = "e.reference_time"
    start_words: str = f"e.{START_WORDS}"
    end_words: str = f"e.{END_WORDS}"


PRESENT = FactColumns()
BELIEVED = FactColumns(
    *("was_valid_at", "was_invalid_at", "was_expired_at", "was_voided", "was_told_at"),
    *("was_start_words", "was_end_words"),
)


_CAUSE = f"""CASE WHEN e.{BECAUSE_OF} IS NULL THEN '' ELSE coalesce(
    head(COLLECT {{ MATCH (x:Entity {{uuid: e.{BECAUSE_OF}}}) WHERE x.group_id = e.group_id RETURN x.name }}),
    head(COLLECT {{ MATCH ()-[x:RELATES_TO {{uuid: e.{BECAUSE_OF}}}]->()
      WHERE x.group_id = e.group_id RETURN x.fact }}), '') END"""
"""What a fact ``e`` follows from, if it is there: a name or a sentence."""
_IS_CAUSE_CONFIDENTIAL = f"""CASE WHEN e.{BECAUSE_OF} IS NULL THEN false ELSE coalesce(
    head(COLLECT {{ MATCH ()-[x:RELATES_TO {{uuid: e.{BECAUSE_OF}}}]->()
      WHERE x.group_id = e.group_id RETURN x.{CONFIDENTIAL} }}), false) END"""


_NUMBER = re.compile(r"\d")
_PART = re.compile(r"\d+|.", re.DOTALL)
_JOINER = "[ _‐‑‒–—−-]"


def normalised(text: str) -> str:
    """A name without case, spaces, ``-`` and ``_``, which does not tell numbers apart (``has_word``)."""
    return f"replace(replace(replace(toLower({text}), ' ', ''), '-', ''), '_', '')"


def plain_forms(names: Iterable[str]) -> list[str]:
    """Normalised names as ``normalised`` has them; a sign may be a hyphen or a minus there."""
    without = {name.replace(BETWEEN_DIGITS, "") for name in names}
    return sorted(without | {name.replace(MINUS, "") for name in without})


_BY_STATUS = " ".join(
    f"WHEN coalesce(r.kind, 'state') = 'state' AND r.name = 'HAS_STATUS' AND rs.uuid = endNode(e).uuid "
    f"AND {normalised('r.value')} IN {list(keys_of_class(name) or ())} THEN '{outcome}'"
    for name, outcome in OUTCOMES.items()
)
_OUTCOME = f"""CASE WHEN e.kind = 'plan' AND e.expired_at IS NOT NULL THEN head(COLLECT {{
    MATCH (x:Change {{fact_uuid: e.uuid}}) WHERE x.kind = 'retired'
    OPTIONAL MATCH (rs)-[r:RELATES_TO {{uuid: x.replaced_by}}]->(ro)
    WITH x, rs, r, ro ORDER BY x.recorded_at DESC, coalesce(x.place, 0) DESC LIMIT 1
    RETURN CASE WHEN r IS NULL THEN null {_BY_STATUS} WHEN coalesce(r.kind, 'state') <> 'plan'
      AND rs.uuid = startNode(e).uuid AND ro.uuid = endNode(e).uuid AND coalesce(r.value, '') = coalesce(e.value, '')
      THEN 'fulfilled' ELSE 'replaced' END }}) END"""
"""As ``core.facts.history.outcome_of`` says it."""


def fact_columns(columns: FactColumns = PRESENT) -> str:
    """A whole fact ``e``."""
    replaced, past = [], ""
    if columns != PRESENT:
        replaced = [START_WORDS, END_WORDS]
        words = f"[['{START_WORDS}', {columns.start_words}], ['{END_WORDS}', {columns.end_words}]]"
        past = f" + [['voided', {columns.voided}]] + [word IN {words} WHERE word[1] <> '']"
    return f"""
  e.uuid AS uuid, coalesce(e.group_id, '') AS group_id, coalesce(e.name, '') AS name, coalesce(e.fact, '') AS fact,
  startNode(e).uuid AS source_node_uuid, startNode(e).name AS source_name,
  endNode(e).uuid AS target_node_uuid, endNode(e).name AS target_name,
  coalesce(e.episodes, []) AS episodes, coalesce(e.created_at, e.valid_at, '1970-01-01T00:00:00+00:00') AS created_at,
  {columns.expired_at} AS expired_at, {columns.valid_at} AS valid_at, {columns.invalid_at} AS invalid_at,
  {columns.reference_time} AS reference_time, {_CAUSE} AS cause,
  {_IS_CAUSE_CONFIDENTIAL} AS is_cause_confidential, {_OUTCOME} AS outcome,
  [k IN keys(e) WHERE NOT k IN {[*FACT_KEYS, *replaced]} AND NOT k ENDS WITH '_embedding' | [k, e[k]]]{past}
    AS attributes"""


FACT_COLUMNS = fact_columns()

ENTITY_COLUMNS = f"""
  n.uuid AS uuid, coalesce(n.name, '') AS name, coalesce(n.group_id, '') AS group_id, labels(n) AS labels,
  coalesce(n.created_at, '1970-01-01T00:00:00+00:00') AS created_at, coalesce(n.summary, '') AS summary,
  [k IN keys(n) WHERE NOT k IN {list(ENTITY_KEYS)} AND NOT k ENDS WITH '_embedding' | [k, n[k]]] AS attributes"""

EPISODE_COLUMNS = """
  e.uuid AS uuid, coalesce(e.name, '') AS name, coalesce(e.group_id, '') AS group_id,
  coalesce(e.content, '') AS content,
  coalesce(e.source, 'text') AS source, coalesce(e.source_description, '') AS source_description,
  coalesce(e.created_at, e.valid_at) AS created_at, coalesce(e.valid_at, e.created_at) AS valid_at,
  [] AS entity_edges, coalesce(s.corrected, false) AS corrected,
  coalesce(s.confidential, false) AS confidential"""

STARTS = "coalesce(e.valid_at, $dawn)"
RECORDED = "coalesce(e.created_at, $dawn)"
KNOWN_FROM = "coalesce(e.valid_at, e.reference_time)"

IS_CURRENT = """CASE WHEN e.kind IN ['event', 'plan', 'reading'] THEN 0 WHEN e.expired_at <= $recorded_until THEN 0
  WHEN e.expired_at IS NULL AND e.invalid_at <= $now THEN 0 WHEN e.valid_at > $now THEN 0
  WHEN e.voided THEN CASE WHEN e.expired_at > $recorded_until THEN 1 ELSE 0 END ELSE 1 END"""
"""1 or 0, in the world at ``$now``. What was ended or voided after ``$recorded_until`` still held then: pages of one
cursor agree, and an end recorded before the clock was set back counts. What is unknown (null, which no WHEN takes)
falls through.
"""

OBSERVED = f"coalesce(e.name, '') = '{OBSERVATION}' AND startNode(e) = endNode(e)"
"""That a fact ``e`` is an observation."""

LATEST = datetime.max.replace(tzinfo=UTC)
"""The end of a period without one."""

Conditions = tuple[str, dict[str, object]]
"""A WHERE expression with its parameters."""


def episode_conditions(wanted: EpisodeFilter, uuid: str = "e.uuid") -> Conditions:
    """Everything in the filter but ``entity_uuid``, over a node ``e``; groups as in ``$groups``.

    ``uuid``: where the node has that of the episode.
    """
    parts = ["coalesce(e.group_id, '') IN $groups"]
    values: dict[str, object] = {"groups": wanted.group_ids}
    for name, instant, part in (
        ("recorded_until", wanted.recorded_until, f"{RECORDED} <= $recorded_until"),
        ("valid_after", wanted.valid_after, "coalesce(e.valid_at, e.created_at) >= $valid_after"),
        ("valid_before", wanted.valid_before, "coalesce(e.valid_at, e.created_at) < $valid_before"),
    ):
        if instant is not None:
            parts.append(part)
            values[name] = instant
    entries = wanted.entries
    if entries is not None:
        held = [f"y.uuid = {uuid}"]
        for name, value in (("project_uuid", entries.project_uuid), ("type", entries.type)):
            if value is not None:
                held.append(f"y.{name} = $entry_{name}")
                values[f"entry_{name}"] = value
        parts.append(f"EXISTS {{ MATCH (y:EntryRecord) WHERE {all_of(held)} }}")
    return all_of(parts), values


def entity_conditions(wanted: EntityFilter) -> Conditions:
    """The whole filter, over a node ``n``."""
    parts = ["coalesce(n.group_id, '') IN $groups"]
    values: dict[str, object] = {"groups": wanted.group_ids}
    if wanted.labels:
        parts.append("any(l IN labels(n) WHERE l IN $labels)")
        values["labels"] = wanted.labels
    if wanted.uuids is not None:
        parts.append("n.uuid IN $uuids")
        values["uuids"] = wanted.uuids
    if wanted.recorded_until is not None:
        parts.append("coalesce(n.created_at, $dawn) <= $recorded_until")
        values["recorded_until"] = wanted.recorded_until
    return all_of(parts), values


def entities_matched(found: str, wanted: EntityFilter, kept: str = "n") -> Conditions:
    """The whole filter: ``found`` matches ``n`` and whatever else is ``kept``, and ends in WHERE or AND."""
    conditions, values = entity_conditions(wanted)
    if wanted.status is None:
        return f"{found} {conditions}", values
    is_so, more = status_conditions(wanted.status, wanted.recorded_until)
    return f"{found} {conditions} MATCH (n)-[e:RELATES_TO]->(w) WHERE {is_so} WITH DISTINCT {kept}", {**values, **more}


def within_reach(matched: str, since: str, filling: str = "", *, newest: bool) -> str:
    """Facts or episodes ``e`` by the time ``va``, without most of those that a page of ``$limit`` does not reach.

    Each row has the ``total`` and ``until``, the time of the last one of the page; null if all may be on it. So of the
    others nothing is looked up but what ``matched`` and ``since`` ask for.

    Args:
        matched: finds ``e``.
        since: when it was, as ``va``.
        filling: WHERE with what fills the page before anything else, over ``e`` and ``va``.
        newest: the latest first, or the earliest.
    """
    order, is_reached = ("DESC", ">=") if newest else ("ASC", "<=")
    return f"""{matched} WITH e, {since} AS va ORDER BY va {order} WITH collect([e, va]) AS found
      CALL (found) {{ UNWIND found AS one WITH one[0] AS e, one[1] AS va {filling} WITH va LIMIT $limit
        RETURN collect(va) AS filling }}
      WITH found, size(found) AS total, filling[$limit - 1] AS until UNWIND found AS one
      WITH one[0] AS e, one[1] AS va, total, until WHERE coalesce(va {is_reached} until, true)"""


def has_word(text: str, names: Sequence[str], parameter: str) -> Conditions:
    """That a text is one of these normalised names; signs of numbers are not told apart."""
    if any(map(_NUMBER.search, names)):
        return f"{text} =~ ${parameter}", {parameter: "(?iu)" + "|".join(map(_spellings, names))}
    return f"{normalised(text)} IN ${parameter}", {parameter: plain_forms(names)}


def _spellings(name: str) -> str:
    """The pattern of all spellings of a normalised name."""
    pattern, before = "", ""
    for part in _PART.findall(name.replace(MINUS, "")):
        if part == BETWEEN_DIGITS:
            pattern += f"{_JOINER}+"
        else:
            pattern += re.escape(part) if before == BETWEEN_DIGITS else f"{_JOINER}*{re.escape(part)}"
        before = part
    return f"{pattern}{_JOINER}*"


_STATUS_WORD = "coalesce(toStringOrNull(e.word), e.value, w.name, '')"


def status_conditions(status: tuple[Sequence[str], datetime], recorded_until: datetime | None) -> Conditions:
    """That the fact ``e`` to ``w`` is a status of such a word which holds.

    In older memories the word is an attribute, or the name of the target.
    """
    is_said, said = has_word(_STATUS_WORD, status[0], "status")
    parts = (
        "coalesce(e.name, '') = 'HAS_STATUS'",
        is_said,
        f"{IS_CURRENT} = 1",
        f"{RECORDED} <= $recorded_until",
    )
    values: dict[str, object] = {
        **said,
        "now": status[1],
        "recorded_until": recorded_until or LATEST,
    }
    return all_of(parts), values


def all_of(parts: Iterable[str]) -> str:
    """Conditions that all have to be true."""
    return " AND ".join(parts)


def cosine(one: str, other: str) -> str:
    """Of two vectors, -1 to 1; Neo4j's own function gives (1 + cosine) / 2."""
    return f"2 * vector.similarity.cosine({one}, {other}) - 1"


def keys_after(keys: Sequence[object] | None, instants: Sequence[int] = ()) -> dict[str, object]:
    """A cursor's sort keys as parameters ``c0`` and so on; ``instants``: positions of instants."""
    return {
        f"c{place}": datetime.fromisoformat(key) if place in instants and isinstance(key, str) else key
        for place, key in enumerate(keys or ())
    }
