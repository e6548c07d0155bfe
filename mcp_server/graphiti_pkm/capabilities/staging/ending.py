"""Ends in the target what was copied there and ended, or was corrected, in the source since."""

from collections.abc import Sequence
from uuid import uuid4

from graphiti_pkm.capabilities.staging.copying import Copying
from graphiti_pkm.capabilities.staging.counting import Found
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import MOST_EVENTS, change_of, to_undo, with_end_words
from graphiti_pkm.core.facts.rules import update_of
from graphiti_pkm.core.model.date_phrases import END_WORDS
from graphiti_pkm.core.model.records import Fact, FactChange, FactUpdate, RecordedChange


class Ending:
    """Of one copy; both locks are held."""

    def __init__(self, context: Context, copying: Copying) -> None:
        self._graph = context.graph
        self._copying = copying
        self.ended = 0
        self.still_current = Found()
        """Facts that ended there and hold here: the target states them by itself, or somebody changed them here."""

    async def bring(self, facts: Sequence[Fact]) -> None:
        """End the copies of some. Raises as ``Committer.commit``."""
        copying = self._copying
        over = {copying.copy_of(one.uuid): one for one in facts if _has_ended(one)}
        if not over:
            return
        found = await self._graph.records.get_facts(list(over), [copying.target])
        here = {one.uuid: one for one in found if _end(one) != _end(over[one.uuid])}
        if not here:
            return
        events = await self._graph.changes.fact_changes(list(here), [copying.target], MOST_EVENTS)
        unchanged = {uuid for uuid, one in here.items() if self._is_unchanged(one, over[uuid], events[uuid])}
        for uuid, one in here.items():
            if uuid not in unchanged and one.is_open:
                self.still_current.add(one.text)
                copying.staying.add(over[uuid].uuid)
        if unchanged:
            await self._write([(over[uuid], here[uuid]) for uuid in unchanged])

    def _is_unchanged(self, here: Fact, there: Fact, events: Sequence[RecordedChange]) -> bool:
        """Whether one is a copy of the other, and nobody has said anything of it here since it was copied."""
        copying, counterparts = self._copying, self._copying.counterparts
        if (at := counterparts.copied_at(here.uuid, there.uuid)) is not None:
            events = [one for one in events if one.recorded_at > at]
        elif not counterparts.is_made(here.uuid, there.uuid):
            return False
        return here.valid_at == there.valid_at and all(one.reason == copying.reason for one in events)

    async def _write(self, pairs: Sequence[tuple[Fact, Fact]]) -> None:
        copying = self._copying
        self.ended += len(pairs)
        copying.ending.update(here.uuid for _, here in pairs)
        told = await self._graph.changes.fact_changes([one.uuid for one, _ in pairs], [copying.source], MOST_EVENTS)
        intent = await copying.intent(())
        updates: list[FactUpdate] = []
        changes: list[FactChange] = []
        for there, here in pairs:
            values = {
                "voided": there.voided,
                "invalid_at": there.invalid_at,
                "expired_at": there.expired_at and intent.recorded_at,
            }
            ended = with_end_words(here.model_copy(update=values), there.attributes.get(END_WORDS))
            updates.append(update_of(ended, here))
            changes.append(
                change_of(
                    str(uuid4()),
                    here,
                    "voided" if there.voided else "retired",
                    intent.recorded_at,
                    replaced_by=self._replacement(told[there.uuid]),
                    invalid_at=ended.invalid_at,
                    reason=copying.reason,
                    caller=copying.principal,
                )
            )
        await copying.commit(intent.model_copy(update={"fact_updates": tuple(updates), "changes": tuple(changes)}))

    def _replacement(self, events: Sequence[RecordedChange]) -> str | None:
        """What took its place there, as it is or will be here: what became of a plan is read from that."""
        ending = to_undo(events)
        return ending.replaced_by and self._copying.copy_of(ending.replaced_by) if ending else None


def _has_ended(fact: Fact) -> bool:
    return not fact.is_open or fact.invalid_at is not None


def _end(fact: Fact) -> tuple[object, ...]:
    return fact.voided, fact.is_open, fact.invalid_at
