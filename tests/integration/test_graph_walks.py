"""Walks over random graphs against a search by hand, and walks that get out of hand."""

import random
from itertools import pairwise
from typing import Any

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_write, an_entity, at
from tests.fakes import FakeGraph

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Fact, WriteIntent
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph import path_search

NOW = at(2026, 6)
FACTS = FactFilter(group_ids=(GROUP,), now=NOW)
WHENS = (None, at(2023), at(2024), at(2025))
ALL = 1_000


def a_random_graph(source: random.Random) -> tuple[WriteIntent, list[str]]:
    entities = [an_entity(f"N{i}") for i in range(source.randint(4, 12))]
    facts: list[Fact] = []
    for _ in range(source.randint(4, 28)):
        start, end = source.choice(entities), source.choice(entities)
        ended = source.choice((None, None, at(2024, 6), at(2025, 6)))
        facts.append(
            a_fact(
                start,
                end,
                group_id=source.choice((GROUP, GROUP, GROUP, OTHER_GROUP)),
                kind=source.choice(("state", "state", "state", "event")),
                valid_at=source.choice(WHENS),
                reference_time=at(2024),
                invalid_at=ended,
                expired_at=ended,
                voided=source.random() < 0.1,
            )
        )
    return a_write(*entities, *facts), [entity.uuid for entity in entities]


FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"only_current": True},
    {"as_of": at(2024, 3)},
    {"valid_after": at(2024)},
    {"valid_before": at(2025)},
    {"group_ids": (GROUP, OTHER_GROUP)},
)


@pytest.mark.parametrize("seed", range(6))
async def test_random_graphs_have_the_ways_and_surroundings_that_a_search_by_hand_finds(
    graph: Graph, seed: int
) -> None:
    source = random.Random(seed)  # noqa: S311 the same graphs in every run
    write, uuids = a_random_graph(source)
    by_hand = FakeGraph()
    for one in (graph, by_hand):
        await one.writer.apply(write, {})
    found, expected = graph.part(WALKS_PART), by_hand.part(WALKS_PART)
    for fields in FILTERS:
        wanted = FACTS.model_copy(update=fields)
        for _ in range(5):
            start, end = source.sample(uuids, 2)
            asked = (start, end, wanted, source.randint(1, 5), ALL)
            assert await found.shortest_paths(*asked) == await expected.shortest_paths(*asked)
            around = (
                [start, end][: source.randint(1, 2)],
                wanted,
                source.randint(1, 3),
                source.randint(0, 12),
                source.randint(1, 30),
            )
            assert await found.neighbourhood(*around) == await expected.neighbourhood(*around)


async def test_a_search_between_two_hubs_that_gets_out_of_hand_is_refused(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on at the end with fewer facts: one hub alone is walked around, two are not."""
    hubs = [an_entity("Hub 1"), an_entity("Hub 2")]
    spokes = [[an_entity(f"Spoke {i} of {hub.name}") for i in range(9)] for hub in hubs]
    facts = [a_fact(hub, spoke) for hub, around in zip(hubs, spokes, strict=True) for spoke in around]
    tail = [an_entity(f"Tail {i}") for i in range(3)]
    facts += [a_fact(one, other) for one, other in pairwise([hubs[0], *tail])]
    await graph.writer.apply(a_write(*hubs, *spokes[0], *spokes[1], *tail, *facts), {})
    monkeypatch.setattr(path_search, "MOST_FACTS", 8)
    walks = graph.part(WALKS_PART)
    (path,) = await walks.shortest_paths(hubs[0].uuid, tail[-1].uuid, FACTS, 4, 3)
    assert len(path) == 3
    with pytest.raises(InvalidInput, match="fewer max_hops"):
        await walks.shortest_paths(hubs[0].uuid, hubs[1].uuid, FACTS, 4, 3)
