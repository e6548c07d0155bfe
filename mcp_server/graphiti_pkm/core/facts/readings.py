"""Decides which series a reading belongs to, and what is shown of the series."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.near_relations import Measures, near_measure
from graphiti_pkm.core.identity.spelling import measure_form
from graphiti_pkm.core.model.date_phrases import START_WORDS, words_at
from graphiti_pkm.core.model.names import fold, normalise_name
from graphiti_pkm.core.model.records import CONFIDENTIAL, Fact
from graphiti_pkm.core.model.times import show_time

_SHOWN = 3
_READINGS = frozenset({"reading", "readings"})


def asks_for_readings(query: str) -> bool:
    """Whether a query says that it wants readings: "readings of sleep"."""
    return not _READINGS.isdisjoint(fold(query).split())


def measures_in(query: str, measures: Iterable[str]) -> tuple[str, ...]:
    """The measures that a query names; "sleep quality" does not name sleep."""
    words = measure_form(query)
    named = {measure: form for measure in measures if (form := measure_form(measure)) <= words}
    return tuple(measure for measure, form in named.items() if not any(form < other for other in named.values()))


@dataclass(frozen=True)
class Readings:
    """The series of each source, including those that the call itself begins."""

    world: FactWorld
    measures: Mapping[str, Mapping[str, int]]
    """Series that existed before the call, by source."""
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other names of the measures that the call gives readings of."""
    _compared: dict[str, Measures] = field(default_factory=dict)

    def in_series(self, parsed: ParsedFact, source_uuid: str) -> ParsedFact:
        """Put a reading into its series, under the name of that series.

        Without a measure it joins the series of its relation, if there is exactly one.
        """
        if parsed.kind != "reading" or parsed.measure is None:
            return parsed
        others = self.names.get(parsed.measure, ())
        series = near_measure(parsed.measure, *self._existing(source_uuid), other_names=others)
        if series is None and not parsed.is_named:
            before = self.world.series_recorded_as(source_uuid, parsed.relation, parsed.unit)
            series = before[0] if len(before) == 1 else None
        series = series or parsed.measure
        return replace(parsed, measure=series, target=parsed.target if parsed.has_target else series)

    def may_be_another(self, sent: str, reading: Fact) -> bool:
        """Whether the name of a reading's series is so different that the reading may belong to another one.

        "hours of sleep" is sleep; a "sleep score" in another unit may not be, nor what differs by a typo.
        """
        series = reading.measure or ""
        if normalise_name(series) in {normalise_name(name) for name in (sent, *self.names.get(sent, ()))}:
            return False
        if measure_form(sent) != measure_form(series):
            return True
        units = {one.unit for one in self._series(reading) if one.unit is not None}
        return len(units) > 1

    def other_series(self, parsed: ParsedFact, reading: Fact) -> list[str]:
        """The other series of its source, if the reading began a series that is named after its relation."""
        if parsed.kind != "reading" or parsed.is_named or len(self._series(reading)) > 1:
            return []
        names = {name for series in self._existing(reading.source_uuid) for name in series.names}
        return sorted(names - {reading.measure})

    def shown(self, reading: Fact, zone: tzinfo) -> list[str]:
        """The last values of a series with their dates; with the time of day where two share a date."""
        readings = self._series(reading)[-_SHOWN:]
        times = [show_time(one.valid_at or one.created_at, zone) for one in readings]
        days = [time.split()[0] for time in times]
        told = [words_at(one.valid_at, one.attributes.get(START_WORDS), zone) for one in readings]
        dates = [
            words or when for words, when in zip(told, days if len(set(days)) == len(days) else times, strict=True)
        ]
        values = [" ".join(part for part in (one.value, one.unit) if part) for one in readings]
        public = [", not public" if CONFIDENTIAL in one.attributes else "" for one in readings]
        return [f"{value} ({when}{mark})" for value, when, mark in zip(values, dates, public, strict=True)]

    def _series(self, reading: Fact) -> list[Fact]:
        return self.world.series(reading.source_uuid, reading.measure or "")

    def _existing(self, source_uuid: str) -> tuple[Measures, Measures]:
        """Series that the call began, and those that existed before it."""
        if source_uuid not in self._compared:
            self._compared[source_uuid] = Measures(self.measures.get(source_uuid, {}))
        return self.world.begun(source_uuid), self._compared[source_uuid]
