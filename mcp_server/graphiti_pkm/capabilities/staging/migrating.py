"""``migrate`` and ``promote``: records of one group come into another; a move empties the source only at the end."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.staging.attachments import Attachments
from graphiti_pkm.capabilities.staging.besides import Besides
from graphiti_pkm.capabilities.staging.checking import PromotionCheck
from graphiti_pkm.capabilities.staging.copying import Copying
from graphiti_pkm.capabilities.staging.counting import Counts, attached_in_words
from graphiti_pkm.capabilities.staging.ending import Ending
from graphiti_pkm.capabilities.staging.models import (
    ApprovedEntity,
    MigrationReport,
    NotCopied,
    PromoteResponse,
)
from graphiti_pkm.capabilities.staging.reading import PAGE, GroupReading
from graphiti_pkm.capabilities.staging.requests import Promote
from graphiti_pkm.capabilities.staging.times import in_whole_writes
from graphiti_pkm.capabilities.staging.verifying import Verifying
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import change_of
from graphiti_pkm.core.facts.parsed_facts import is_of_value
from graphiti_pkm.core.facts.saga_plan import close_sagas
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import Deletions, Entity, Fact, WriteIntent, WriteKind
from graphiti_pkm.core.model.targets import group_of_target
from graphiti_pkm.core.reading.views import clipped, size_in_words
from graphiti_pkm.errors import InvalidInput, NotFound, PermissionDenied, PkmError
from graphiti_pkm.storage.commit import Committer

_LISTED = 200
_NAME = 200
_MOST_CONCEPTS = 1_000
MOST_HOPS = 2
_MENTIONED = 10_000

_Beside = tuple[Attachments, Ending, Besides]
"""What comes with episodes, entities and facts."""


class Migration(Record):
    """What to copy or move, from where to where; groups by their public names."""

    source: str
    target: str
    concepts: tuple[str, ...] = ()
    """Names or uuids of entities; empty: all."""
    hops: int = 0
    """How far from the concepts their cluster reaches, over facts; 2 at most."""
    has_facts: bool = False
    has_episodes: bool = False
    """With the episodes that tell the facts, and those that mention the entities."""
    moves: bool = False
    """Remove from the source what is in the target."""
    is_checked: bool = False
    """Leave out entities that are flagged, of low confidence, or that stand alone."""
    writes: bool = True
    """Otherwise only say what would be done."""


class Migrating:
    """Copies and moves between groups."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        committer: Committer,
        stored: tuple[GraphCuration, GraphProjects],
    ) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer
        self._stored = stored
        self._check = PromotionCheck(context, committer, stored[0], Similar(context, groups, stored[0], committer))

    async def migrate(self, caller: Caller, wanted: Migration) -> MigrationReport:
        """Copy, compare, and if it is a move, remove from the source. Repeating it ends what was interrupted.

        Raises:
            InvalidInput: a concept is unknown, or both groups are the same; nothing was done.
            NotAllowed: the caller may not read the one or write to the other group.
            DamagedStore: the target lacks something after the copy; nothing was removed.
            WriteFailed, Unavailable: it stopped; the message says what was kept, and repeating it goes on.
        """
        groups = (self._groups.one(caller, wanted.source), self._groups.one(caller, wanted.target))
        if groups[0] == groups[1]:
            raise InvalidInput("Both groups are the same. Nothing was done.")
        if caller.read_only or not caller.may("curator"):
            raise PermissionDenied("Nothing was done: migrations are for curators.")
        async with contextlib.AsyncExitStack() as locks:
            for group in sorted(groups):
                await locks.enter_async_context(self._committer.writing(group))
            chosen = await self._chosen(groups[0], wanted)
            copying = Copying(self._context, self._committer, self._stored[1], groups, caller, writes=wanted.writes)
            verifying = Verifying(self._context, groups, compares=wanted.writes)
            attachments = Attachments(self._context, copying)
            ending, besides = Ending(self._context, copying), Besides(self._context, copying, self._stored)
            beside = (attachments, ending, besides)
            removed, kept = Counts(), 0
            try:
                await self._copy(copying, beside, verifying, wanted, chosen, caller)
            except PkmError as error:
                raise type(error)(
                    f"{error.message} Nothing was removed from {wanted.source}; what was copied stays in "
                    f"{wanted.target}. Repeat the command to go on."
                ) from error
            if wanted.moves and wanted.writes:
                try:
                    removed, kept = await self._remove(copying, beside, wanted, caller)
                except PkmError as error:
                    raise type(error)(
                        f"{error.message} Everything is in {wanted.target}, and {wanted.source} still holds a part of "
                        "it. Repeat the command to go on."
                    ) from error
        return _report(wanted, copying, beside, removed, kept, verifying)

    async def promote(self, caller: Caller, request: Promote) -> PromoteResponse:
        """Take some entities over from staging, as the command does. Raises as ``migrate``."""
        name = self._groups.public(self._groups.one(caller, request.group_id))
        report = await self.migrate(
            caller,
            Migration(
                source=group_of_target(name, request.source),
                target=group_of_target(name, request.target),
                concepts=tuple(request.entity_uuids),
                has_facts=request.include_facts,
                has_episodes=request.include_sources,
                is_checked=True,
                writes=not request.dry_run,
            ),
        )
        given = report.model_dump(include=PromoteResponse.model_fields.keys() - {"approved", "issues"})
        return PromoteResponse.model_validate(
            {
                **given,
                "approved": [{"entity_uuid": one.uuid, "name": clipped(one.name, _NAME)} for one in report.approved],
                "issues": [
                    {
                        "kind": one.kind,
                        "entity_uuid": one.uuid,
                        "name": clipped(one.name, _NAME),
                        "detail": clipped(one.detail, _NAME),
                    }
                    for one in report.issues
                ],
            }
        )

    # What is chosen

    async def _chosen(self, stored: str, wanted: Migration) -> list[str] | None:
        """Uuids of the concepts; None: all entities. Raises InvalidInput if one is unknown."""
        if not wanted.concepts:
            return None
        if len(wanted.concepts) > _MOST_CONCEPTS:
            raise InvalidInput(f"At most {_MOST_CONCEPTS:,} concepts at once. Nothing was done.")
        keys = {text: name_key(stored, text) for text in wanted.concepts}
        held = await self._graph.records.get_names(list(keys.values()))
        uuids, unknown = list[str](), list[str]()
        for text, key in keys.items():
            uuid = held[key].entity_uuid if key in held else await self._by_uuid(stored, text)
            if uuid is None:
                unknown.append(text)
            else:
                uuids.append(uuid)
        if unknown:
            raise InvalidInput(f"{wanted.source} has no entity {', '.join(map(repr, unknown))}. Nothing was done.")
        return await self._cluster(stored, list(dict.fromkeys(uuids)), wanted.hops)

    async def _cluster(self, stored: str, uuids: list[str], hops: int) -> list[str]:
        """The concepts with what facts join them to, that far. Raises InvalidInput if that is too much.

        What has the same status, date or measure is not joined by that, unless the status itself is a concept.
        """
        if not 0 <= hops <= MOST_HOPS:
            raise InvalidInput(f"A cluster reaches 0 to {MOST_HOPS} hops. Nothing was done.")
        there = GroupReading(self._context, stored)
        cluster, named = dict.fromkeys(uuids), frozenset(uuids)
        edge = uuids
        for _ in range(hops):
            found: dict[str, None] = {}
            for uuid in edge:
                async for facts in there.facts_of(uuid):
                    joining = (one for one in facts if not one.voided)
                    joining = (one for one in joining if one.target_uuid in named or not is_of_value(one))
                    ends = (end for one in joining for end in (one.source_uuid, one.target_uuid))
                    found |= dict.fromkeys(end for end in ends if end not in cluster)
                if len(cluster) + len(found) > _MOST_CONCEPTS:
                    raise InvalidInput(
                        f"The cluster has more than {_MOST_CONCEPTS:,} entities. Nothing was done; name fewer concepts "
                        "or fewer hops."
                    )
            cluster |= found
            edge = list(found)
        return list(cluster)

    async def _by_uuid(self, stored: str, text: str) -> str | None:
        try:
            uuid = await resolve_within(self._graph, [stored], "entity", text)
        except (InvalidInput, NotFound):
            return None
        return uuid if await self._graph.records.get_entities([uuid], [stored]) else None

    async def _pages(self, copying: Copying, chosen: Sequence[str] | None) -> AsyncIterator[list[Entity]]:
        if chosen is None:
            async for page in copying.there.entities():
                yield page
            return
        for some in _parts(chosen):
            yield await self._graph.records.get_entities(some, [copying.source])

    async def _good(self, copying: Copying, entities: Sequence[Entity], caller: Caller) -> list[Entity]:
        """Those without a reason to look at them first; the others are reported, and flagged if this is no preview."""
        found = await self._check.issues(entities, copying.source, copying.target, copying.copy_of)
        for entity in entities:
            if issues := found[entity.uuid]:
                copying.held_back.add(f"{entity.name}: {issues[0].detail}")
                copying.issues += issues
        good = [one for one in entities if not found[one.uuid]]
        copying.approved += [ApprovedEntity(uuid=one.uuid, name=one.name) for one in good]
        if copying.writes:
            await self._check.flag(caller, [issue for one in found.values() for issue in one], copying.source)
        return good

    # Copying

    async def _copy(
        self,
        copying: Copying,
        beside: _Beside,
        verifying: Verifying,
        wanted: Migration,
        chosen: Sequence[str] | None,
        caller: Caller,
    ) -> None:
        """Copy, and compare what is there then. Facts are compared page by page: no list of all of them is kept."""
        attachments, ending, besides = beside
        await copying.begin()
        async for page in self._pages(copying, chosen):
            entities = await copying.remembered(page)
            if wanted.is_checked:
                entities = await self._good(copying, entities, caller)
            if entities:
                await copying.copy_entities(entities)
        named = list(copying.entities)
        if wanted.has_facts and chosen is not None:
            await self._copy_values(copying, chosen)
        await besides.bring()  # before the entries of projects
        if wanted.has_episodes:
            await self._copy_episodes(copying, wanted, chosen, named)
        await verifying.entities(list(copying.entities.items()))
        await verifying.episodes(list(copying.episodes.items()), copying.made)
        await attachments.copy()
        if wanted.has_facts:
            seen: set[str] = set()
            async for facts in self._fact_pages(copying, chosen):
                new = [one for one in facts if one.uuid not in seen]
                if chosen is not None:  # a fact of two chosen entities is on the pages of both
                    seen.update(one.uuid for one in new)
                await ending.bring(new)
                await verifying.facts(await copying.copy_facts(new), copying.coming)

    async def _copy_values(self, copying: Copying, chosen: Sequence[str]) -> None:
        """Statuses, dates and measures come with what they are of: nobody would name their targets, or review them."""
        values: dict[str, None] = {}
        for uuid in list(copying.entities):
            async for facts in copying.there.facts_of(uuid):
                values |= {one.target_uuid: None for one in facts if not one.voided and is_of_value(one)}
        wanted = [one for one in values if one not in copying.entities and one not in chosen]
        async for page in self._pages(copying, wanted):
            await copying.copy_entities(page)

    async def _copy_episodes(
        self, copying: Copying, wanted: Migration, chosen: Sequence[str] | None, named: Sequence[str]
    ) -> None:
        """``named``: entities whose every episode comes, not only those that tell facts which come."""
        if chosen is None and not wanted.is_checked:
            async for page in copying.there.episodes():
                await copying.copy_episodes(page)
            return
        groups = [copying.source]
        times: dict[str, tuple[datetime, datetime, str]] = {}
        told: dict[str, None] = {}
        for uuid in named:
            async for page in copying.there.episodes_of(uuid):
                times |= {one.uuid: one.order for one in page}
            async for facts in copying.there.facts_of(uuid):
                told |= dict.fromkeys(one for fact in facts if _is_within(fact, copying) for one in fact.episodes)
        for some in _parts([one for one in told if one not in times]):
            times |= {one.uuid: one.order for one in await self._graph.records.get_episodes(some, groups)}
        # Each write has a later time, so they come in the order that they have there, whichever entity brings them.
        ordered = sorted(times, key=lambda uuid: times[uuid])
        for some in in_whole_writes(ordered, lambda uuid: times[uuid][:2], PAGE):
            await copying.copy_episodes(await self._graph.records.get_episodes(some, groups))

    @staticmethod
    async def _fact_pages(copying: Copying, chosen: Sequence[str] | None) -> AsyncIterator[list[Fact]]:
        if chosen is None:
            async for page in copying.there.facts():
                yield page
            return
        for uuid in chosen:
            async for page in copying.there.facts_of(uuid):
                yield page

    # Removing

    async def _remove(self, copying: Copying, beside: _Beside, wanted: Migration, caller: Caller) -> tuple[Counts, int]:
        """Remove from the source what is in the target and nothing that stays needs; facts, episodes, entities."""
        attachments, _, besides = beside
        removed, kept = Counts(), 0
        async for page in self._fact_pages(copying, list(copying.entities) if wanted.concepts else None):
            within = [one for one in page if _is_within(one, copying) and one.uuid not in copying.staying]
            gone = [one for one in within if wanted.has_facts or one.voided]  # corrected facts are history of what goes
            removed.facts += len(gone)
            await self._commit_removal(copying, caller, facts=gone)
        free = [one for some in _parts(list(copying.episodes)) for one in await self._free(copying, some)]
        is_whole = not wanted.concepts and not wanted.is_checked and len(free) == len(copying.episodes)
        is_whole = is_whole and not copying.redacted and not copying.forgotten.total
        for some in _parts(free):
            # A quote may be evidence of an entity that stays, so documents go only with all of the group.
            stays = not is_whole or copying.held_back.total or attachments.left.quotes
            placed = await self._graph.documents.placed(some, [copying.source]) if stays else {}
            ready = [one for one in some if one not in placed]
            removed.episodes += len(ready)
            await self._commit_removal(copying, caller, episodes=ready)
        kept += len(copying.episodes) - removed.episodes
        for some in _parts(list(copying.entities)):
            support = await self._graph.records.entity_support(some)
            alone = [one for one in some if support.get(one, (0, 0)) == (0, 0) and one not in besides.staying]
            unused = [one for one in alone if not await self._has_evidence(copying, one)]
            kept += len(some) - len(unused)
            removed.entities += len(unused)
            await self._commit_removal(copying, caller, entities=unused)
        return removed, kept

    async def _free(self, copying: Copying, episodes: list[str]) -> list[str]:
        """Those that no entity and no fact that stays in the source needs; half as many are asked for if some are."""
        groups = [copying.source]
        found, total = await self._graph.episodes.episode_entities(episodes, groups, Window(limit=_MENTIONED))
        is_needed = any(one.uuid not in copying.entities for one in found)
        if not is_needed and total == len(found) and not await self._graph.facts.facts_of_episodes(episodes, groups, 1):
            return episodes
        if len(episodes) == 1:
            return []
        middle = len(episodes) // 2
        return [*await self._free(copying, episodes[:middle]), *await self._free(copying, episodes[middle:])]

    async def _has_evidence(self, copying: Copying, entity: str) -> bool:
        """Whether a document that stays is evidence of it."""
        return (await self._graph.documents.instances(entity, [copying.source], Window(limit=1))).total > 0

    async def _commit_removal(
        self,
        copying: Copying,
        caller: Caller,
        *,
        facts: Sequence[Fact] = (),
        episodes: Sequence[str] = (),
        entities: Sequence[str] = (),
    ) -> None:
        if not (facts or episodes or entities):
            return
        at = await self._committer.time(copying.source)
        intent = WriteIntent(
            uuid=str(uuid4()),
            group_id=copying.source,
            kind=WriteKind.MIGRATE,
            recorded_at=at,
            changes=tuple(change_of(str(uuid4()), one, "deleted", at, caller=caller.principal) for one in facts),
            deletions=Deletions(
                facts=tuple(one.uuid for one in facts), episodes=tuple(episodes), entities=tuple(entities)
            ),
        )
        if episodes:
            closed = await close_sagas(self._graph, intent)
            changed = {"sagas": closed.sagas, "episode_links": closed.episode_links, "deletions": closed.deletions}
            intent = intent.model_copy(update=changed)
        await self._committer.commit(intent, {})


