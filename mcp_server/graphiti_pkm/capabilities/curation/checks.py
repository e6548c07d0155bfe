"""``curate run``: looks through a whole group for what somebody should look at, and flags it; a person decides."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import get_args

from graphiti_pkm.capabilities.curation.merging import BAR
from graphiti_pkm.capabilities.curation.models import CheckReport, CurateReport, FindingView, State
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.reviews import flag_of, intent_of
from graphiti_pkm.capabilities.curation.similar import Pair, Similar, cosine, text_of, vectors_of
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.resolution import PERSON_LABEL
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.quality_checks import CHECKS, LOW_CONFIDENCE, REASONS, Check, is_settled, with_findings
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Quality
from graphiti_pkm.core.model.targets import target_of
from graphiti_pkm.core.reading.paging import Key
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import PermissionDenied, Unavailable
from graphiti_pkm.storage.commit import Committer

_BEFORE_PROMOTION: frozenset[Check] = frozenset({"orphans", "low-confidence", "duplicates"})
"""Checks that have to find nothing for an entity of staging to be approved."""
_STALE = timedelta(days=30)
_NEW = timedelta(days=7)
_NEIGHBOURS = 50
_FEWEST_NEIGHBOURS = 2
_NEAREST = 5
_DISTANT = 0.2
"""Cosine of names and summaries under which two have nothing to do with each other, as far as words tell.

