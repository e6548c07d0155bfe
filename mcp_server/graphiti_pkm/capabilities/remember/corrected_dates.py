"""Finds the facts that a note dated by a day that was corrected since."""

from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.requests import MOST_OF_A_NOTE
from graphiti_pkm.core.ports.graph import Graph


async def facts_of_same_date(graph: Graph, plan: WritePlan) -> list[Attention]:
    """One report for each corrected start that other facts share which the same note recorded.

    A reading of that day is a value of its own; what the call itself creates or changes needs no report.
    """
    reports: dict[object, Attention] = {}
    for old, new in plan.facts.moved:
        note = next(iter(old.episodes), None)
        if note is None or (note, old.valid_at) in reports:
            continue
        found = await graph.facts.episode_facts(note, [old.group_id], MOST_OF_A_NOTE)
        same = [one for one in found if _is_of_same_date(one, old) and not plan.world.touched(one.uuid)]
        if same:
            reports[note, old.valid_at] = plan.writer.same_date(old, new, same)
    return list(reports.values())


def _is_of_same_date(fact: Fact, old: Fact) -> bool:
    is_of_note = fact.episodes[:1] == old.episodes[:1] and fact.valid_at == old.valid_at
    return is_of_note and fact.kind != "reading" and fact.is_open
