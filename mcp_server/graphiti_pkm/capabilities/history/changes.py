"""Lists changes of facts in a period of the record: added, ended, corrected, restored, deleted, proposed, by whom."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from graphiti_pkm.capabilities.history.models import ChangesResponse, ChangeView, EntityStateView
from graphiti_pkm.capabilities.history.ports import GraphChangeLists
from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import MOST_EVENTS, is_later_end, open_proposals
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.change_kinds import OTHER_CHANGES, REVIEW_CHANGES, AskedChange, ChangeKind
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import EntityState, Fact, RecordedChange
from graphiti_pkm.core.model.times import check_period, day_bounds, iso, show_time
from graphiti_pkm.core.reading.excerpts import supporting_sentence
from graphiti_pkm.core.reading.paging import CHANGES, Key, budget, encode_cursor, fit
from graphiti_pkm.core.reading.reader import Reader, Start
from graphiti_pkm.core.reading.views import clipped, item_sizes
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidCursor, InvalidInput

_EVER = datetime(1, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KEY = 3
"""Values of a change's sort key."""
_OF_ENTITIES: tuple[ChangeKind, ...] = ("merged", "unmerged", "split", "migrated")
_OPENING = 20_000
"""Characters of an episode that are searched for the sentence supporting a fact."""
_WORDS = 200
_SUMMARY = 300
_LINKS = 10
_BY_RECORD = (
    "By when it was recorded; for the dates of the notes use told_since, for when it held search_memory_facts "
    "(valid_after) or get_entity_connections."
)


