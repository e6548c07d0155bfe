"""Shared by all reads: the scope in the answer, dates and uuids from callers, and the entity asked about."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.generated import under_names
from graphiti_pkm.core.facts.history import MOST_EVENTS, known_state
from graphiti_pkm.core.facts.past_summaries import has_ended, may_have_ended, still_holds
from graphiti_pkm.core.identity.groups import Groups, is_of
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import NodeView, Scope
from graphiti_pkm.core.model.document_records import SECTION_SOURCE
from graphiti_pkm.core.model.names import name_key, normalise_name, relation_name
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.core.model.requests import ME, Request
from graphiti_pkm.core.model.times import in_zone, parse_instant, show_time, whole_period
from graphiti_pkm.core.reading.candidates import PERSON_WORDS
from graphiti_pkm.core.reading.paging import Key, decode_cursor, encode_cursor
from graphiti_pkm.core.reading.views import (
    LISTED_SUMMARY,
    NODE_ALIASES,
    NODE_FACTS,
    NODE_PLANS,
    WHOLE_SUMMARY,
    Ended,
    Replacement,
    Views,
    size_in_words,
)
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.core.waiting import in_thread

GroupIds: TypeAlias = str | Sequence[str] | None

_OTHER_GROUPS = 10
_CORRECTED = 10
_WRONG_FACTS = 3
_READ_OF_AN_EPISODE = 100
_HELD_GROUPS = 20
_MOST_ENDED = 20
"""Ended facts of an entity that are counted, and compared with its summary."""
RELATIONS = 1_000
"""Relations of a group that are read at most."""
_NO_RELATION = "_"
_STATES_ONLY = "as_of lists states and due plans; the other plans, events and readings: valid_after, valid_before."


_NO_ENTITY = "none"
NOTHING_OF_ME = 'nothing is known of the user yet; facts with source "me" in add_memory add it'
NOBODY_HERE = "in a shared memory `me` could be any of its members: give the person's name instead"


def all_shared(caller: Caller, group_ids: Sequence[str]) -> bool:
    """Whether all of these stored groups are of memories that others opened to the caller."""
    return not any(is_of(group, caller.principal) for group in group_ids)


@dataclass(frozen=True)
class Anchor:
    """The entity asked about and the stored groups to read."""

    asked: str
    """The full uuid that was asked for, or "me" while nothing is known of the person; for display only."""
    entity: Entity | None
    group_ids: tuple[str, ...]
    is_shared: bool = False
    """Whether these are all groups of others' memories, where "me" is nobody."""

    @property
    def unknown(self) -> str:
        """Why there is no such entity, and what to do, as a clause."""
        if self.asked == ME:
            return NOBODY_HERE if self.is_shared else NOTHING_OF_ME
        return "there is no such entity. search_nodes finds entity uuids"

    @property
    def uuid(self) -> str:
        """The uuid to read: never one of which the caller may see nothing.

        Reading it would find nothing, but would take longer the more its owner stores there.
        """
        return self.entity.uuid if self.entity else _NO_ENTITY


@dataclass(frozen=True)
class Start:
    """The start of a page: the last key seen (None: page one) and the ``now`` of page one."""

    after: Key | None
    now: datetime
    filters: Mapping[str, object]
    """Caller, tool and everything else that determines the rows."""
    signer: Signer
    recorded_until: datetime | None = None
    """The newest record at page one; None on page one itself, which shows everything."""


