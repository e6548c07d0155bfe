"""``merge_entities``: two entities become one, in bounded writes."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from uuid import uuid4

from graphiti_pkm.capabilities.curation import merge_plan
from graphiti_pkm.capabilities.curation.merge_plan import Batch, Part
from graphiti_pkm.capabilities.curation.models import MergeResponse, SimilarEntity
from graphiti_pkm.capabilities.curation.ports import GraphCuration, GraphMerging
from graphiti_pkm.capabilities.curation.requests import MergeEntities
from graphiti_pkm.capabilities.curation.reviews import said
from graphiti_pkm.capabilities.curation.similar import DECIMALS, similarity
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import MOST_EVENTS
from graphiti_pkm.core.facts.rules import known_from
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.merges import MergeHead, MergeSizes
from graphiti_pkm.core.model.records import (
    Archive,
    Entity,
    Fact,
    FactChange,
    Mention,
    Merge,
    Name,
    Quality,
    WriteIntent,
    WriteKind,
    in_order,
)
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import ConflictingContent, InvalidInput, Unavailable
from graphiti_pkm.storage.commit import Committer

_log = logging.getLogger(__name__)

BAR = 0.85
"""Similarity that a pair has to exceed."""
AT_ONCE = 100
"""Records of each kind in one write: other groups wait for it."""
_MOST_LIKE = 2_000
_REST, _LONGEST_REST = 3.0, 0.3
"""After each write but the last others have so many times as long as it took to themselves, at most so many seconds."""
_MOST_PINNING = 1_000
"""Projects that a removed entity is pinned to."""
_MOST_EMBEDDED = 1_000
"""Sentences that come back and are embedded before the lock; a job embeds the others."""
_SHOWN, _ATTENTION = 50, 20
_TEXT, _NAME, _UUID = 160, 200, 8
_UNFINISHED = 20
_POLL_SECONDS = 60.0
MOST_MERGES = 200


@dataclass(frozen=True)
class _Pair:
    """Both entities as they are, with what decides whether they may be merged."""

    kept: Entity
    removed: Entity
    qualities: tuple[Quality, Quality]
    names: tuple[Sequence[Name], Sequence[Name]]
    sizes: MergeSizes

    @property
    def shown(self) -> dict[str, object]:
        """All that the preview was made from."""
        return {
            "entities": [one.model_dump(mode="json") for one in (self.kept, self.removed)],
            "qualities": [one.model_dump(mode="json") for one in self.qualities],
            "names": [one.model_dump(mode="json") for names in self.names for one in names],
            "sizes": self.sizes.model_dump(mode="json"),
        }


@dataclass
class _Report:
    """What the answer says of all parts."""

    pair: list[Fact] = field(default_factory=list)
    joined: list[tuple[Fact, str]] = field(default_factory=list)
    conflicts: list[tuple[Fact, Fact]] = field(default_factory=list)
    facts_moved: int = 0
    facts_joined: int = 0
    facts_dropped: int = 0
    mentions_moved: int = 0

    def take(self, part: Part) -> None:
        self.facts_moved += len(part.moved.facts)
        self.facts_joined += len(part.joined)
        self.facts_dropped += len(part.pair)
        self.mentions_moved += len(part.moved.mentions)
        gone = {fact.uuid: fact for fact in part.archive.facts}
        self.pair = [*self.pair, *part.pair][:_SHOWN]
        self.joined = [*self.joined, *((gone[one], same) for one, same in part.joined.items())][:_SHOWN]
        self.conflicts = [*self.conflicts, *part.conflicts][:_ATTENTION]


class Merging(Reader):
    """Two entities that are one; every write of it is bounded."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        reviews: GraphCuration,
        stored: GraphMerging,
        committer: Committer,
        at_once: int = AT_ONCE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``at_once``: records of a kind in one write; ``sleep``: how it rests between two, in seconds."""
        super().__init__(context, groups)
        self._reviews = reviews
        self._stored = stored
        self._committer = committer
        self._at_once = at_once
        self._sleep = sleep

    async def merge_entities(self, caller: Caller, request: MergeEntities) -> MergeResponse:
        """A preview with a token; with the token of exactly that preview, they are merged.

        Raises:
            InvalidInput, NotFound: they cannot be merged; nothing was changed.
            ConflictingContent: one of them has changed since the preview; nothing was changed.
            Unavailable: there is no embedding model that answers; nothing was changed.
        """
        caller.must_write("Nothing was changed.")
        reason = said("reason", request.reason)
        pair = await self._pair(*await self._asked(caller, request))
        await self._check(pair)
        try:
            near = round(await similarity(self._context.embedder, pair.kept, pair.removed), DECIMALS)  # as it is shown
        except Unavailable as error:
            raise Unavailable(f"similarity needs the embedding model. {error.message}") from error
        if await self._split_at(pair.kept, pair.removed) is None:
            self._check_bar(pair, near)
        group = pair.kept.group_id
        if request.confirm is None:
            report = await self._preview(pair.kept, pair.removed)
            token = self._token(caller, pair)
            return self._answer("preview", pair, report, near, token)
        async with self._committer.writing(group):
            before = pair.shown
            pair = await self._pair(pair.kept.uuid, pair.removed.uuid, group)
            if not is_confirmed(request.confirm, self._token(caller, pair)) or before != pair.shown:
                raise _conflict()
            report = await self._merge(caller, pair, reason)
        return self._answer("merged", pair, report, near)

    # What is asked

    async def _asked(self, caller: Caller, request: MergeEntities) -> tuple[str, str, str]:
        """Both uuids, and the group of both."""
        visible = await self._groups.visible(caller)
        asked, found = [], []
        for text in (request.keep_uuid, request.remove_uuid):
            uuid = await resolve_within(self._graph, visible, "entity", text)
            entities = await self._graph.records.get_entities([uuid], visible)
            if not entities:
                raise unknown("entity", uuid)
            asked.append(uuid)
            found.append(entities[0])
        kept, removed = found
        if asked[0] == asked[1]:
            raise InvalidInput("keep_uuid and remove_uuid are the same entity.")
        if kept.group_id != removed.group_id:
            raise InvalidInput("the two entities are of different groups.")
        for uuid, entity in zip(asked, found, strict=True):
            if entity.uuid != uuid:
                if request.confirm is not None:
                    raise _conflict()
                raise InvalidInput(f"{uuid} was merged into {entity.uuid} already; unmerge_entities undoes that.")
        return kept.uuid, removed.uuid, kept.group_id

    async def _pair(self, kept_uuid: str, removed_uuid: str, group: str) -> _Pair:
        found = {one.uuid: one for one in await self._graph.records.get_entities([kept_uuid, removed_uuid], [group])}
        if found.keys() != {kept_uuid, removed_uuid}:
            raise _conflict()
        held = await self._reviews.qualities([kept_uuid, removed_uuid], [group])
        kept, removed = (held.get(uuid) or Quality(uuid=uuid, group_id=group) for uuid in (kept_uuid, removed_uuid))
        return _Pair(
            kept=found[kept_uuid],
            removed=found[removed_uuid],
            qualities=(kept, removed),
            names=(await self._stored.names(kept_uuid), await self._stored.names(removed_uuid)),
            sizes=await self._stored.sizes(kept_uuid, removed_uuid),
        )

    async def _check(self, pair: _Pair) -> None:
        """Raises InvalidInput for two entities that are never one."""
        kept, removed = pair.kept, pair.removed
        for names in pair.names:
            if any(not name.is_linkable for name in names):
                raise InvalidInput("one of them is the user, a value or a measure, which stay as they are.")
        if kept.label != removed.label:
            raise InvalidInput(_types_differ(kept, removed))
        if await self._graph.records.apart([in_order(kept.uuid, removed.uuid)]):
            raise InvalidInput(
                "update_entity was told that they are not the same; restore_fact with that uuid undoes it."
            )
        for uuid in (kept.uuid, removed.uuid):
            for head in await self._stored.heads(uuid, [kept.group_id], MOST_MERGES):
                if not head.is_whole or head.is_undone:
                    raise InvalidInput(
                        "another merge of one of them was interrupted and is being finished. Try again in a minute."
                    )

    async def _split_at(self, kept: Entity, removed: Entity) -> datetime | None:
        """When the one that goes was split off the other: they were one before, and merging them undoes that."""
        events = await self._graph.changes.fact_changes([kept.uuid], [kept.group_id], MOST_EVENTS)
        given = [one for one in events.get(kept.uuid, ()) if one.kind == "split" and one.replaced_by == removed.uuid]
        return given[0].recorded_at if given else None

    def _check_bar(self, pair: _Pair, near: float) -> None:
        if near <= BAR:
            raise InvalidInput(
                f"insufficient_similarity. The similarity of names and summaries is {near:.3f} and must be "
                f"above {BAR}. If you know that they are one, call update_entity with entity_uuid "
                f"{pair.kept.uuid[:_UUID]}, then with {pair.removed.uuid[:_UUID]}, each time with the same summary, "
                "which says who or what it is with both names; then call merge_entities again.",
                "insufficient_similarity",
            )
        if not any(one.is_flagged for one in pair.qualities):
            raise InvalidInput(
                "missing_flag. Flag one of them first, with flag_similar_entities or flag_for_review, so "
                "that others can object.",
                "missing_flag",
            )

    def _token(self, caller: Caller, pair: _Pair) -> str:
        return confirmation(self._context.signer, "merge", caller.principal, pair.shown)

    # The merge

    async def _preview(self, kept: Entity, removed: Entity) -> _Report:
        """What all parts of the merge would do with facts and mentions; nothing is written."""
        report, most = _Report(), self._at_once
        fact = episode = ""
        while True:
            facts = await self._stored.facts(removed.uuid, most, fact)
            mentions = await self._stored.mentions(removed.uuid, most, episode)
            batch = await self._batch(kept, removed, facts, mentions, ())
            report.take(await in_thread(merge_plan.plan_part, kept, removed, batch, self._context.now()))
            if max(len(facts), len(mentions)) < most:
                return report
            fact = facts[-1].uuid if facts else fact
            episode = mentions[-1].episode_uuid if mentions else episode

    async def _next_batch(self, kept: Entity, removed: Entity, moved: Collection[str]) -> Batch:
        """What is still to be moved, as much as one write takes."""
        stored, most = self._stored, self._at_once
        facts = await stored.facts(removed.uuid, most + 1)
        mentions = await stored.mentions(removed.uuid, most + 1)
        entries = await stored.entries(removed.uuid, most + 1)
        evidence = await stored.evidence(removed.uuid, most + 1)
        causes = await stored.caused(removed.uuid, removed.group_id, most + 1)
        sources, targets = await stored.change_ends(removed.uuid, most + 1)
        return replace(
            await self._batch(kept, removed, facts[:most], mentions[:most], moved),
            entries=entries[:most],
            evidence=evidence[:most],
            causes=causes[:most],
            change_sources=sources[:most],
            change_targets=targets[:most],
            is_last=all(len(one) <= most for one in (facts, mentions, entries, evidence, causes, sources, targets)),
        )

    async def _batch(
        self,
        kept: Entity,
        removed: Entity,
        facts: Sequence[Fact],
        mentions: Sequence[Mention],
        moved: Collection[str],
    ) -> Batch:
        """Some facts and mentions with what they meet; ``moved``: facts that earlier parts of the merge have moved."""
        ends, relations = merge_plan.where_conflicts_are(facts, removed.uuid)
        like = await self._stored.facts_like(kept.uuid, facts, _MOST_LIKE) if facts else []
        beside = await self._stored.open_facts(kept.uuid, ends, relations, _MOST_LIKE) if ends or relations else []
        pairs = [(one.episode_uuid, kept.uuid) for one in mentions]
        without = await self._graph.records.mentioned(pairs) | await self._graph.records.apart(pairs)
        return Batch(
            facts=facts,
            like=[one for one in like if one.uuid not in moved],
            beside=[one for one in beside if one.uuid not in moved],
            mentions=mentions,
            without={episode for episode, _ in without},
            split_at=await self._split_at(kept, removed),
        )

    async def _merge(self, caller: Caller, pair: _Pair, reason: str) -> _Report:
        """All parts, under the group's lock; the first holds the event."""
        report = _Report()
        uuid, kept, removed = str(uuid4()), pair.kept, pair.removed
        apart = await self._stored.apart(removed.uuid)
        own = await self._stored.apart(kept.uuid)
        others = sorted({one for found in apart for one in found} - {removed.uuid})
        entities = {one.uuid for one in await self._graph.records.get_entities(others, [kept.group_id])}
        mentioned = {one for one, _ in await self._graph.records.mentioned([(one, kept.uuid) for one in others])}
        now = merge_plan.joined_entity(kept, removed)
        names = merge_plan.aliases_of(pair.names[1], kept.uuid)
        before, after = merge_plan.event_of(kept, now, names, apart, own, entities, mentioned)
        project = await self._stored.project(removed.uuid)
        given = merge_plan.merged_project(await self._stored.project(kept.uuid), project, kept.uuid)
        pinning = await self._stored.pinning(removed.uuid, kept.group_id, _MOST_PINNING)
        projects = {one.uuid: merge_plan.pinned(one, removed.uuid, kept.uuid) for one in pinning}
        if given is not None:
            projects[given.uuid] = merge_plan.pinned(given, removed.uuid, kept.uuid)
        held = pair.qualities[0]
        review = merge_plan.reviewed(held, removed.uuid, caller.principal, self._context.now())
        archive = Archive(
            entities=(removed, kept),
            names=tuple(pair.names[1]),
            qualities=tuple(one for one in pair.qualities if one != Quality(uuid=one.uuid, group_id=one.group_id)),
            projects=tuple({one.uuid: one for one in (*pinning, *([] if project is None else [project]))}.values()),
        )
        merge = Merge(
            uuid=uuid,
            place=0,
            kept_uuid=kept.uuid,
            removed_uuid=removed.uuid,
            is_last=False,
            apart=tuple(apart),
            former=tuple(
                one
                for one, held in (await self._graph.records.former_uuids(kept.group_id)).items()
                if held == removed.uuid
            ),
            archive=archive,
        )
        first = WriteIntent(
            uuid=str(uuid4()),
            group_id=kept.group_id,
            kind=WriteKind.MERGE,
            recorded_at=await self._committer.time(kept.group_id, self._context.now()),
            entities=(now,),
            projects=tuple(projects.values()),
            qualities=() if review == held else (review,),
            names=names,
            merge=merge,
        )
        change = FactChange(
            uuid=uuid,
            fact_uuid=kept.uuid,
            kind="merged",
            recorded_at=first.recorded_at,
            replaced_by=removed.uuid,
            reason=reason,
            caller=caller.principal,
            entity_before=before,
            entity_after=after,
        )
        await self._parts(kept, removed, first.model_copy(update={"changes": (change,)}), report)
        return report

    async def go_on(self, head: MergeHead) -> None:
        """The parts that are missing of a merge; void if one of both is gone."""
        found = {
            one.uuid: one
            for one in await self._graph.records.get_entities([head.kept_uuid, head.removed_uuid], [head.group_id])
        }
        first = await self._stored.part(head.uuid, 0)
        kept, removed = found.get(head.kept_uuid), found.get(head.removed_uuid)
        if first is None or kept is None or removed is None:
            return
        moved = set[str]()
        for place in range(head.parts):
            part = await self._stored.part(head.uuid, place)
            moved |= part.moved.facts if part else set()
        bare = first.model_copy(update={"archive": Archive(), "place": head.parts, "facts": (), "mentions": ()})
        intent = WriteIntent(
            uuid=str(uuid4()),
            group_id=head.group_id,
            kind=WriteKind.MERGE,
            recorded_at=await self._committer.time(head.group_id, self._context.now()),
            merge=bare,
        )
        await self._parts(kept, removed, intent, _Report(), moved)

    async def _parts(
        self, kept: Entity, removed: Entity, intent: WriteIntent, report: _Report, moved: AbstractSet[str] = frozenset()
    ) -> None:
        """One write after another; the first one is given and also has what belongs to no part."""
        while (merge := intent.merge) is not None:
            began = perf_counter()
            batch = await self._next_batch(kept, removed, moved)
            part = await in_thread(merge_plan.plan_part, kept, removed, batch, self._context.now())
            report.take(part)
            moved |= part.moved.facts
            archive = merge.archive.model_copy(update={"facts": part.archive.facts, "mentions": part.archive.mentions})
            whole = merge.model_copy(
                update={
                    "is_last": batch.is_last,
                    "moved": part.moved,
                    "facts": (*(fact.uuid for fact in part.pair), *part.joined),
                    "mentions": tuple(part.mentions),
                    "archive": archive,
                }
            )
            await self._committer.commit(
                intent.model_copy(update={"merge": whole, "fact_updates": tuple(part.updates)}), {}
            )
            if batch.is_last:
                return
            await self.rest(began)
            bare = Merge(
                uuid=merge.uuid,
                place=merge.place + 1,
                kept_uuid=kept.uuid,
                removed_uuid=removed.uuid,
                is_last=False,
                former=merge.former,
                apart=merge.apart,
            )
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=kept.group_id,
                kind=WriteKind.MERGE,
                recorded_at=await self._committer.time(kept.group_id, self._context.now()),
                merge=bare,
            )

    async def rest(self, began: float) -> None:
        """Leave the database, the disk and the interpreter to other groups, after a write that began then."""
        await self._sleep(min(_REST * (perf_counter() - began), _LONGEST_REST))

    # Answers

    def _answer(
        self, status: str, pair: _Pair, report: _Report, near: float, confirm: str | None = None
    ) -> MergeResponse:
        kept, removed = clipped(pair.kept.name, _NAME), clipped(pair.removed.name, _NAME)
        done = f"Moved: {counted(report.facts_moved, 'fact')} and {counted(report.mentions_moved, 'mention')}. "
        if report.facts_joined:
            done += f"Joined with a fact of {kept!r} that says the same: {counted(report.facts_joined, 'fact')}. "
        if report.facts_dropped:
            done += f"Dropped, since it is between both: {counted(report.facts_dropped, 'fact')}. "
        done = (
            f"{removed!r} would go into {kept!r}, and its names would become aliases. {done}"
            "Call merge_entities again with the same arguments and confirm."
            if status == "preview"
            else f"{removed!r} was merged into {kept!r}, and its uuid means {kept!r} from now on. {done}"
            "unmerge_entities with that uuid undoes it."
        )
        return MergeResponse.model_validate(
            {
                "message": done,
                "status": status,
                "kept": shown_entity(pair.kept),
                "removed": shown_entity(pair.removed),
                "similarity": near,
                "facts_moved": report.facts_moved,
                "facts_joined": report.facts_joined,
                "facts_dropped": report.facts_dropped,
                "mentions_moved": report.mentions_moved,
                "pair_facts": [self._line(one) for one in report.pair] or None,
                "joined_facts": [f"{self._line(one)} = {same[:_UUID]}" for one, same in report.joined] or None,
                "needs_attention": [self._attention(*one) for one in report.conflicts],
                "confirm": confirm,
                "group_id": self._groups.public(pair.kept.group_id),
            }
        )

    def _line(self, fact: Fact) -> str:
        return f"{fact.uuid[:_UUID]} {clipped(self._views.sentence(fact), _TEXT)}"

    def _attention(self, one: Fact, other: Fact) -> Attention:
        """The call ends the one that holds for longer, when the other begins."""
        older, newer = sorted((one, other), key=lambda fact: (known_from(fact) or fact.created_at, fact.created_at))
        ending = {"fact_uuid": older.uuid, "reason": "merged"}
        if newer.valid_at is not None:
            ending["invalid_at"] = iso(newer.valid_at)
        return Attention(
            what="possible_conflict",
            detail="current facts of both that may contradict each other",
            candidates=[self._line(older), self._line(newer)],
            call=f"If {older.uuid[:_UUID]} ended: retire_fact {json.dumps(ending, separators=(',', ':'))}",
        )


def shown_entity(entity: Entity) -> SimilarEntity:
    """In an answer."""
    return SimilarEntity(entity_uuid=entity.uuid, name=clipped(entity.name, _NAME), type=entity.label)


def _types_differ(kept: Entity, removed: Entity) -> str:
    """What is said of two with different types, or of which one has none, and the calls after which they have one."""
    first, second = (removed, kept) if kept.label else (kept, removed)
    one, other = first.uuid[:_UUID], second.uuid[:_UUID]
    its = f"of type {first.label}" if first.label else "has no type"
    or_other = f', or with {other} and "{first.label}"' if first.label else ""
    return (
        f"{other} is of type {second.label} and {one} {its}, and only two of one type are merged. If they are one, "
        f'call update_entity with entity_uuid {one} and type "{second.label}"{or_other}; then call merge_entities '
        "again."
    )


def _conflict() -> ConflictingContent:
    return ConflictingContent(
        "confirm is not valid, because one of the entities has changed since that preview. Call "
        "merge_entities without confirm and look again."
    )