def _is_within(fact: Fact, copying: Copying) -> bool:
    return {fact.source_uuid, fact.target_uuid} <= copying.entities.keys()


def _parts(uuids: Sequence[str]) -> list[list[str]]:
    return [list(uuids[start : start + PAGE]) for start in range(0, len(uuids), PAGE)]


def _report(
    wanted: Migration,
    copying: Copying,
    beside: _Beside,
    removed: Counts,
    kept: int,
    verifying: Verifying,
) -> MigrationReport:
    attachments, ending, besides = beside
    copied, joined, known = copying.copied.size, copying.joined.size, copying.known.size
    would = "" if wanted.writes else "Nothing was changed. "
    said = f"{would}{size_in_words(copied)} {'copied' if wanted.writes else 'would be copied'} from {wanted.source} to "
    said += f"{wanted.target}; {size_in_words(joined)} were there already, {size_in_words(known)} from an earlier run."
    if with_them := attached_in_words(attachments.copied):
        said += f" With them: {with_them}."
    if wanted.moves and wanted.writes:
        said += f" Removed from {wanted.source}: {size_in_words(removed.size)}."
    elif wanted.moves:
        said += f" With --confirm, they would then be removed from {wanted.source}."
    said += _not_as_there(wanted, copying, (ending, besides), verifying.still_told.total)
    return MigrationReport(
        message=said,
        done=wanted.writes,
        source=wanted.source,
        target=wanted.target,
        copied=copied,
        known=known,
        joined=joined,
        removed=removed.size,
        left=tuple(copying.left.lines),
        left_total=copying.left.total,
        held_back=tuple(copying.held_back.lines),
        held_back_total=copying.held_back.total,
        issues=tuple(copying.issues[:_LISTED]),
        issues_total=len(copying.issues),
        approved=tuple(copying.approved[:_LISTED]),
        approved_total=len(copying.approved),
        attached=attachments.copied,
        attached_known=attachments.known,
        not_copied=NotCopied(**attachments.left.model_dump(), corrected_facts=copying.corrected),
        conflicts=tuple(copying.conflicts.lines),
        forgotten=tuple(copying.forgotten.lines),
        forgotten_total=copying.forgotten.total,
        redacted=tuple(copying.redactions.lines),
        redacted_total=copying.redactions.total,
        ended=ending.ended,
        still_current=tuple(ending.still_current.lines),
        still_current_total=ending.still_current.total,
        differing=tuple(besides.differing.lines),
        differing_total=besides.differing.total,
        kept=kept,
        still_told=tuple(verifying.still_told.lines),
        still_told_total=verifying.still_told.total,
        verified=verifying.digest,
    )


