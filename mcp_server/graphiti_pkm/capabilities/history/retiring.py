"""Ends one fact by hand, and undoes endings: one write each, and an answer if there is nothing to do."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from uuid import uuid4

from graphiti_pkm.capabilities.history.models import ChangedFactResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact
from graphiti_pkm.capabilities.history.updating import Updating
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts import endings, outcomes, rules
from graphiti_pkm.core.facts.history import (
    MOST_EVENTS,
    after,
    change_of,
    open_proposals,
    outcome_of,
    restored,
    to_undo,
    with_end_words,
)
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.date_phrases import START_WORDS, DatePeriod, parse_end_phrase
from graphiti_pkm.core.model.records import (
    GOAL_OUTCOME,
    Fact,
    FactChange,
    PlanOutcome,
    RecordedChange,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.dependents import DependentsReader
from graphiti_pkm.core.reading.views import Views
from graphiti_pkm.errors import InvalidInput, NotFound
from graphiti_pkm.storage.commit import Committer

_MAX_REASON = 500
_MOST_FACTS = 10_000
"""More facts of one episode than add_memory can write."""
_SHOWN_UUID = 8


class Retiring:
    """``retire_fact`` and ``restore_fact``."""

    def __init__(self, context: Context, groups: Groups, committer: Committer, updating: Updating) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer
        self._updating = updating
        self._zone = context.settings.zone
        self._views = Views(groups, context.settings.zone, context.now)
        self._dependents = DependentsReader(context.graph)

    async def retire_fact(self, caller: Caller, request: RetireFact) -> ChangedFactResponse:
        """End a fact, or accept the proposal for it; a fact that has ended already is unchanged.

        Without ``invalid_at`` it ends where the proposal says, where its replacement starts, else now.

        Raises:
            InvalidInput: it cannot end, or not then; nothing was changed.
            NotFound: one of the uuids names no fact.
        """
        reason, visible = await self._checked(caller, request.reason)
        told = self._told(request.invalid_at)
        whole = await resolve_within(self._graph, visible, "fact", request.fact_uuid)
        new = request.replaced_by
        if new is not None:
            new = await resolve_within(self._graph, visible, "fact", new)
        group = (await self._fact(whole, visible)).group_id
        async with self._committer.writing(group):
            fact, events = await self._fact(whole, visible), await self._events(whole, visible)
            now = self._context.now()
            recorded_at = after(await self._committer.time(group, now), events)
            proposal = next((one for one in open_proposals(events) if new in {None, one.replaced_by}), None)
            new = new or (proposal.replaced_by if proposal else None)
            by = await self._replacement(new, fact, visible, is_given=request.replaced_by is not None)
            refuse_endless(fact)
            at = told and _end_in(told, fact, by, now)
            end = at or _end(proposal, by) or _present(fact, now)
            end_rule = rules.ended_explicitly if at else rules.ended
            is_moved = told is not None and _is_moved(told, end, fact, now, self._zone)
            open_again = fact.model_copy(update={"invalid_at": end, "expired_at": None}) if is_moved else fact
            ended = end_rule(open_again, rules.end_of(fact, end, self._zone), now, recorded_at)
            outcome = _said_outcome(fact, by, reason)
            is_settled = outcome is not None and outcomes.is_unknown(fact)
            may_end = is_moved or is_settled or rules.still_holds(fact, now) or (fact.kind == "plan" and fact.is_open)
            if fact.voided or not may_end or ended == fact:
                return self._unchanged(fact, f"{self._ended(fact)}; nothing was changed. restore_fact undoes an ending")
            if ended is None:
                raise InvalidInput(self._too_early(fact, end))
            before, ended = fact, _with_words(ended, told, by)
            ended = fact if is_settled and not is_moved else ended
            said = {"reason": reason, "caller": caller.principal}
            change = change_of(
                str(uuid4()),
                fact,
                "retired",
                recorded_at,
                **said,
                replaced_by=by and by.uuid,
                invalid_at=ended.invalid_at or (fact.expired_at if is_settled else None),
            )
            if ended.kind == "plan":
                outcome = outcome or (None if by else outcomes.outcome_by(fact, end, self._zone))
                ended = _with_outcome(ended, outcome_of(fact, by), outcome)
            dependents = await self._dependents.on_facts(group, [whole], now, lambda _: False)
            await self._commit(WriteKind.RETIRE_FACT, group, ended, change, before=before)
        more = f" {dependents.total} fact(s) that follow from it are still current." if dependents.total else ""
        done = "Retired, as proposed" if proposal and at is None else "Retired"
        if is_moved and before.invalid_at is not None:
            done = f"The end, {show_time(before.invalid_at, self._zone)} until now, was moved"
        return ChangedFactResponse(
            message=f"{done}: {self._views.sentence(ended)}. restore_fact undoes it.{more}{_unknown(ended)}",
            fact=self._views.fact(ended, now),
            changed=True,
            still_rests=[f"{one.uuid[:_SHOWN_UUID]} {self._views.sentence(one)}" for one in dependents.facts] or None,
        )

    def _told(self, text: str | None) -> DatePeriod | None:
        """The end that is given; a date such as "last week" counts from now."""
        return parse_end_phrase(text, self._zone, "invalid_at", self._context.now()) if text else None

    async def restore_fact(self, caller: Caller, request: RestoreFact) -> ChangedFactResponse:
        """Undo the last ending or correction of a fact or update of an entity, or reject the proposal for a fact.

        Raises:
            NotFound: the uuid names no fact.
        """
        reason, visible = await self._checked(caller, request.reason)
        try:
            whole = await resolve_within(self._graph, visible, "fact", request.fact_uuid)
            group = (await self._fact(whole, visible)).group_id
        except NotFound:
            return await self._restore_entity(caller, request.fact_uuid, visible, reason)
        async with self._committer.writing(group):
            fact, events = await self._fact(whole, visible), await self._events(whole, visible)
            now = self._context.now()
            recorded_at = after(await self._committer.time(group, now), events)
            proposals, ending = open_proposals(events), to_undo(events)
            said = {"reason": reason, "caller": caller.principal}
            if proposals:
                change = change_of(
                    str(uuid4()), fact, "rejected", recorded_at, **said, replaced_by=proposals[0].replaced_by
                )
                await self._commit(WriteKind.RESTORE_FACT, group, fact, change)
                return ChangedFactResponse(
                    message=f"Rejected what was proposed: {self._views.sentence(fact)} stays as it is.",
                    fact=self._views.fact(fact, now),
                    changed=True,
                )
            if ending is None:
                return self._unchanged(fact, self._nothing_to_undo(fact, now))
            back = restored(fact, ending)
            change = change_of(str(uuid4()), fact, "restored", recorded_at, **said, replaced_by=ending.replaced_by)
            unmarked = await self._only_corrected_by(fact, visible) if ending.kind == "voided" else ()
            await self._commit(WriteKind.RESTORE_FACT, group, back, change, unmarked, fact)
            by = await self._graph.records.get_facts([ending.replaced_by], visible) if ending.replaced_by else []
            left = to_undo([RecordedChange(**dict(change), group_id=group), *events])
            earlier = " It had been ended before that as well: restore_fact again undoes that too." if left else ""
        return ChangedFactResponse(
            message=f"Restored: {self._views.sentence(back)}.{earlier}{self._beside(by, now)}",
            fact=self._views.fact(back, now),
            changed=True,
        )

    async def _restore_entity(
        self, caller: Caller, uuid: str, group_ids: Sequence[str], reason: str
    ) -> ChangedFactResponse:
        """Undo an update. Raises NotFound, as of a fact: what is asked for is neither."""
        try:
            undone = await self._updating.undo(caller, uuid, group_ids, reason)
        except NotFound:
            raise unknown("fact", uuid.strip().lower()) from None
        return ChangedFactResponse(message=undone.message, node=undone.node, changed=undone.changed)

    async def _checked(self, caller: Caller, reason: str) -> tuple[str, tuple[str, ...]]:
        """The reason as stored, and the groups the caller may change."""
        caller.must_write("Nothing was changed.")
        check_text(reason, "reason")
        said = " ".join(reason.split())
        if not said or len(said) > _MAX_REASON:
            raise InvalidInput(f"reason needs 1 to {_MAX_REASON} characters: who said so, or why. Nothing was changed.")
        return said, await self._groups.visible(caller)

    async def _fact(self, uuid: str, group_ids: Sequence[str]) -> Fact:
        found = await self._graph.records.get_facts([uuid], group_ids)
        if not found:
            raise unknown("fact", uuid)
        return found[0]

    async def _events(self, uuid: str, group_ids: Sequence[str]) -> list[RecordedChange]:
        return (await self._graph.changes.fact_changes([uuid], group_ids, MOST_EVENTS))[uuid]

    async def _replacement(
        self, uuid: str | None, fact: Fact, group_ids: Sequence[str], *, is_given: bool
    ) -> Fact | None:
        """The replacing fact; one that was only proposed may be deleted."""
        if uuid is None:
            return None
        if uuid == fact.uuid:
            raise InvalidInput("replaced_by is the fact itself; name the one that took its place, or leave it out.")
        found = await self._graph.records.get_facts([uuid], group_ids)
        if is_given and not found:
            raise unknown("fact", uuid)
        if is_given and found[0].group_id != fact.group_id:
            raise InvalidInput("replaced_by is a fact of another group. Nothing was changed.")
        return found[0] if found else None

    async def _commit(
        self,
        kind: WriteKind,
        group: str,
        fact: Fact,
        change: FactChange,
        unmarked: Sequence[str] = (),
        before: Fact | None = None,
    ) -> None:
        intent = WriteIntent(
            uuid=str(uuid4()),
            group_id=group,
            kind=kind,
            recorded_at=change.recorded_at,
            fact_updates=() if change.kind == "rejected" else (rules.update_of(fact, before or fact),),
            changes=(change,),
            uncorrected_episodes=tuple(unmarked),
        )
        await self._committer.commit(intent, {})

    async def _only_corrected_by(self, fact: Fact, group_ids: Sequence[str]) -> list[str]:
        """Episodes of a fact in which nothing else was wrong."""
        clean = []
        for episode in fact.episodes:
            recorded = await self._graph.facts.episode_facts(episode, group_ids, _MOST_FACTS)
            if not any(other.voided for other in recorded if other.uuid != fact.uuid):
                clean.append(episode)
        return clean

    def _unchanged(self, fact: Fact, message: str) -> ChangedFactResponse:
        return ChangedFactResponse(
            message=f"{message}.", fact=self._views.fact(fact, self._context.now()), changed=False
        )

    def _ended(self, fact: Fact) -> str:
        if fact.voided:
            return "It was corrected already: it never held"
        if fact.invalid_at is None:
            return "It was retired already"
        return f"It ends already at {show_time(fact.invalid_at, self._zone)}"

    def _too_early(self, fact: Fact, end: datetime) -> str:
        start = rules.known_from(fact)
        since = f" from {show_time(start, self._zone)}" if start else ""
        return (
            f"Nothing was changed: the fact is known to hold{since}, so it cannot end at {show_time(end, self._zone)}. "
            "Send a later invalid_at; if it never held, send add_memory with replaces (its uuid) and change corrected."
        )

    def _nothing_to_undo(self, fact: Fact, now: datetime) -> str:
        if rules.still_holds(fact, now):
            return "It is not retired, and nothing is proposed for it; nothing was changed"
        return (
            "Nothing was changed: no recorded change ended it; its end was given with it. If that is wrong, send "
            "add_memory with replaces (its uuid) and change corrected"
        )

    def _beside(self, by: Sequence[Fact], now: datetime) -> str:
        """The replacement, if it still holds."""
        return "".join(
            f" What had replaced it holds on beside it: {one.uuid[:_SHOWN_UUID]} {self._views.sentence(one)}."
            for one in by
            if rules.still_holds(one, now)
        )


def refuse_endless(fact: Fact) -> None:
    """Raise InvalidInput for what has no duration."""
    if fact.kind in {"event", "reading"}:
        raise InvalidInput(
            f"Nothing was changed: {'an event' if fact.kind == 'event' else 'a reading'} is an instant and does not "
            "end. If it is wrong, send add_memory with replaces (its uuid) and change corrected."
        )


def _said_outcome(fact: Fact, by: Fact | None, reason: str) -> PlanOutcome | None:
    """What a reason says became of a plan that did not give way to another one."""
    is_it = fact.kind == "plan" and (by is None or by.kind != "plan")
    return outcomes.outcome_in(reason, fact.text) if is_it else None


def _with_outcome(plan: Fact, outcome: PlanOutcome | None, said: PlanOutcome | None) -> Fact:
    """A plan that has ended, with what became of it: as is said, unless what took its place shows it."""
    if said is None or outcome not in {None, "replaced"}:
        return plan.model_copy(update={"outcome": outcome})
    return plan.model_copy(update={"outcome": outcome, "attributes": {**plan.attributes, GOAL_OUTCOME: said}})


def _unknown(plan: Fact) -> str:
    is_unknown = outcomes.is_unknown(plan)
    return ' What became of it: retire_fact again, with the reason "kept" or "dropped".' if is_unknown else ""


def _present(fact: Fact, now: datetime) -> datetime:
    """Now; but not before the fact is known to hold, if it was recorded before the clock was set back."""
    return now if fact.created_at <= now else max(now, rules.known_from(fact) or now)


def _end(proposal: FactChange | None, by: Fact | None) -> datetime | None:
    """The end given by a proposal, or by the start of the replacement."""
    if proposal is not None and proposal.invalid_at is not None:
        return proposal.invalid_at
    return rules.known_from(by) if by is not None else None


def _end_in(told: DatePeriod, fact: Fact, by: Fact | None, now: datetime) -> datetime:
    """The end that is given; of a period in which its replacement began, that start."""
    begun = None if by is None else by.valid_at
    if begun is not None and told.words is not None and told.has(begun):
        return begun
    return endings.end_in(told, None if fact.kind == "plan" else rules.known_from(fact), now)


def _is_moved(told: DatePeriod, end: datetime, fact: Fact, now: datetime, zone: tzinfo) -> bool:
    """Whether an end is given to what has another one: a later one, or any if it has ended.

    That of a plan is the day on which it was dropped.
    """
    if fact.kind != "state" or fact.voided or fact.invalid_at is None:
        return False
    return endings.is_other_end(told, fact, zone) and (end > fact.invalid_at or not rules.still_holds(fact, now))


def _with_words(fact: Fact, told: DatePeriod | None, by: Fact | None) -> Fact:
    """The fact with the words in which its end, or the start of what replaced it, was told."""
    words: object = told and told.words and told.words.removeprefix("by ")
    if told is None and by is not None and by.valid_at == fact.invalid_at:
        words = by.attributes.get(START_WORDS)
    return with_end_words(fact, words)
