"""Turns records into answers: public group names, ISO times, names of both ends, never an embedding."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import get_args
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from graphiti_pkm.core.facts.goals import deadline_of
from graphiti_pkm.core.facts.observations import POSITION, TYPE
from graphiti_pkm.core.facts.rules import still_holds
from graphiti_pkm.core.facts.statuses import stated
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.answers import Answer, EpisodeView, FactView, NodeView
from graphiti_pkm.core.model.choices import FactStatus as Status
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS, date_at, without_date_words, words_at
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import CONFIDENTIAL, GOAL_OUTCOME, Entity, Episode, Fact, Outcome
from graphiti_pkm.core.model.times import day_bounds, iso, show_time, show_validity
from graphiti_pkm.core.reading.paging import clip_json, text_size

_SHOWN_OTHERWISE = frozenset({CONFIDENTIAL, POSITION})
"""Attributes of facts that their views say in another way, or by their order."""
NODE_FACTS = 3
"""Facts shown with an entity."""
NODE_PLANS = 2
"""Open plans shown after them."""
NODE_ALIASES = 10
_TEXT = 2_000
_SENTENCE = 300
_CAUSE = 100
_VALUE = 500
_NAME = 200
SUMMARY = 1_000
LISTED_SUMMARY = 240
"""Characters of the summary of an entity in a list: a sentence or two."""
WHOLE_SUMMARY = 8_000
_SUMMARIES_CUT = 'Where a summary ends in "…", search_nodes with that name alone in names has all of it.'
_EPISODES = 5
_ATTRIBUTES = 2_000
_ATTRIBUTE_CHARS = 500
_ATTRIBUTE_ITEMS = 20
_EMBEDDING = re.compile("embedding|vector", re.IGNORECASE)
_UNLIKE_STATES: dict[str, Status] = {"event": "event", "plan": "planned", "reading": "reading"}


@dataclass(frozen=True)
class Ended:
    """What has ended of an entity."""

    facts: int
    """How many of its facts, at most 20; 0 if any is current."""
    is_summary_past: bool


@dataclass(frozen=True)
class Replacement:
    """What took the place of a fact."""

    uuid: str
    fact: Fact | None = None
    """To be said in words, if the answer does not list it anyway."""


class Views:
    """Turns records into answers for one set of group names, one time zone and one clock."""

    def __init__(self, groups: Groups, zone: ZoneInfo, now: Callable[[], datetime]) -> None:
        self._groups = groups
        self._zone = zone
        self._now = now

    def fact(
        self,
        fact: Fact,
        now: datetime,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asked: str | None = None,
        replaced_by: Replacement | None = None,
    ) -> FactView:
        """One fact; direction is relative to the entity ``asked`` about, status to ``as_of``."""
        by = replaced_by.fact if replaced_by else None
        value, attributes = stated(fact)
        status = status_of(fact, now, as_of, known_at)
        return FactView(
            uuid=fact.uuid,
            group_id=self._groups.public(fact.group_id),
            fact=clipped(fact.text, _TEXT),
            name=fact.relation,
            source_node_uuid=fact.source_uuid,
            source_node_name=clipped(fact.source_name, _NAME),
            target_node_uuid=fact.target_uuid,
            target_node_name=clipped(fact.target_name, _NAME),
            direction=None if asked is None else "out" if fact.source_uuid == asked else "in",
            status=status,
            outcome=what_became_of(fact) if status == "ended" else None,
            confidential=True if CONFIDENTIAL in fact.attributes else None,
            past=True if is_past(fact, as_of or known_at or now, self._zone) else None,
            kind=fact.kind,
            measure=fact.measure and clipped(fact.measure, _NAME),
            value=value and clipped(value, _VALUE),
            unit=fact.unit and clipped(fact.unit, _NAME),
            quote=fact.quote and clipped(fact.quote, _TEXT),
            valid_at=_iso(fact.valid_at),
            invalid_at=_iso(fact.invalid_at),
            told_start=words_at(fact.valid_at, attributes.get(START_WORDS), self._zone),
            told_end=words_at(fact.invalid_at, attributes.get(END_WORDS), self._zone, is_end=True),
            replaced_by=replaced_by and replaced_by.uuid,
            replacement=by and self.sentence(by),
            replacement_quote=clipped(by.quote, _SENTENCE) if by and by.quote and by.quote != by.text else None,
            because_of=shown_cause(fact, _SENTENCE) or None,
            because_of_uuid=fact.cause_uuid if fact.cause else None,
            reference_time=_iso(fact.reference_time),
            created_at=iso(fact.created_at),
            expired_at=_iso(fact.expired_at),
            episodes=list(fact.episodes[:_EPISODES]),
            episodes_total=len(fact.episodes) if len(fact.episodes) > _EPISODES else None,
            attributes=plain_attributes(
                {name: one for name, one in without_date_words(attributes).items() if name not in _SHOWN_OTHERWISE}
            ),
        )

    def node(
        self,
        entity: Entity,
        *,
        aliases: Sequence[str] = (),
        facts: Sequence[Fact] | None = None,
        max_summary: int = SUMMARY,
        ended: Ended | None = None,
    ) -> NodeView:
        """One entity, with the given facts as sentences."""
        summary, is_past = cut_at_word(entity.summary, max_summary), ended is not None and ended.is_summary_past
        return NodeView(
            uuid=entity.uuid,
            name=clipped(entity.name, _NAME),
            labels=["Entity"] if entity.label in (None, "Entity") else ["Entity", str(entity.label)],
            created_at=iso(entity.created_at),
            summary="" if is_past else summary,
            past_summary=summary if is_past else None,
            group_id=self._groups.public(entity.group_id),
            aliases=[clipped(alias, _NAME) for alias in aliases] or None,
            attributes=plain_attributes(_beside_label(entity)),
            facts=None if facts is None else [self.sentence(fact) for fact in facts],
            ended_facts=(ended.facts or None) if ended else None,
        )

    def episode(
        self,
        episode: Episode,
        content: str | None,
        *,
        complete: bool,
        match: str | None = None,
    ) -> EpisodeView:
        """One episode with the excerpt chosen for this answer (None: no content)."""
        return EpisodeView(
            uuid=episode.uuid,
            group_id=self._groups.public(episode.group_id),
            name=clipped(episode.name, _NAME),
            content=content,
            content_truncated=None if complete else True,
            content_chars=None if complete else len(episode.content),
            match=match,
            valid_at=iso(episode.valid_at),
            created_at=iso(episode.created_at),
            source=episode.source,
            source_description=clipped(episode.source_description, _NAME),
            confidential=True if episode.confidential else None,
            corrected=True if episode.corrected else None,
        )

    def episode_start(self, episode: Episode, max_chars: int, max_size: int, offset: int = 0) -> EpisodeView:
        """One episode with its content from ``offset`` on, at most ``max_chars`` (0: none) and ``max_size`` in JSON."""
        content = clip_json(episode.content[offset : offset + max_chars], max_chars, max_size)
        complete = offset + len(content) >= len(episode.content)
        return self.episode(episode, content if max_chars else None, complete=complete)

    def sentence(self, fact: Fact) -> str:
        """A fact with its dates, e.g. "Maria manages Tom (from 2026-03-01)"."""
        return f"{clipped(fact.text, _SENTENCE)} ({shown_validity(fact, self._zone, self._now())})"


def said_once(facts: Sequence[FactView]) -> list[FactView]:
    """The facts of an answer; what took the place of one has no words there if it is listed itself."""
    listed = {one.uuid for one in facts}
    unsaid = {"replacement": None, "replacement_quote": None}
    return [one.model_copy(update=unsaid) if one.replaced_by in listed else one for one in facts]


def shown_validity(fact: Fact, zone: tzinfo, now: datetime | None = None) -> str:
    """The validity in words, marked as retired where the dates alone do not show it, and as not public.

    With ``now``, also marks a plan whose day has passed without a known outcome. Last comes what it follows from.
    """
    when = _shown_validity(fact, zone, now)
    public = ", not public" if CONFIDENTIAL in fact.attributes else ""
    cause = f", because of {shown_cause(fact, _CAUSE)}" if fact.cause else ""
    return f"{when}{public}{cause}"


def shown_cause(fact: Fact, most: int) -> str:
    """What a fact follows from, marked where that is not public."""
    return f"{clipped(fact.cause, most)}{' (not public)' if fact.is_cause_confidential else ''}"


def _shown_validity(fact: Fact, zone: tzinfo, now: datetime | None) -> str:
    start, end = shown_start(fact, zone), shown_end(fact, zone)
    when = show_validity(fact.kind, start, end, fact.reference_time, zone)
    if fact.kind == "state" and start is None and (told := _told_before_its_end(fact, zone)) is not None:
        when = f"since at least {show_time(told, zone)} {when}"
    if fact.voided:
        return f"{when}, voided"
    if (
        fact.kind == "plan"
        and fact.expired_at
        and fact.valid_at
        and fact.invalid_at
        and fact.invalid_at < fact.valid_at
    ):
        planned = show_validity(fact.kind, start, None, fact.reference_time, zone)
        return f"{planned}, {what_became_of(fact) or 'ended'} {end}"
    if fact.expired_at is not None and GOAL_OUTCOME in fact.attributes:
        return f"{when}, {what_became_of(fact)}"
    is_told = fact.expired_at is None or (fact.kind == "state" and fact.invalid_at is not None)
    if not is_told:
        return f"{when}, {what_became_of(fact) or 'ended'}"
    return f"{when}, past" if now is not None and is_past(fact, now, zone) else when


def shown_start(fact: Fact, zone: tzinfo) -> str | None:
    """The start in the words in which it was told, else as a date."""
    words = words_at(fact.valid_at, fact.attributes.get(START_WORDS), zone)
    return words or (show_time(fact.valid_at, zone) if fact.valid_at else None)


def shown_end(fact: Fact, zone: tzinfo) -> str | None:
    """The end, as ``shown_start``."""
    words = words_at(fact.invalid_at, fact.attributes.get(END_WORDS), zone, is_end=True)
    return words or (show_time(fact.invalid_at, zone) if fact.invalid_at else None)


def _told_before_its_end(fact: Fact, zone: tzinfo) -> datetime | None:
    """The time of the note, if the fact held then: not if it ended in a period that the note itself lies in."""
    if fact.reference_time is None or fact.invalid_at is None:
        return None
    end = date_at(fact.invalid_at, fact.attributes.get(END_WORDS), zone, is_end=True)
    return fact.reference_time if fact.reference_time < min(end.start, fact.invalid_at) else None


def shown_ending(fact: Fact, zone: tzinfo) -> str | None:
    """The end, as ``shown_end``, and by when it has ended, if that is within the period that was told."""
    shown, at = shown_end(fact, zone), fact.invalid_at
    told = None if at is None else date_at(at, fact.attributes.get(END_WORDS), zone, is_end=True)
    is_within = at is not None and told is not None and told.words is not None and told.start < at < told.end
    return f"{shown}, ended by {show_time(at, zone)}" if at and is_within else shown


def what_became_of(fact: Fact) -> Outcome | None:
    """The outcome of an ended plan or goal, as a note or a reason says it, else of a plan as it follows from others."""
    said = fact.attributes.get(GOAL_OUTCOME)
    return next((known for known in get_args(Outcome) if known == said), fact.outcome)


def is_past(fact: Fact, at: datetime, zone: tzinfo) -> bool:
    """Whether the (last) day of an open plan, or the deadline of a goal, has passed without a known outcome."""
    deadline = deadline_of(fact, zone)
    if deadline is not None:
        return deadline.end <= at and still_holds(fact, at)
    if fact.kind != "plan" or fact.valid_at is None or not fact.is_open:
        return False
    told = date_at(fact.valid_at, fact.attributes.get(START_WORDS), zone)
    ends = (day_bounds(fact.valid_at, zone)[1], told.end, *([fact.invalid_at] if fact.invalid_at else []))
    return max(ends) <= at


def status_of(fact: Fact, now: datetime, as_of: datetime | None = None, known_at: datetime | None = None) -> Status:
    """The status in the world at ``as_of``; without it, in the record ``now`` or at ``known_at``.

    What is retired in the record stays so, even if the clock was set back since. A state that was retired later did
    hold before its ``invalid_at``, so ``expired_at`` counts only for now, or without an ``invalid_at``. With
    ``known_at`` the fact has its values of that time, but ``expired_at`` may be of today if episodes are read by their
    own time. The same rules stand in Cypher in ``storage.graph.queries.facts``.
    """
    if fact.voided:
        return "voided"
    at = as_of or known_at or now
    is_asked_of_now = as_of is None and known_at is None
    is_retired = fact.expired_at is not None and (is_asked_of_now or known_at is not None or fact.expired_at <= at)
    if fact.kind != "state":
        return "ended" if is_retired else _UNLIKE_STATES[fact.kind]  # a plan is fulfilled, dropped or moved
    if fact.invalid_at is not None and fact.invalid_at <= at:
        return "ended"
    if is_retired and (is_asked_of_now or fact.invalid_at is None):
        return "ended"
    if fact.valid_at is not None:
        return "future" if fact.valid_at > at else "current"
    known = fact.reference_time or fact.created_at
    return "possible" if as_of is not None and known > at else "current"


def item_sizes(items: Iterable[Answer], group_ids: Collection[str]) -> Iterator[int]:
    """Characters of each item in the text form, with its comma, in an answer over these groups."""
    return (text_size(_text_form(item, names_group=len(group_ids) > 1)) + 1 for item in items)


def _text_form(item: Answer, *, names_group: bool) -> dict[str, object]:
    """Fields shown in the text form: without those of the whole answer and the entity asked about."""
    fields = item.model_dump(exclude_none=True)
    asked = {"out": "source_node", "in": "target_node"}.get(str(fields.get("direction")))
    unsaid = {f"{asked}_uuid", f"{asked}_name"} if asked else set()
    if not names_group:
        unsaid.add("group_id")
    if fields.get("kind") == "state":
        unsaid.add("kind")
    return {name: value for name, value in fields.items() if name not in unsaid}


def read_on(episodes: Iterable[EpisodeView], offset: int = 0) -> str | None:
    """How to read on in contents that were cut; None if none was. The shortest decides, so that nothing is skipped."""
    lengths = [len(item.content) for item in episodes if item.content_truncated and item.content]
    if not lengths:
        return None
    return f"content_truncated: read on with get_episodes(episode_uuids=[uuid], content_offset={offset + min(lengths)})"


def _beside_label(entity: Entity) -> dict[str, object]:
    """The attributes, without a type that the label says."""
    given = entity.attributes.get(TYPE)
    is_said = isinstance(given, str) and as_label(given) == entity.label
    return {name: value for name, value in entity.attributes.items() if name != TYPE or not is_said}


def clipped(text: str, max_chars: int) -> str:
    """The text, shortened with an ellipsis if necessary."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def cut_summaries(entities: Iterable[Entity], whole: Collection[str] = ()) -> str | None:
    """What a list says if summaries of it are cut; those of ``whole`` are not."""
    is_cut = any(len(one.summary) > LISTED_SUMMARY and one.uuid not in whole for one in entities)
    return _SUMMARIES_CUT if is_cut else None


