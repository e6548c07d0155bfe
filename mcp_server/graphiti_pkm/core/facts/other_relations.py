"""Resolves ``replaces`` through facts of other relations: a plan that was fulfilled, else a question to the caller."""

from collections.abc import Iterable
from datetime import datetime, tzinfo

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.replaced import Ends, UnresolvedReplacement
from graphiti_pkm.core.facts.rules import coincide, precedes, still_holds
from graphiti_pkm.core.model.date_phrases import date_at
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Fact


def find_by_other_relations(
    parsed: ParsedFact,
    ends: Ends,
    named: tuple[str, str | None],
    others: Iterable[Fact],
    start: datetime,
    now: datetime,
    zone: tzinfo,
) -> tuple[Fact, ...] | UnresolvedReplacement | None:
    """The plan between the given entities that was fulfilled, or the facts that may be meant; None if there are none.

    ``named``: the text of ``replaces`` and the entity that has this name. ``others``: facts of the source under any
    relation, and of other sources where a target normally has a single source.
    """
    wanted, entity_uuid = named
    known = [fact for fact in others if not fact.voided and _is_end(fact, ends, wanted, entity_uuid)]
    if not known:
        return None
    if parsed.is_correction:
        return UnresolvedReplacement(
            wanted, "other_relation", tuple([one for one in known if one.kind == parsed.kind] or known)
        )
    open_ones = [fact for fact in known if fact.kind in {"state", "plan"} and still_holds(fact, now)]
    if parsed.kind == "plan":
        plans = tuple(fact for fact in open_ones if fact.kind == "plan")
        return (
            UnresolvedReplacement(wanted, "other_relation", plans)
            if plans
            else UnresolvedReplacement(wanted, "ends_nothing", tuple(known))
        )
    if entity_uuid == ends.target_uuid:
        came_about = _fulfilled_plan(parsed, [fact for fact in open_ones if fact.kind == "plan"], start, zone)
        if came_about or not open_ones:
            return came_about
    return UnresolvedReplacement(wanted, "other_relation", tuple(open_ones or known), may_end=bool(open_ones))


def _is_end(fact: Fact, ends: Ends, wanted: str, entity_uuid: str | None) -> bool:
    """Whether the fact joins the source with the named target, or the target with the named source."""
    end = (fact.target_uuid, fact.target_name) if fact.source_uuid == ends.source_uuid else None
    uuid, name = end or (fact.source_uuid, fact.source_name)
    return uuid == entity_uuid or normalise_name(name) == normalise_name(wanted)


def _fulfilled_plan(parsed: ParsedFact, plans: list[Fact], start: datetime, zone: tzinfo) -> tuple[Fact, ...] | None:
    """The only earlier plan; if there are several, the only one for this day."""
    begun = date_at(start, parsed.start_words, zone)
    before = [plan for plan in plans if not precedes(begun, plan.reference_time, zone)]
    on_the_day = [plan for plan in before if parsed.valid_at and plan.valid_at and coincide(start, plan.valid_at, zone)]
    met = on_the_day or before
    return tuple(met) if len(met) == 1 else None