class Reader:
    """Base class of the reading use cases."""

    def __init__(self, context: Context, groups: Groups) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._views = Views(groups, context.settings.zone, context.now)

    def _start(self, caller: Caller, request: Request, cursor: str | None, **resolved: object) -> Start:
        """Page one, or the start that the cursor gives. Raises InvalidCursor if it belongs to another call.

        ``resolved``: the values behind fields of the request, so that a date or uuid may be spelled differently on
        later pages.
        """
        filters = {"tool": type(request).__name__, "caller": caller.visibility, **request.filters(), **resolved}
        signer = self._context.signer
        if cursor is None:
            return Start(None, self._context.now(), filters, signer)
        decoded = decode_cursor(signer, cursor, filters)
        return Start(decoded.key, decoded.now, filters, signer, decoded.recorded_until)

    async def _next(self, start: Start, key: Key | None, group_ids: Sequence[str]) -> str | None:
        """The cursor of the page after this key; None without one.

        Later pages leave out what is written from now on. They include everything older, even if a clock that was set
        back places it in the future.
        """
        if key is None:
            return None
        until = start.recorded_until
        if until is None:
            newest = await self._graph.facts.newest_record(group_ids)
            until = start.now if newest is None else max(start.now, newest)
        return encode_cursor(start.signer, key, start.filters, start.now, until)

    def _instant(self, parameter: str, text: str | None) -> datetime | None:
        """The first instant of a date as the caller wrote it. Raises InvalidInput naming the parameter."""
        return None if text is None else parse_instant(text, self._context.settings.zone, parameter)

    async def _corrections(self, episodes: Sequence[Episode], group_ids: Sequence[str]) -> dict[str, list[str]]:
        """What was wrong in each corrected episode, of the first few on the page."""
        corrected = [episode.uuid for episode in episodes if episode.corrected][:_CORRECTED]
        told = await asyncio.gather(
            *(self._graph.facts.episode_facts(uuid, group_ids, _READ_OF_AN_EPISODE) for uuid in corrected)
        )
        return {
            uuid: wrong
            for uuid, facts in zip(corrected, told, strict=True)
            if (wrong := [self._views.sentence(fact) for fact in facts if fact.voided][:_WRONG_FACTS])
        }

    async def _tellers(self, caller: Caller, episodes: Sequence[Episode]) -> dict[str, str]:
        """Who told each of those that are in a shared memory; in the caller's own it is the caller."""
        shared = [one for one in episodes if not is_of(one.group_id, caller.principal)]
        groups = sorted({one.group_id for one in shared})
        found = await self._graph.records.origins("episode", [one.uuid for one in shared], groups) if shared else {}
        return {uuid: origin.created_by for uuid, origin in found.items()}

    async def _superseded_sections(self, episodes: Sequence[Episode], group_ids: Sequence[str]) -> frozenset[str]:
        """Sections of documents that no present version has; without sections on the page nothing is read."""
        sections = [one.uuid for one in episodes if one.source_description.startswith(SECTION_SOURCE)]
        placed = await self._graph.documents.placed(sections, group_ids) if sections else {}
        return frozenset(uuid for uuid, one in placed.items() if not one.is_present)

    def _counted_from(self, now: datetime, *asked: datetime | None) -> str | None:
        """The day that an answer counts status and past from; None if the caller asked about an instant."""
        return None if any(asked) else in_zone(now, self._context.settings.zone).date().isoformat()

    def _shown_at(self, asked: datetime | None) -> str | None:
        """An instant that the caller asked about."""
        return None if asked is None else show_time(asked, self._context.settings.zone)

    def _read_as(self, as_of: str | None, known_at: str | None = None) -> str | None:
        """A note on how a month or year is read: as its first instant."""
        zone, notes = self._context.settings.zone, list[str]()
        for name, text in (("as_of", as_of), ("known_at", known_at)):
            period = None if text is None else whole_period(text, zone, name)
            if period is not None:
                start, end = (show_time(at, zone) for at in period)
                notes.append(f"{name} read as {start}; for its end use {name}={end}.")
        return " ".join(notes) or None

    async def _anchor(self, caller: Caller, entity_uuid: str, group_ids: GroupIds) -> Anchor:
        """The entity asked about, which may be "me"; without group_ids its own group is read."""
        wanted = self._groups.many(caller, group_ids)
        # Groups that Graphiti filled since the start are not listed yet, but can be read by name.
        visible = tuple(dict.fromkeys((*await self._groups.visible(caller), *(wanted or ()))))
        if normalise_name(entity_uuid) in PERSON_WORDS:
            asked = wanted or (self._groups.one(caller, None),)
            person = await self._person_uuid(caller, asked)
            if person is None:
                return Anchor(ME, None, asked, is_shared=all_shared(caller, asked))
            entity_uuid = person
        uuid = await resolve_within(self._graph, visible, "entity", entity_uuid)
        found = await self._graph.records.get_entities([uuid], visible)
        entity = found[0] if found else None
        own = entity.group_id if entity else self._groups.one(caller, None)
        return Anchor(uuid, entity, wanted or (own,))

    async def _person_uuid(self, caller: Caller, group_ids: Sequence[str]) -> str | None:
        """The person of the first of the groups that has one; in a shared memory nobody is ``me``."""
        own = [group for group in group_ids if is_of(group, caller.principal)]
        keys = [name_key(group, text) for group in own for text in self._persons.names(group)]
        found = await self._graph.records.get_names(keys)
        return next((found[key].entity_uuid for key in keys if key in found), None)

    async def _as_known(self, facts: Sequence[Fact], group_ids: Sequence[str], known_at: datetime | None) -> list[Fact]:
        """The facts under the names that their entities had in the record at an instant."""
        if known_at is None:
            return list(facts)
        ends = sorted({uuid for fact in facts for uuid in (fact.source_uuid, fact.target_uuid)})
        events = await self._graph.changes.fact_changes(ends, group_ids, MOST_EVENTS)
        former = {uuid: state.name for uuid, listed in events.items() if (state := known_state(listed, known_at))}
        return [under_names(fact, former) for fact in facts]

    async def _newest(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int
    ) -> dict[str, list[Fact]]:
        """The newest current facts of each entity; of a measure, which has none, its newest readings."""
        facts = await self._graph.facts.newest_facts(entity_uuids, group_ids, now, limit_each)
        without = [uuid for uuid in entity_uuids if not facts.get(uuid)]
        if not without:
            return facts
        return facts | await self._graph.facts.newest_facts(without, group_ids, now, limit_each, status="reading")

    async def _node_views(
        self,
        entities: Sequence[Entity],
        group_ids: Sequence[str],
        now: datetime,
        whole: Collection[str] = (),
    ) -> list[NodeView]:
        """Entities with their aliases, newest current facts and open plans, and what has ended of those without any.

        ``whole``: of which the summary is not cut as in lists.
        """
        uuids = [item.uuid for item in entities]
        aliases, current, plans = await asyncio.gather(
            self._graph.records.aliases(uuids, NODE_ALIASES),
            self._newest(uuids, group_ids, now, NODE_FACTS),
            self._graph.facts.newest_facts(uuids, group_ids, now, NODE_PLANS, status="planned"),
        )
        facts = {uuid: [*current.get(uuid, ()), *plans.get(uuid, ())] for uuid in uuids}
        ended = await self._ended(entities, facts, group_ids, now)
        return [
            self._views.node(
                item,
                aliases=aliases.get(item.uuid, ()),
                facts=facts.get(item.uuid, ()),
                max_summary=WHOLE_SUMMARY if item.uuid in whole else LISTED_SUMMARY,
                ended=ended.get(item.uuid),
            )
            for item in entities
        ]

    async def _ended(
        self,
        entities: Sequence[Entity],
        facts: Mapping[str, Sequence[Fact]] | None,
        group_ids: Sequence[str],
        now: datetime,
    ) -> dict[str, Ended]:
        """What has ended of entities: how many facts if none is current, and whether the summary did with them.

        ``facts``: the current ones; None if only the summaries are shown.
        """
        without = {one.uuid for one in entities if facts is not None and not facts.get(one.uuid)}
        asked = [one for one in entities if one.uuid in without or may_have_ended(one)]
        if not asked:
            return {}
        read = self._graph.facts.newest_facts
        ended = await read([one.uuid for one in asked], group_ids, now, _MOST_ENDED, status="ended")
        doubtful = [one for one in asked if has_ended(one, ended[one.uuid])]
        current = await read([one.uuid for one in doubtful], group_ids, now, _MOST_ENDED) if doubtful else {}
        past = {one.uuid for one in doubtful if not still_holds(one, current[one.uuid])}
        return {one.uuid: Ended(len(ended[one.uuid]) if one.uuid in without else 0, one.uuid in past) for one in asked}

    async def _replacements(
        self, facts: Sequence[Fact], group_ids: Sequence[str], known_at: datetime | None = None
    ) -> dict[str, Replacement]:
        """The replacement of each fact, in two queries per page; not for a past state of the record.

        One that comes earlier among the facts needs no words. One that comes later has them until ``said_once`` takes
        them out, as a page may be cut before it.
        """
        ended = [fact.uuid for fact in facts if fact.voided or fact.expired_at is not None]
        if not ended or known_at is not None:
            return {}
        replaced = await self._graph.changes.replacements(ended, group_ids)
        places = {fact.uuid: place for place, fact in enumerate(facts)}
        asked = list(dict.fromkeys(by for by in replaced.values() if by not in places))
        others = await self._graph.records.get_facts(asked, group_ids) if asked else ()
        words = {fact.uuid: fact for fact in (*facts, *others)}
        return {
            uuid: Replacement(by, words.get(by) if places.get(by, len(facts)) > places[uuid] else None)
            for uuid, by in replaced.items()
        }

    @staticmethod
    def _states_only(anchor: Anchor, as_of: datetime | None, total: int) -> str | None:
        """Why an empty answer may lack what the caller looks for."""
        return _STATES_ONLY if as_of is not None and anchor.entity is not None and not total else None

    async def _scope(self, caller: Caller, group_ids: Sequence[str], *, empty: bool, note: str | None = None) -> Scope:
        """The groups searched; in an empty answer also what these and other groups contain."""
        names = [self._groups.public(group) for group in group_ids]
        if not empty:
            return Scope(group_ids=names, note=note)
        sizes = await self._graph.records.group_sizes(group_ids[:_HELD_GROUPS])
        others = [group for group in await self._groups.visible_unasked(caller) if group not in group_ids]
        return Scope(
            group_ids=names,
            holds={
                self._groups.public(group): size_in_words(sizes[group]) if group in sizes else "nothing"
                for group in group_ids[:_HELD_GROUPS]
            },
            other_groups=[self._groups.public(group) for group in others[:_OTHER_GROUPS]] or None,
            note=note,
        )

    async def _relations(self, group_ids: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
        """Stored relations that match the caller's spellings; a spelling without a match is kept."""
        stored: list[str] = []
        for group in group_ids:
            stored.extend(await self._graph.facts.relations(group, RELATIONS))
        return await in_thread(_spelt, stored, wanted)


def _spelt(stored: Iterable[str], wanted: Sequence[str]) -> tuple[str, ...]:
    texts = {normalise_name(text) for text in wanted}
    matched = {name for name in stored if normalise_name(name) in texts}
    return tuple(sorted(matched)) or tuple(sorted({relation_name(text) or _NO_RELATION for text in wanted}))