class Changes(Reader):
    """``what_changed``."""

    def __init__(self, context: Context, groups: Groups, lists: GraphChangeLists) -> None:
        super().__init__(context, groups)
        self._lists = lists

    async def what_changed(self, caller: Caller, request: WhatChanged) -> ChangesResponse:
        """Changes recorded in ``[since, until)``, newest first, each with the words that caused it.

        With ``told_since``, those told in ``[told_since, until)``, newest told first, and recorded at ``since`` or
        later.

        With ``entity_uuid``, those of its facts, in its own group unless ``group_ids`` is given.
        """
        since, before = self._instant("since", request.since), self._instant("until", request.until)
        told_since = self._instant("told_since", request.told_since)
        is_open = since is None and told_since is None and not request.kinds and request.entity_uuid is None
        if is_open and request.cursor is None:
            raise InvalidInput(
                "Give since (when it was recorded), told_since (the date of the note), kinds or entity_uuid."
            )
        after = since or _EVER
        if told_since is None:
            check_period(after, before, ("since", "until"), "change")
        else:
            check_period(told_since, before, ("told_since", "until"), "note")
        named = request.entity_uuid
        anchor = None if named is None else await self._anchor(caller, named, request.group_ids)
        groups = anchor.group_ids if anchor else self._groups.searched(caller, request.group_ids)
        start = self._start_of(
            caller,
            request,
            since,
            until=before,
            told_since=told_since,
            entity_uuid=anchor and anchor.asked,
            group_ids=groups,
            kinds=sorted(request.kinds or ()),
        )
        place = FeedPlace.of(start.after, len(groups))
        now = start.now if place.key else self._context.now()
        written = place.newest or await self._written(groups)  # before the page: what is written now comes later
        wanted = ChangeFilter(
            group_ids=groups,
            recorded_until=max(now, *written),
            since=max(after, min(place.seen, default=after)),
            until=before if told_since is None else None,
            told_since=told_since,
            told_until=None if told_since is None else before,
            entity_uuid=anchor and anchor.uuid,
            kinds=self._stored_kinds(caller, request.kinds or (), groups),
            seen=place.seen,
            newest=place.newest,
        )
        page = await self._lists.changes(wanted, Window(limit=request.limit + 1, after=place.key))
        newest = place.newest or _with_shown(written, page.changes[: request.limit], groups)
        views = await self._seen(page.changes[: request.limit], groups, caller)
        kept = fit(item_sizes(views, groups), budget((CHANGES, request.limit)))
        more = kept < len(page.changes)
        name = clipped(anchor.entity.name, _WORDS) if anchor and anchor.entity else None
        period = "since the last call" if place.seen else self._period(since, told_since, before)
        about = f" about {name}" if name else ""
        return ChangesResponse(
            message=f"{_found(kept, page.total, 'recorded' if told_since is None else 'told')} {period}{about}",
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=_cursor(start, now, (*page.keys[kept - 1], *newest, *place.seen)) if more else None,
            feed_cursor=None if more or before else _cursor(_of_feed(start), now, newest),
            now=self._counted_from(now),
            scope=await self._scope(
                caller,
                groups,
                empty=not page.total,
                note=await self._by_record(groups, after, page.total)
                if since is not None and told_since is None and not place.seen
                else None,
            ),
            changes=views[:kept],
        )

    def _period(self, since: datetime | None, told_since: datetime | None, until: datetime | None) -> str:
        """The period in words; ``until`` ends what is named last."""
        zone = self._context.settings.zone
        given = (("recorded", since), ("told", told_since))
        words = " and ".join(f"{clock} since {show_time(at, zone)}" for clock, at in given if at)
        if until is None:
            return words or "since the record began"
        return f"{words or 'recorded'} until {show_time(until, zone)}"

    def _start_of(self, caller: Caller, request: WhatChanged, since: datetime | None, **resolved: object) -> Start:
        """``since`` belongs to the cursors of pages; a feed goes on from its cursor, with ``since`` or without."""
        try:
            return self._start(caller, request, request.cursor, since=since, **resolved)
        except InvalidCursor:
            return self._start(caller, request, request.cursor, since=None, **resolved)

    async def _written(self, groups: Sequence[str]) -> tuple[datetime, ...]:
        found = await self._lists.last_writes(groups)
        return tuple(found.get(group, _EPOCH) for group in groups)

    async def last_writes(self, caller: Caller) -> dict[str, datetime]:
        """The time of the last write of each group that the caller may see; whatever else it sees is as old."""
        return await self._lists.last_writes(await self._groups.visible(caller))

    def _stored_kinds(
        self, caller: Caller, asked: Sequence[AskedChange], groups: Sequence[str]
    ) -> tuple[ChangeKind, ...]:
        """What happened to entities belongs to ``updated``; what librarians say of them is theirs to see."""
        sees_reviews = all(self._groups.may(caller, group, "librarian") for group in groups)
        if not asked:
            return () if sees_reviews else OTHER_CHANGES
        more = _OF_ENTITIES if "updated" in asked else ()
        return tuple(dict.fromkeys((*asked, *more, *(REVIEW_CHANGES if more and sees_reviews else ()))))

    async def _by_record(self, group_ids: Sequence[str], since: datetime, total: int) -> str | None:
        """A note for callers who may mean the world's time: nothing was found, or the period precedes the record."""
        began = await self._graph.facts.record_start(group_ids)
        if began is None or (total and since >= day_bounds(began, self._context.settings.zone)[0]):
            return None
        return _BY_RECORD

    async def _seen(
        self, changes: Sequence[RecordedChange], group_ids: Sequence[str], caller: Caller
    ) -> list[ChangeView]:
        """The changes with their facts and words; a deleted fact has neither."""
        replacing = [change.replaced_by for change in changes if change.replaced_by]
        proposed = [change.fact_uuid for change in changes if change.kind == "proposed"]
        updated = list(dict.fromkeys(change.fact_uuid for change in changes if change.is_of_entity))
        entities, recorded, events = await asyncio.gather(
            self._graph.records.get_entities(updated, group_ids),
            self._facts([*(change.fact_uuid for change in changes), *replacing], group_ids),
            self._graph.changes.fact_changes(list(dict.fromkeys(proposed)), group_ids, MOST_EVENTS),
        )
        waiting = {event.uuid for listed in events.values() for event in open_proposals(listed)}
        causes = {uuid for change in changes if (uuid := _episode_of(change, recorded))}
        words, notes = await asyncio.gather(
            self._words(changes, recorded, group_ids),
            self._graph.episodes.episode_places(sorted(causes), group_ids),
        )
        names = {entity.uuid: entity.name for entity in entities}
        return [
            self._update_view(change, names, caller)
            if change.is_of_entity
            else self._view(change, recorded, notes, words.get(change.uuid), waiting, caller)
            for change in changes
        ]

    async def _facts(self, uuids: Iterable[str], group_ids: Sequence[str]) -> dict[str, Fact]:
        found = await self._graph.records.get_facts(list(dict.fromkeys(uuids)), group_ids)
        return {fact.uuid: fact for fact in found}

    async def _words(
        self, changes: Sequence[RecordedChange], facts: Mapping[str, Fact], group_ids: Sequence[str]
    ) -> dict[str, str]:
        """By change: the quote of the fact that caused it, else the sentence of the episode supporting that fact."""
        quotes = {change.uuid: quote for change in changes if (quote := _quote(change, facts))}
        causes = {
            change.uuid: (facts.get(change.replaced_by or "") or facts[change.fact_uuid], episode_uuid)
            for change in changes
            if change.uuid not in quotes and change.fact_uuid in facts and (episode_uuid := _episode_of(change, facts))
        }
        pairs = list(dict.fromkeys((fact.uuid, episode_uuid) for fact, episode_uuid in causes.values()))
        openings, nearest = await asyncio.gather(
            self._lists.openings(sorted({uuid for _, uuid in pairs}), group_ids, _OPENING),
            self._lists.nearest_sentences(pairs, group_ids, _OPENING),
        )

        def sentences() -> dict[str, str | None]:
            return {
                uuid: supporting_sentence(openings[episode_uuid], fact, nearest.get((fact.uuid, episode_uuid)))
                for uuid, (fact, episode_uuid) in causes.items()
                if episode_uuid in openings
            }

        said = await in_thread(sentences)
        return {uuid: clipped(" ".join(text.split()), _WORDS) for uuid, text in {**said, **quotes}.items() if text}

    def _update_view(self, change: RecordedChange, names: Mapping[str, str], caller: Caller) -> ChangeView:
        """What happened to an entity, or was said of it."""
        name = names.get(change.fact_uuid) or (change.entity_after and change.entity_after.name)
        return ChangeView(
            change=change.kind,
            at=iso(change.recorded_at),
            entity_uuid=change.fact_uuid,
            entity=name and clipped(name, _WORDS),
            group_id=self._groups.public(change.group_id),
            before=_state_view(change.entity_before, change.entity_after),
            after=_state_view(change.entity_after, change.entity_before),
            with_uuid=change.replaced_by,
            reason=change.reason,
            by=change.caller if change.caller != caller.principal else None,
        )

    def _view(
        self,
        change: RecordedChange,
        facts: Mapping[str, Fact],
        notes: Mapping[str, Place],
        words: str | None,
        waiting: set[str],
        caller: Caller,
    ) -> ChangeView:
        fact = facts.get(change.fact_uuid)
        note = notes.get(_episode_of(change, facts) or "")
        by = facts.get(change.replaced_by or "")
        return ChangeView(
            change="moved" if is_later_end(change, fact) else change.kind,
            at=iso(change.recorded_at),
            told_at=iso(note.valid_at) if note else None,
            fact_uuid=change.fact_uuid,
            group_id=self._groups.public(change.group_id),
            fact=self._views.sentence(fact) if fact else None,
            invalid_at=iso(change.invalid_at) if change.invalid_at else None,
            former_invalid_at=_former_end(change),
            replaced_by=change.replaced_by,
            replacement=self._views.sentence(by) if by and fact else None,
            open=change.uuid in waiting if change.kind == "proposed" else None,
            reason=change.reason if fact else None,
            words=words,
            episode_uuid=_episode_of(change, facts),
            by=change.caller if change.caller != caller.principal else None,
        )


