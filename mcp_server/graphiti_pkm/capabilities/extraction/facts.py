"""Plans the facts that a model found: the rules for callers' facts, without what only a caller may do."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.fact_plan import FactContext, FactPlanner
from graphiti_pkm.core.facts import endings, rules
from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.resolution import Resolution
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.near_relations import Relations
from graphiti_pkm.core.identity.spelling import same_relation
from graphiti_pkm.core.model.records import Fact


class FoundFactPlanner(FactPlanner):
    """Plans facts of a stored episode: its caller's facts take precedence, and every ending is the server's choice."""

    def __init__(
        self,
        context: FactContext,
        resolution: Resolution,
        world: FactWorld,
        relations: Relations,
        measures: Mapping[str, Mapping[str, int]],
        writer: AttentionWriter,
        new_uuid: Callable[[], str],
    ) -> None:
        super().__init__(context, resolution, world, relations, measures, writer, new_uuid)
        self._of_episode = {fact.uuid for fact in world.known if context.episode_uuid in fact.episodes}
        """Facts that the episode supported before."""
        self._found: set[str] = set()
        """Those of them that the model found."""

    def take(self, parsed: ParsedFact, known_uuid: str | None) -> Fact | None:
        """Add the next fact; ``known_uuid``: the one that the model says it repeats.

        None if a caller has corrected the same fact: it is not found again.
        """
        held = self._recorded_by_episode(parsed)
        if held is None and known_uuid is not None:
            known = self._known(known_uuid)
            if known is not None and known.kind != "state":
                held = known
            elif known is not None:
                parsed = replace(parsed, text=known.text)
        if held is None:
            self.plan(parsed)
        elif held.voided:
            return None
        else:
            self._found_again(parsed, held)
        return self._by_uuid(self.outcome.results[-1].uuid)

    def end(self, old_uuid: str, by: Fact, at: datetime, settled: Collection[str]) -> None:
        """End an older state, or only propose it; ``settled``: facts that this episode has ended before.

        The episode's own facts stay as they are, as do facts with an end and facts that hold only later.
        """
        old = self._by_uuid(old_uuid)
        if old is None or old_uuid in settled or old.kind != "state" or old.invalid_at or not old.is_open:
            return
        if old_uuid in self._of_episode or old_uuid == by.uuid:
            return
        end, start = rules.end_of(old, at, self._at.zone), rules.known_from(old)
        if start is not None and end <= start:
            return
        if self._is_trusted(old, by):
            self.retirements.retire(old, end, by)
        else:
            self._propose(old, by, end)

    def _is_trusted(self, old: Fact, by: Fact) -> bool:
        """Whether an ending is trusted. One relation is not enough: Tom may begin where Sarah still is."""
        shares_end = {old.source_uuid, old.target_uuid} & {by.source_uuid, by.target_uuid}
        is_free = self.retirements.policy == "automatic"
        return self.retirements.is_done(old, by) and (is_free or bool(shares_end))

    def _end_chosen(self, parsed: ParsedFact, fact: Fact, chosen: list[Fact], start: datetime) -> None:
        others = [old for old in chosen if old.uuid not in self._of_episode]
        super()._end_chosen(parsed, fact, others, start)

    def _close(self, parsed: ParsedFact, closed: endings.Closed) -> None:
        """Close a known fact whose end is given: same entities, so it is done unless endings are only proposed."""
        closed = replace(closed, ended=tuple(old for old in closed.ended if old.uuid not in self._of_episode))
        if self.retirements.policy != "propose":
            super()._close(parsed, closed)
        else:
            for old in closed.ended:
                end = endings.closing_end(parsed, old, self._at.reference_time, self._at.zone)
                if end is not None:
                    self.retirements.propose(old, end, None)

    def _fulfil(self, parsed: ParsedFact, fact: Fact, pool: list[Fact]) -> None:
        """Does nothing: a model reads plans as if they were facts, so only a caller says that a plan was fulfilled."""

    def _recorded_by_episode(self, parsed: ParsedFact) -> Fact | None:
        """An earlier fact of the episode with the same entities and relation, whatever its words; any status."""
        source, target = self._resolution.known(parsed.source), self._resolution.known(parsed.target)
        alike = [
            fact
            for fact in self._world.known
            if fact.uuid in self._of_episode
            and fact.source_uuid == source
            and same_relation(fact.relation, parsed.relation)
            and (fact.target_uuid == target or parsed.is_status)
            and fact.uuid not in self._found
        ]
        same = [fact for fact in alike if rules.same_text(fact.text, parsed.text)]
        chosen = next(iter((*same, *alike)), None)
        if chosen is not None:
            self._found.add(chosen.uuid)
        return chosen

    def _found_again(self, parsed: ParsedFact, held: Fact) -> None:
        """Add the episode to the fact; a state also gains the start that it lacked."""
        if held.kind != "state":
            parsed = replace(parsed, valid_at=None, invalid_at=None)
        fact = self._record_again(parsed, held)
        self._answer(parsed, fact, held, is_updated=False)

    def _known(self, uuid: str) -> Fact | None:
        return next((fact for fact in self._world.known if fact.uuid == uuid), None)

    def _by_uuid(self, uuid: str) -> Fact | None:
        return next((fact for fact in (*self._world.created, *self._world.known) if fact.uuid == uuid), None)
