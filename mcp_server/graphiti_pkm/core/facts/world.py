"""The facts that one call touches, before and after it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from graphiti_pkm.core.facts.rules import update_of
from graphiti_pkm.core.facts.sentences import sentence_key
from graphiti_pkm.core.identity.near_relations import Measures
from graphiti_pkm.core.model.names import measure_key, normalise_name
from graphiti_pkm.core.model.records import Fact, FactUpdate


class FactWorld:
    """Facts by uuid; later facts of the call see what earlier ones created or changed.

    Entities, relation and measure of a fact never change, so lookups by them are indexed.
    """

    def __init__(
        self,
        known: Iterable[Fact] = (),
        ended: Mapping[str, Sequence[str]] | None = None,
        ends_told: Mapping[str, datetime] | None = None,
    ) -> None:
        """``ended``: replaced facts, by the uuid of the fact that replaced them.

        ``ends_told``: when the notes were written that told the known ends of facts.
        """
        self._ended = ended or {}
        self._ends_told = ends_told or {}
        self._before = {fact.uuid: fact for fact in known}
        self._known = dict(self._before)
        self._created: dict[str, Fact] = {}
        self._changed: set[str] = set()
        self._age: dict[str, int] = {}
        """A lower number is newer."""
        self._from: defaultdict[str, list[str]] = defaultdict(list)
        self._to: defaultdict[str, list[str]] = defaultdict(list)
        self._from_by: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._to_by: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._readings: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._saying: defaultdict[str, list[str]] = defaultdict(list)
        self._begun: defaultdict[str, Measures] = defaultdict(Measures)
        newest_first = sorted(self._before.values(), key=lambda fact: fact.created_at, reverse=True)
        self._age.update((fact.uuid, age) for age, fact in enumerate(newest_first))
        for fact in self._before.values():
            self._index(fact)

    @property
    def created(self) -> tuple[Fact, ...]:
        """New facts in the order of the call."""
        return tuple(self._created.values())

    @property
    def updates(self) -> tuple[FactUpdate, ...]:
        """Known facts with new values."""
        return tuple(update_of(self._known[uuid], fact) for uuid, fact in self._before.items() if uuid in self._changed)

    @property
    def known(self) -> tuple[Fact, ...]:
        """Facts that existed before the call, in their present state."""
        return tuple(self._known.values())

    def follows_from(self, cause: str, uuid: str) -> bool:
        """Whether a cause is this fact, or follows from it as far as the facts are known here."""
        seen: set[str] = set()
        while cause not in seen and cause != uuid:
            seen.add(cause)
            fact = self._created.get(cause) or self._known.get(cause)
            cause = (fact.cause_uuid if fact else None) or cause
        return cause == uuid

    def learn(self, facts: Iterable[Fact]) -> None:
        """Facts read after the call was planned, which it changes as a consequence; those known already stay."""
        for fact in facts:
            if fact.uuid not in self._created:
                self._before.setdefault(fact.uuid, fact)
                self._known.setdefault(fact.uuid, fact)

    def starting_with(self, prefix: str) -> list[Fact]:
        """Facts whose uuid starts so, also those of the call."""
        return [fact for fact in (*self._known.values(), *self._created.values()) if fact.uuid.startswith(prefix)]

    def latest(self, fact: Fact) -> Fact:
        """The present state of a fact."""
        return self._created.get(fact.uuid) or self._known.get(fact.uuid) or fact

    def touched(self, uuid: str) -> bool:
        """Whether the call created or changed this fact."""
        return uuid in self._created or uuid in self._changed

    def is_new(self, uuid: str) -> bool:
        """Whether the call created this fact."""
        return uuid in self._created

    def add(self, fact: Fact) -> None:
        """A new fact."""
        self._created[fact.uuid] = fact
        self._age[fact.uuid] = -len(self._created)
        self._index(fact)
        if fact.measure:
            self._begun[fact.source_uuid].add(fact.measure)

    def change(self, fact: Fact) -> None:
        """New values of a fact."""
        if fact.uuid in self._created:
            self._created[fact.uuid] = fact
        elif self._known[fact.uuid] != fact:
            self._known[fact.uuid] = fact
            self._changed.add(fact.uuid)

    def with_relation(self, source_uuid: str, relations: Iterable[str]) -> list[Fact]:
        """Facts of a source with any of these relations, in any spelling; newest first."""
        wanted = dict.fromkeys(map(normalise_name, relations))
        return self._newest_first(uuid for one in wanted for uuid in self._from_by.get((source_uuid, one), ()))

    def into(self, target_uuid: str, relation: str, *, not_from: str) -> list[Fact]:
        """Facts of other sources with this relation to a target, newest first."""
        found = self._newest_first(self._to_by.get((target_uuid, normalise_name(relation)), ()))
        return [fact for fact in found if fact.source_uuid != not_from]

    def saying(self, sentence: str) -> list[Fact]:
        """Facts with just this sentence, newest first."""
        return self._newest_first(self._saying.get(sentence_key(sentence), ()))

    def facts_at(self, source_uuid: str, target_uuid: str | None) -> list[Fact]:
        """Facts from a source, or to a target if one is given, under any relation; newest first."""
        into = () if target_uuid is None else self._to.get(target_uuid, ())
        return self._newest_first({*self._from.get(source_uuid, ()), *into})

    def ended_by(self, uuid: str) -> list[Fact]:
        """Facts that this fact had replaced before the call."""
        return [self._known[one] for one in self._ended.get(uuid, ()) if one in self._known]

    def end_told_at(self, fact: Fact) -> datetime | None:
        """When the note was written that told the end of a known fact; None if this call did."""
        before = self._before.get(fact.uuid)
        if before is None or before.invalid_at != self.latest(fact).invalid_at:
            return None
        return self._ends_told.get(fact.uuid, fact.reference_time)

    def series(self, source_uuid: str, measure: str) -> list[Fact]:
        """Readings of one series, ordered by time."""
        readings = map(self._get, self._readings.get((source_uuid, measure_key(measure)), ()))
        return sorted((fact for fact in readings if not fact.voided), key=_read_at)

    def begun(self, source_uuid: str) -> Measures:
        """Series that the call itself has begun."""
        return self._begun[source_uuid]

    def series_recorded_as(self, source_uuid: str, relation: str, unit: str | None) -> list[str]:
        """The series of a source that hold readings of this relation; a unit given must match."""
        readings = [fact for fact in self.with_relation(source_uuid, [relation]) if fact.kind == "reading"]
        alike = [fact for fact in readings if unit is None or fact.unit in {None, unit}]
        return sorted({fact.measure for fact in alike if fact.measure and not fact.voided})

    def _index(self, fact: Fact) -> None:
        relation = normalise_name(fact.relation)
        self._from[fact.source_uuid].append(fact.uuid)
        self._to[fact.target_uuid].append(fact.uuid)
        self._from_by[fact.source_uuid, relation].append(fact.uuid)
        self._to_by[fact.target_uuid, relation].append(fact.uuid)
        self._saying[sentence_key(fact.text)].append(fact.uuid)
        if fact.kind == "reading":
            self._readings[fact.source_uuid, measure_key(fact.measure or "")].append(fact.uuid)

    def _newest_first(self, uuids: Iterable[str]) -> list[Fact]:
        return [self._get(uuid) for uuid in sorted(uuids, key=self._age.__getitem__)]

    def _get(self, uuid: str) -> Fact:
        return self._created.get(uuid) or self._known[uuid]


def _read_at(fact: Fact) -> tuple[datetime, datetime]:
    return (fact.valid_at or fact.reference_time or fact.created_at, fact.created_at)