@dataclass(frozen=True)
class FeedPlace:
    """Where a page begins: after which change, and what of each group it is about."""

    key: Key | None = None
    """None: page one."""
    newest: tuple[datetime, ...] = ()
    """The last write of each group that the pages show; what is written later waits for the next call."""
    seen: tuple[datetime, ...] = ()
    """The last write of each group that earlier calls showed."""

    @staticmethod
    def of(values: Key | None, groups: int) -> "FeedPlace":
        """From what a cursor holds: the key with ``newest`` and ``seen``, or ``seen`` alone (``feed_cursor``)."""
        if values is None:
            return FeedPlace()
        if len(values) == groups:
            return FeedPlace(seen=_instants(values))
        times = _instants(values[_KEY:])
        return FeedPlace(values[:_KEY], times[:groups], times[groups:])


def _of_feed(start: Start) -> Start:
    return replace(start, filters={**start.filters, "since": None})


def _instants(values: Iterable[str | int]) -> tuple[datetime, ...]:
    return tuple(_EPOCH + int(value) * _MICROSECOND for value in values)


def _cursor(start: Start, now: datetime, values: Iterable[str | int | datetime]) -> str:
    key = [(one - _EPOCH) // _MICROSECOND if isinstance(one, datetime) else one for one in values]
    return encode_cursor(start.signer, tuple(key), start.filters, now)


def _with_shown(
    written: Sequence[datetime], changes: Sequence[RecordedChange], groups: Sequence[str]
) -> tuple[datetime, ...]:
    """The last write of each group, where that is one that was not there yet when they were asked for."""
    shown: dict[str, datetime] = {}
    for change in changes:
        shown[change.group_id] = max(change.recorded_at, shown.get(change.group_id, _EPOCH))
    return tuple(max(at, shown.get(group, at)) for group, at in zip(groups, written, strict=True))


def _state_view(state: EntityState | None, other: EntityState | None) -> EntityStateView | None:
    """What differs in the other state."""
    if state is None or other is None:
        return None
    return EntityStateView(
        name=clipped(state.name, _WORDS) if state.name != other.name else None,
        type=state.label if state.label != other.label else None,
        summary=clipped(state.summary, _SUMMARY) if state.summary != other.summary else None,
        aliases=[clipped(name.text, _WORDS) for name in state.names if name.is_alias] or None,
        not_same_as=list(state.not_same_as) or None,
        linked=list(state.linked[:_LINKS]) or None,
        unlinked=list(state.unlinked[:_LINKS]) or None,
    )


def _former_end(change: RecordedChange) -> str | None:
    """The end that an ending took the place of."""
    former = change.previous_invalid_at
    return iso(former) if change.kind == "retired" and former and former != change.invalid_at else None


def _episode_of(change: RecordedChange, facts: Mapping[str, Fact]) -> str | None:
    """The episode that caused a change; for a fact retired by hand, the one that recorded its replacement.

    ``told_since`` and ``until`` compare the time of the same one, in ``GraphChangeLists.changes``.
    """
    by = facts.get(change.replaced_by or "") if change.kind == "retired" and change.fact_uuid in facts else None
    return change.episode_uuid or (by.episodes[0] if by and by.episodes else None)


def _quote(change: RecordedChange, facts: Mapping[str, Fact]) -> str | None:
    """The quote of the causing fact, if it is from the episode that caused the change."""
    fact = facts.get(change.fact_uuid)
    cause = fact if change.kind == "added" else facts.get(change.replaced_by or "")
    episode_uuid = _episode_of(change, facts)
    if fact is None or cause is None or episode_uuid is None:
        return None
    return cause.quote if cause.quote_episode_uuid == episode_uuid else None


def _found(count: int, total: int, clock: str) -> str:
    if count:
        return f"Found {count} of {total} change(s), newest {clock} first,"
    return "No more changes of facts" if total else "No changes of facts"