def _not_as_there(wanted: Migration, copying: Copying, beside: tuple[Ending, Besides], still_told: int) -> str:
    """What is in the target otherwise than in the source, and on purpose."""
    ending, besides = beside
    said = ""
    if count := besides.differing.total:
        said += f" {counted(count, 'entity')} {'is' if count == 1 else 'are'} described or reviewed otherwise in "
        said += f"{wanted.target} and {'stays' if count == 1 else 'stay'} so"
        said += f"; {wanted.source} keeps {'it' if count == 1 else 'them'}." if wanted.moves else "."
    if ending.ended:
        would = "ended" if wanted.writes else "would end"
        said += f" {counted(ending.ended, 'fact')} {would} in {wanted.target}, as in {wanted.source}."
    if count := ending.still_current.total:
        said += (
            f" {counted(count, 'fact')} that ended in {wanted.source} {'is' if count == 1 else 'are'} still current "
        )
        said += f"in {wanted.target}."
    gone, redacted = copying.forgotten.total, copying.redactions.total
    if gone:
        said += (
            f" {counted(gone, 'record')} {_was(gone)} forgotten or deleted in {wanted.target}, or tell of what was; "
        )
        said += "not copied."
    if redacted:
        said += f" {counted(redacted, 'episode')} {_was(redacted)} redacted in {wanted.target} and "
        said += f"{'stays' if redacted == 1 else 'stay'} so."
    if gone or redacted:
        them = "it" if gone + redacted == 1 else "them"
        said += f" If nobody needs {them}, forget {them} in {wanted.source} too."
    if still_told:
        it = "it was" if still_told == 1 else "they were"
        said += (
            f" {counted(still_told, 'episode')} lost words in {wanted.source} since {it} copied; {wanted.target} still "
            f"has them. If nobody needs these words, forget them in {wanted.target} too."
        )
    return said


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
