"""The facts that one call touches: as they were read, and as the call leaves them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from graphiti_pkm.domain.names import measure_key
from graphiti_pkm.domain.records import Fact, FactUpdate
from graphiti_pkm.services.fact_rules import update_of
from graphiti_pkm.services.spelling import same_relation


class FactWorld:
    """Facts by uuid; what a call creates or changes is seen by its later facts."""

    def __init__(self, known: Iterable[Fact] = (), ended: Mapping[str, Sequence[str]] | None = None) -> None:
        """``ended``: facts whose place others took, by the uuid of the one that did."""
        self._ended = ended or {}
        self._before = {fact.uuid: fact for fact in known}
        self._known = dict(self._before)
        self._created: dict[str, Fact] = {}
        self._changed: set[str] = set()

    @property
    def created(self) -> tuple[Fact, ...]:
        """New facts in the order in which they were told."""
        return tuple(self._created.values())

    @property
    def updates(self) -> tuple[FactUpdate, ...]:
        """Known facts with new values."""
        return tuple(update_of(self._known[uuid], fact) for uuid, fact in self._before.items() if uuid in self._changed)

    @property
    def known(self) -> tuple[Fact, ...]:
        """Facts from before the call, as it leaves them."""
        return tuple(self._known.values())

    def latest(self, fact: Fact) -> Fact:
        """A fact as the call has left it so far."""
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

    def change(self, fact: Fact) -> None:
        """New values of a fact."""
        if fact.uuid in self._created:
            self._created[fact.uuid] = fact
        elif self._known[fact.uuid] != fact:
            self._known[fact.uuid] = fact
            self._changed.add(fact.uuid)

    def with_relation(self, source_uuid: str, relations: Iterable[str]) -> list[Fact]:
        """Facts of a source with any of these relations, however they are spelt; newest first."""
        wanted = list(relations)
        return [
            fact
            for fact in self._newest_first()
            if fact.source_uuid == source_uuid and any(same_relation(fact.relation, one) for one in wanted)
        ]

    def into(self, target_uuid: str, relation: str, *, not_from: str) -> list[Fact]:
        """Facts of other sources with this relation to a target, newest first."""
        return [
            fact
            for fact in self._newest_first()
            if fact.target_uuid == target_uuid
            and fact.source_uuid != not_from
            and same_relation(fact.relation, relation)
        ]

    def beside(self, source_uuid: str, target_uuid: str | None) -> list[Fact]:
        """Facts out of a source, and into a target if one is given, under any relation; newest first."""
        return [
            fact for fact in self._newest_first() if fact.source_uuid == source_uuid or fact.target_uuid == target_uuid
        ]

    def ended_by(self, uuid: str) -> list[Fact]:
        """Facts whose place a fact took before the call."""
        return [self._known[one] for one in self._ended.get(uuid, ()) if one in self._known]

    def series(self, source_uuid: str, measure: str) -> list[Fact]:
        """Readings of one series in order of time."""
        readings = [
            fact
            for fact in (*self._known.values(), *self._created.values())
            if fact.kind == "reading"
            and not fact.voided
            and fact.source_uuid == source_uuid
            and measure_key(fact.measure or "") == measure_key(measure)
        ]
        return sorted(readings, key=_read_at)

    def measures(self, source_uuid: str) -> list[str]:
        """Names of the series that the call itself has begun."""
        return [fact.measure for fact in self._created.values() if fact.source_uuid == source_uuid and fact.measure]

    def series_told_as(self, source_uuid: str, relation: str, unit: str | None) -> list[str]:
        """The series of a source to which readings with this relation went; a unit of its own keeps one apart."""
        told = [fact for fact in self.with_relation(source_uuid, [relation]) if fact.kind == "reading"]
        alike = [fact for fact in told if unit is None or fact.unit in {None, unit}]
        return sorted({fact.measure for fact in alike if fact.measure and not fact.voided})

    def _newest_first(self) -> list[Fact]:
        known = sorted(self._known.values(), key=lambda fact: fact.created_at, reverse=True)
        return [*reversed(self._created.values()), *known]


def _read_at(fact: Fact) -> tuple[datetime, datetime]:
    return (fact.valid_at or fact.reference_time or fact.created_at, fact.created_at)
