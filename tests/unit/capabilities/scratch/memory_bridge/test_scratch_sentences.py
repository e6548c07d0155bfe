"""commit_graph: the sentence by which the episode tells an edge says its value, unit, dates and ending."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse
from graphiti_pkm.capabilities.scratch.requests import CommitGraph, LoadMemoryGraph
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Fact


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def commit(world: ScratchWorld, **fields: Any) -> CommitGraphResponse:
    return await world.reasoning.committing.commit_graph(LOCAL, CommitGraph(**fields))


async def load(world: ScratchWorld, name: str, graph: str = "default") -> None:
    await world.reasoning.bridge.load_memory_graph(LOCAL, LoadMemoryGraph(graph=graph, entity_uuids=[world.uuid(name)]))


def newest(world: ScratchWorld) -> tuple[str, Fact]:
    """Text of the last episode without its first line, and the last fact."""
    episode = list(world.graph.tables.episodes.values())[-1]
    return episode.content.split("\n\n", 1)[1], world.facts[-1]


@pytest.mark.parametrize(
    ("edge", "sentence"),
    [
        (
            ("Heron", "budget", "HAS_BUDGET", {"value": "40000", "unit": "EUR", "valid_at": "2026-05"}),
            "Heron has budget budget: 40000 EUR from 2026-05-01.",
        ),
        (
            ("Heron", "launch", "HAS_PLAN", {"kind": "plan", "valid_at": "2027-01"}),
            "Heron has plan launch planned for 2027-01-01.",
        ),
        (("Heron", "launch", "PREPARES", {"kind": "plan"}), "Heron prepares launch planned."),
        (
            ("Anna", "sleep", "SLEPT", {"kind": "reading", "value": "5", "unit": "h", "valid_at": "2026-05-01"}),
            "Anna: sleep 5 h on 2026-05-01.",
        ),
        (
            ("Anna", "May", "SLEPT_IN", {"kind": "reading", "measure": "sleep", "value": 5, "unit": "h"}),
            "Anna: sleep 5 h (Anna slept in May).",
        ),
        (
            ("Heron", "decision board", "HAS_STATUS", {"value": "superseded"}),
            "Heron has status decision board: superseded.",
        ),
        (("Anna", "Oslo", "MET_IN", {"kind": "event", "valid_at": "2026-05-01"}), "Anna met in Oslo on 2026-05-01."),
        (
            ("Anna", "Heron", "LEADS", {"valid_at": "2026-01", "invalid_at": "2026-05-10"}),
            "Anna leads Heron from 2026-01-01 until 2026-05-10.",
        ),
        (
            ("Anna", "Heron", "LEADS", {"fact": "Anna is head of Heron.", "invalid_at": "2026-05-10"}),
            "Anna is head of Heron (until 2026-05-10).",
        ),
        (
            ("Heron", "crew", "HAS_CREW", {"fact": "Heron had a crew of 12 on 2026-05-01", "value": 12, "unit": "men"}),
            "Heron had a crew of 12 on 2026-05-01.",
        ),
    ],
)
async def test_the_sentence_says_all_of_a_fact_and_is_its_quote(
    world: ScratchWorld, edge: tuple[str, str, str, dict[str, Any]], sentence: str
) -> None:
    await world.draw(ScratchEdge(*edge))
    preview = await commit(world)
    assert preview.edges[0].sentence == sentence
    await commit(world, dry_run=False)
    text, fact = newest(world)
    assert (text, fact.quote) == (sentence, sentence)


async def test_a_second_reading_is_another_text_and_the_preview_shows_kind_and_value(world: ScratchWorld) -> None:
    slept = {"kind": "reading", "measure": "sleep", "value": "5", "unit": "h"}
    await world.draw(ScratchEdge("me", "sleep", "SLEPT", slept))
    first = await commit(world, dry_run=False)
    await world.draw(ScratchEdge("me", "sleep", "SLEPT", {"value": "6"}))
    shown = (await commit(world)).edges[0]
    assert (shown.kind, shown.value, shown.sentence) == ("reading", "6 h", "me: sleep 6 h.")
    second = await commit(world, dry_run=False)
    assert (first.status, second.status) == ("committed", "committed")
    assert "same_text" not in {one.what for one in second.needs_attention}
    assert [fact.value for fact in world.facts] == ["5", "6"]


async def test_a_loaded_edge_that_was_ended_is_told_as_ended(world: ScratchWorld) -> None:
    told = {"source": "Bruno", "relation": "WORKS_ON", "target": "Falcon", "valid_at": "2026-02-01"}
    await world.tell("Bruno works on Falcon.", told)
    await load(world, "Bruno")
    await world.draw(ScratchEdge("Bruno", "Falcon", "WORKS_ON", {"invalid_at": "2026-05-10"}))
    answer = await commit(world, dry_run=False)
    assert (answer.facts_updated, newest(world)[1].invalid_at) == (1, at(2026, 5, 10))
    assert newest(world)[0] == "Bruno works on Falcon (from 2026-02-01 until 2026-05-10)."


async def test_a_changed_value_leaves_the_old_sentence_behind(world: ScratchWorld) -> None:
    stress = {"source": "Falcon", "relation": "HAS_STRESS", "kind": "reading", "measure": "stress", "value": 8}
    await world.tell("Falcon: stress 8 /10.", {**stress, "unit": "/10", "fact": "Falcon's stress was 8 of 10"})
    await load(world, "Falcon")
    await world.draw(ScratchEdge("Falcon", "stress", "HAS_STRESS", {"value": 9}))
    await commit(world, dry_run=False)
    text, fact = newest(world)
    assert (fact.value, fact.text) == ("9", "Falcon: stress 9 /10")
    assert text.startswith("Falcon: stress 9 /10 on ")
    (edge,) = (await world.drawn()).edges
    assert edge.properties["fact"] == "Falcon: stress 9 /10"
    assert (await commit(world)).unchanged == 1
    await world.draw(ScratchEdge("Falcon", "stress", "HAS_STRESS", {"value": 7, "fact": "Stress is down to 7"}))
    await commit(world, dry_run=False)
    assert newest(world)[1].text == "Stress is down to 7"


async def test_an_unknown_kind_is_left_out(world: ScratchWorld) -> None:
    await world.draw(ScratchEdge("Q1", "Q2", "knows", {"kind": "maybe"}))
    (left,) = (await commit(world, dry_run=False)).left_out
    assert left.reason == "kind 'maybe' is unknown; use state, event, plan, reading"