def cut_at_word(text: str, max_chars: int) -> str:
    """The text, shortened with an ellipsis after a sentence, else after a word."""
    if len(text) <= max_chars:
        return text
    start = text[: max_chars - 1]
    end = start.rfind(". ", max_chars // 2) + 1 or start.rfind(" ", max_chars // 2)
    return f"{start[:end] if end > 0 else start}…"


def size_in_words(size: GroupSize) -> str:
    """E.g. "412 episodes, 90 entities, 133 facts"."""
    return ", ".join(
        (
            counted(size.episodes, "episode"),
            counted(size.entities, "entity"),
            counted(size.facts, "fact"),
        )
    )


def plain_attributes(attributes: Mapping[str, object]) -> dict[str, object]:
    """Attributes as bounded JSON values; anything that is or looks like an embedding is removed."""
    plain: dict[str, object] = {}
    for key, value in attributes.items():
        if not _EMBEDDING.search(key) and not _is_vector(value):
            plain[clipped(key, _NAME)] = _plain(value)
            if text_size(plain) > _ATTRIBUTES:
                plain.popitem()
                break
    return plain


def _plain(value: object) -> object:
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, str):
        return clipped(value, _ATTRIBUTE_CHARS)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value[:_ATTRIBUTE_ITEMS]]
    if isinstance(value, BaseModel):
        return clipped(value.model_dump_json(), _ATTRIBUTE_CHARS)
    return clipped(str(value), _ATTRIBUTE_CHARS)


def _is_vector(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > _ATTRIBUTE_ITEMS and isinstance(value[0], float)


def _iso(at: datetime | None) -> str | None:
    return None if at is None else iso(at)