With the local model, comics linked to diseases have at most 0.12, drugs and hospitals linked to them 0.23 or more."""
_CLOSE = 0.45
"""From here on there is something in the group that an entity would fit to. Without it, no place is a wrong one."""
_PAGE = 200
_SHOWN = 100
_STATES: tuple[State, ...] = get_args(State)
_NAME = 200


@dataclass(frozen=True)
class _Finding:
    entity: Entity
    detail: str = ""
    """What the report shows beside the name."""
    found_with: str | None = None
    """The other entity, or the plan."""
    pair: Pair | None = None
    """Of duplicates; both have a finding, one after the other."""


@dataclass
class _Round:
    """What one run has come to."""

    writes: bool
    flagged: set[str] = field(default_factory=set)
    """Entities that this run flagged, or would flag."""
    approved: int = 0
    reports: list[CheckReport] = field(default_factory=list)


@dataclass
class _Tally:
    """What one check has found so far."""

    entities: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    new: int = 0
    settled: int = 0
    shown: list[FindingView] = field(default_factory=list)

    def take(self, pair: Pair, states: Mapping[str, State]) -> None:
        """A pair once, however often its ends are found; ``states``: of entities that are still there."""
        if pair.key in self.pairs or not {pair.one.uuid, pair.other.uuid} <= states.keys():
            return
        self.pairs.add(pair.key)
        state = min((states[pair.one.uuid], states[pair.other.uuid]), key=_STATES.index)
        self.show(pair.one, f"{clipped(pair.other.name, _NAME)}, {pair.similarity:.3f}", state, pair.other.uuid)

    def show(self, entity: Entity, detail: str, state: State, other_uuid: str | None = None) -> None:
        if len(self.shown) < _SHOWN:
            name = clipped(entity.name, _NAME)
            self.shown.append(
                FindingView(entity_uuid=entity.uuid, name=name, detail=detail, state=state, other_uuid=other_uuid)
            )


class Checks(Reader):
    """Finds, and flags for review; merges, ends and deletes nothing."""

    def __init__(
        self, context: Context, groups: Groups, stored: GraphCuration, committer: Committer, similar: Similar
    ) -> None:
        super().__init__(context, groups)
        self._stored = stored
        self._committer = committer
        self._similar = similar
        self._found: Mapping[Check, Callable[[str], AsyncIterator[list[_Finding]]]] = {
            "orphans": self._orphans,
            "low-confidence": self._low_confidence,
            "stale-plans": self._stale_plans,
            "duplicates": self._duplicates,
            "placement": self._placement,
        }

    async def run(self, caller: Caller, group_id: str | None, checks: Sequence[Check], *, writes: bool) -> CurateReport:
        """Look through a group and flag what is found, part by part; what an earlier part flagged stays flagged.

        Raises:
            NotAllowed, PermissionDenied: the caller may not read or flag in this group; nothing was changed.
            WriteFailed, Unavailable: it stopped; repeating it goes on.
        """
        group = self._groups.one(caller, group_id)
        if caller.read_only or not self._groups.may(caller, group, "librarian"):
            raise PermissionDenied("Nothing was changed: checks are for librarians.")
        name, work = self._groups.public(group), _Round(writes)
        for check in (one for one in CHECKS if one in checks):
            work.reports.append(await self._checked(caller, group, check, work))
        failed = [one.check for one in work.reports if one.failed]
        if target_of(name) == "staging" and _BEFORE_PROMOTION.issubset(checks) and not failed:
            await self._approve(group, work)
        would = "would be " if not writes else ""
        said = f"{name}: {len(work.flagged)} entities {would}newly flagged"
        said += f", {work.approved} {would}approved." if work.approved else "."
        return CurateReport(
            message=said,
            group=name,
            done=writes,
            newly_flagged=len(work.flagged),
            approved=work.approved,
            checks=tuple(work.reports),
        )

    async def _checked(self, caller: Caller, group: str, check: Check, work: _Round) -> CheckReport:
        tally, failed = _Tally(), None
        try:
            async for findings in self._found[check](group):
                await self._flag(caller, group, check, findings, work, tally)
        except Unavailable as error:
            failed = error.message
        return CheckReport(
            check=check,
            reason=REASONS[check],
            found=len(tally.pairs) if check == "duplicates" else len(tally.entities),
            newly_flagged=tally.new,
            settled=tally.settled,
            entities=tuple(tally.shown),
            failed=failed,
        )

    # What is found

    async def _orphans(self, group: str) -> AsyncIterator[list[_Finding]]:
        after: Key | None = None
        while page := await self._stored.orphans(group, Window(limit=_PAGE, after=after)):
            yield [_Finding(one) for one in page]
            after = (page[-1].uuid,)

    async def _low_confidence(self, group: str) -> AsyncIterator[list[_Finding]]:
        after: Key | None = None
        while page := await self._stored.rated_below(group, LOW_CONFIDENCE, Window(limit=_PAGE, after=after)):
            rated = {one.uuid: one for one in page}
            entities = await self._graph.records.get_entities(list(rated), [group])
            yield [_Finding(one, f"confidence {rated[one.uuid].confidence:g}") for one in entities]
            after = (page[-1].uuid,)

    async def _stale_plans(self, group: str) -> AsyncIterator[list[_Finding]]:
        """Of each entity the plan with the latest day; the thing planned is flagged, not who plans it."""
        now = self._context.now()
        long_ago, seen = now - _STALE, set[str]()
        wanted = FactFilter(group_ids=(group,), now=now, status="planned", kinds=("plan",), valid_before=long_ago)
        after: Key | None = None
        while True:
            page = await self._graph.facts.group_facts(wanted, Window(limit=_PAGE, after=after))
            plans = [
                one
                for one in page.facts
                if one.valid_at is not None and (one.invalid_at is None or one.invalid_at < long_ago)
            ]
            uuids = list(dict.fromkeys(uuid for one in plans for uuid in (one.target_uuid, one.source_uuid)))
            ends = {one.uuid: one for one in await self._graph.records.get_entities(uuids, [group])}
            named = await self._similar.named(list(ends.values()), group)
            found = []
            for plan in plans:
                subject = plan.target_uuid if plan.target_uuid in named else plan.source_uuid
                if subject in ends and subject not in seen:
                    seen.add(subject)
                    found.append(_Finding(ends[subject], clipped(plan.text, _NAME), plan.uuid))
            yield found
            if len(page.facts) < _PAGE:
                return
            after = page.keys[-1]

    async def _duplicates(self, group: str) -> AsyncIterator[list[_Finding]]:
        async for pairs in self._similar.of_group(group, BAR):
            yield [
                _Finding(one, found_with=other.uuid, pair=pair)
                for pair in pairs
                for one, other in ((pair.one, pair.other), (pair.other, pair.one))
            ]

    async def _placement(self, group: str) -> AsyncIterator[list[_Finding]]:
        """New entities whose neighbours are all distant, while others of the group are close."""
        since, after = self._context.now() - _NEW, None
        while page := await self._stored.made_since(group, since, Window(limit=_PAGE, after=after)):
            named = await self._similar.named(page, group)
            # Names of people say nothing about what they belong to.
            asked = [one for one in page if one.uuid in named and one.label != PERSON_LABEL]
            yield [one for one in [await self._misplaced(group, entity) for entity in asked] if one is not None]
            after = (page[-1].uuid,)

    async def _misplaced(self, group: str, entity: Entity) -> _Finding | None:
        wanted = FactFilter(group_ids=(group,), now=self._context.now())
        counted = await self._graph.facts.fact_counts(entity.uuid, wanted, _NEIGHBOURS, 0)
        uuids = [one.entity_uuid for one in counted.neighbours if one.entity_uuid != entity.uuid]
        neighbours = await self._graph.records.get_entities(uuids, [group])
        named = await self._similar.named(neighbours, group)
        neighbours = [one for one in neighbours if one.uuid in named]
        # Without a summary a made-up name means nothing, and is distant from everything.
        if sum(bool(one.summary) for one in neighbours) < _FEWEST_NEIGHBOURS:
            return None
        texts = [text_of(one) for one in (entity, *neighbours)]
        vectors = await vectors_of(self._context.embedder, [entity.name, *texts])
        if max(cosine(vectors[texts[0]], vectors[text]) for text in texts[1:]) >= _DISTANT:
            return None
        near = await self._graph.search.nearest_entities(
            vectors[entity.name], EntityFilter(group_ids=(group,)), _NEAREST + 1
        )
        others = {uuid: score for uuid, score in near.items() if uuid != entity.uuid}
        nearest = sorted(others, key=lambda uuid: (-others[uuid], uuid))[:_NEAREST]
        if not nearest or others[nearest[0]] < _CLOSE or set(nearest) & {one.uuid for one in neighbours}:
            return None
        return _Finding(entity, f"linked to {', '.join(clipped(one.name, _NAME) for one in neighbours[:_NEAREST])}")

    # What is said of it

    async def _flag(
        self, caller: Caller, group: str, check: Check, findings: Sequence[_Finding], work: _Round, tally: _Tally
    ) -> None:
        by_entity: dict[str, list[_Finding]] = {}
        for finding in findings:
            by_entity.setdefault(finding.entity.uuid, []).append(finding)
        if not by_entity:
            return
        async with self._committer.writing(group):
            there = {one.uuid for one in await self._graph.records.get_entities(list(by_entity), [group])}
            before = await self._stored.qualities(list(by_entity), [group])
            at = await self._committer.time(group, self._context.now())
            changed, states = list[Quality](), dict[str, State]()
            for uuid, found in by_entity.items():
                if uuid not in there:
                    continue
                held = before.get(uuid) or Quality(uuid=uuid, group_id=group)
                others = tuple(dict.fromkeys(one.found_with for one in found if one.found_with is not None))
                is_flagged = held.is_flagged or uuid in work.flagged
                settled = uuid not in work.flagged and is_settled(held, check, others)
                states[uuid] = "flagged" if is_flagged else "settled" if settled else "new"
                if states[uuid] == "new":
                    work.flagged.add(uuid)
                    tally.new += 1
                    flagged = held.model_copy(update=flag_of(REASONS[check], caller, at))
                    changed.append(with_findings(flagged, check, others))
                if uuid not in tally.entities:
                    tally.entities.add(uuid)
                    tally.settled += settled
                    if check != "duplicates":
                        detail = "; ".join(one.detail for one in found if one.detail)
                        tally.show(found[0].entity, detail, states[uuid])
            for pair in (one.pair for one in findings if one.pair is not None):
                tally.take(pair, states)
            if changed and work.writes:
                await self._committer.commit(intent_of(changed, group, at), {})

    async def _approve(self, group: str, work: _Round) -> None:
        """What is not flagged, once all checks have looked at it."""
        after: Key | None = None
        while True:
            wanted = EntityFilter(group_ids=(group,))
            page, _ = await self._graph.records.entity_page(wanted, Window(limit=_PAGE, after=after))
            uuids = [one.uuid for one in page]
            async with self._committer.writing(group):
                there = [one.uuid for one in await self._graph.records.get_entities(uuids, [group])]
                before = await self._stored.qualities(there, [group])
                at = await self._committer.time(group, self._context.now())
                held = [before.get(uuid) or Quality(uuid=uuid, group_id=group) for uuid in there]
                approved = [
                    one.model_copy(update={"approved_at": at})
                    for one in held
                    if not one.is_flagged and one.approved_at is None and one.uuid not in work.flagged
                ]
                work.approved += len(approved)
                if approved and work.writes:
                    await self._committer.commit(intent_of(approved, group, at), {})
            if len(page) < _PAGE:
                return
            after = (page[-1].name, page[-1].uuid)
