"""Contract of ``Graph``: shortest ways between entities, and what surrounds one."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.builders import a_fact, a_write, an_entity, at, new_uuid

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.walks import Neighbourhood
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)


def facts(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


class Land:
    """Entities by letter and the facts between them, ``ab`` from a to b."""

    def __init__(self) -> None:
        self.entities: dict[str, Entity] = {}
        self.facts: list[Fact] = []

    def entity(self, name: str) -> Entity:
        return self.entities.setdefault(name, an_entity(name))

    def joined(self, *pairs: str, **fields: Any) -> "Land":
        for source, target in pairs:
            fact = a_fact(self.entity(source), self.entity(target), valid_at=at(2025), **fields)
            self.facts.append(fact)
        return self

    async def put(self, graph: Graph) -> "Land":
        await graph.writer.apply(a_write(*self.entities.values(), *self.facts), {})
        return self

    def uuid(self, name: str) -> str:
        return self.entities[name].uuid

    async def ways(
        self, graph: Graph, ends: str, hops: int = 4, limit: int = 10, avoided: Sequence[str] = (), **fields: Any
    ) -> list[str]:
        """The names along each path found, sorted."""
        source, target = map(self.uuid, ends)
        found = await graph.part(WALKS_PART).shortest_paths(source, target, facts(**fields), hops, limit, avoided)
        return sorted(route(ends[0], path) for path in found)

    async def around(
        self,
        graph: Graph,
        names: str,
        hops: int,
        most: int = 50,
        most_facts: int = 200,
        avoided: str = "",
        **fields: Any,
    ) -> Neighbourhood:
        starts, passed_over = ([self.uuid(name) for name in some] for some in (names, avoided))
        wanted = facts(**fields)
        return await graph.part(WALKS_PART).neighbourhood(starts, wanted, hops, most, most_facts, passed_over)


def route(start: str, path: Sequence[Fact]) -> str:
    """The names along a path; each fact must go on where the one before ended."""
    names = start
    for fact in path:
        ends = {fact.source_name, fact.target_name}
        assert names[-1] in ends
        names += (ends - {names[-1]}).pop()
    return names


def names(found: Neighbourhood) -> list[tuple[str, int]]:
    return [(entity.name, hops) for entity, hops in found.entities]


async def test_a_path_goes_over_facts_in_either_direction_and_is_as_short_as_can_be(graph: Graph) -> None:
    land = await Land().joined("ab", "cb", "cd", "de", "ae", "ex").put(graph)
    assert await land.ways(graph, "ac") == ["abc"]
    assert await land.ways(graph, "ca") == ["cba"]
    assert await land.ways(graph, "ad") == ["aed"]
    assert await land.ways(graph, "bd") == ["bcd"]
    assert await land.ways(graph, "bx") == ["baex"]


async def test_there_is_no_path_beyond_the_hops_to_nowhere_or_to_itself(graph: Graph) -> None:
    land = await Land().joined("ab", "bc", "cd", "de", "xy").put(graph)
    assert await land.ways(graph, "ae", hops=4) == ["abcde"]
    assert await land.ways(graph, "ae", hops=3) == []
    assert await land.ways(graph, "ax", hops=6) == []
    assert await land.ways(graph, "aa") == []
    assert await graph.part(WALKS_PART).shortest_paths(land.uuid("a"), new_uuid(), facts(), 4, 3) == []
    assert await graph.part(WALKS_PART).shortest_paths(new_uuid(), land.uuid("a"), facts(), 4, 3) == []


async def test_a_path_does_not_lead_through_what_is_avoided(graph: Graph) -> None:
    land = await Land().joined("ab", "bc", "ad", "dc", "ae", "ef", "fc").put(graph)
    assert await land.ways(graph, "ac", avoided=[land.uuid("b")]) == ["adc"]
    assert await land.ways(graph, "ac", avoided=[land.uuid("b"), land.uuid("d")]) == ["aefc"]
    assert await land.ways(graph, "ac", avoided=[land.uuid(name) for name in "bde"]) == []


async def test_no_ring_is_reached_from_what_is_avoided(graph: Graph) -> None:
    land = await Land().joined("ab", "bc", "ad", "de", "eb").put(graph)
    assert names(await land.around(graph, "a", 2, avoided="b")) == [("b", 1), ("d", 1), ("e", 2)]
    assert names(await land.around(graph, "a", 3, avoided="bd")) == [("b", 1), ("d", 1)]
    assert names(await land.around(graph, "ab", 1, avoided="b")) == [("d", 1)]
    within = await land.around(graph, "a", 2, avoided="b")
    assert within.facts_total == 4  # those among what was found, with what is avoided too


async def test_a_filter_makes_the_way_longer_instead_of_hiding_it(graph: Graph) -> None:
    """A condition on the whole path would look at the shortest one only, find it wanting, and give nothing."""
    land = Land().joined("ab", "bc", "cd", "de").joined("ae", invalid_at=at(2025, 6), expired_at=at(2025, 6))
    land.joined("be", voided=True).joined("ce", kind="plan")
    await land.put(graph)
    assert await land.ways(graph, "ae") == ["ae"]
    assert await land.ways(graph, "ae", only_current=True) == ["abcde"]
    assert await land.ways(graph, "ae", as_of=at(2025, 3)) == ["ae"]
    assert await land.ways(graph, "ae", as_of=at(2025, 7)) == ["abcde"]
    assert await land.ways(graph, "be") == ["bae", "bce"]
    assert await land.ways(graph, "ae", valid_after=at(2025, 2)) == []
    assert await land.ways(graph, "ae", group_ids=("t2",)) == []


async def test_each_way_over_the_same_entities_comes_once_with_its_best_fact(graph: Graph) -> None:
    land = Land().joined(*["ab"] * 5, *["bc"] * 5, "ad", "dc")
    newest = a_fact(land.entity("b"), land.entity("a"), "LIKES", valid_at=at(2025, 5))
    ended = a_fact(land.entity("a"), land.entity("b"), "LIKED", valid_at=at(2026), invalid_at=at(2026, 2))
    land.facts += [newest, ended]
    await land.put(graph)
    assert await land.ways(graph, "ac") == ["abc", "adc"]
    paths = await graph.part(WALKS_PART).shortest_paths(land.uuid("a"), land.uuid("c"), facts(), 4, 5)
    over_b = next(path for path in paths if route("a", path) == "abc")
    assert over_b[0].uuid == newest.uuid
    assert (over_b[0].source_name, over_b[0].target_name) == ("b", "a")


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
async def test_many_facts_between_two_do_not_hide_the_other_ways(graph: Graph, limit: int) -> None:
    """Two series of readings on the way make thousands of combinations; each way still counts once."""
    land = Land().joined(*["ab"] * 40, *["bc"] * 40, *["cd"] * 2, "ax", "xc", "ay", "yz", "zd", "cq", "qd")
    await land.put(graph)
    ways = await land.ways(graph, "ad", limit=limit)
    assert len(ways) == len(set(ways)) == min(limit, 3)
    assert set(ways) <= {"abcd", "axcd", "ayzd"}


async def test_of_very_many_ways_as_many_come_as_were_asked_for(graph: Graph) -> None:
    middles = [chr(ord("A") + i) for i in range(26)]
    land = await Land().joined(*(f"a{m}" for m in middles), *(f"{m}z" for m in middles)).put(graph)
    assert len(set(await land.ways(graph, "az", limit=3))) == 3
    assert len(set(await land.ways(graph, "az", limit=30))) == 26


async def test_what_surrounds_an_entity_comes_ring_by_ring_the_best_joined_first(graph: Graph) -> None:
    land = await Land().joined("ab", "ca", "ca", "bd", "cd", "de", "ef").put(graph)
    one = await land.around(graph, "a", 1)
    assert names(one) == [("c", 1), ("b", 1)]
    assert (one.entities_left_out, one.facts_total, len(one.facts)) == (0, 3, 3)
    two = await land.around(graph, "a", 2)
    assert names(two) == [("c", 1), ("b", 1), ("d", 2)]
    assert two.facts_total == 5
    three = await land.around(graph, "a", 3)
    assert names(three) == [("c", 1), ("b", 1), ("d", 2), ("e", 3)]
    assert names(await land.around(graph, "f", 1)) == [("e", 1)]


async def test_a_ring_that_does_not_fit_is_cut_and_what_lies_beyond_is_not_looked_for(graph: Graph) -> None:
    land = await Land().joined("ab", "ac", "ac", "ad", "bx", "cy").put(graph)
    cut = await land.around(graph, "a", 2, most=2)
    assert names(cut) == [("c", 1), ("b", 1)]
    assert (cut.entities_left_out, cut.facts_total) == (1, 3)
    later = await land.around(graph, "a", 2, most=4)
    assert [hops for _, hops in names(later)] == [1, 1, 1, 2]
    assert later.entities_left_out == 1
    alone = await land.around(graph, "a", 2, most=0)
    assert (alone.entities, alone.entities_left_out, alone.facts_total) == ((), 3, 0)


async def test_what_surrounds_several_entities_is_told_by_the_hops_from_the_nearest(graph: Graph) -> None:
    land = await Land().joined("ab", "bc", "cd", "de", "ef", "fg", "cx", "xe").put(graph)
    both = await land.around(graph, "ag", 1)
    assert names(both) == [("b", 1), ("f", 1)]
    assert {(fact.source_name, fact.target_name) for fact in both.facts} == {("a", "b"), ("f", "g")}
    assert names(await land.around(graph, "ag", 2)) == [("b", 1), ("f", 1), ("c", 2), ("e", 2)]
    cut = await land.around(graph, "ce", 1, most=2)
    assert (names(cut), cut.entities_left_out) == ([("d", 1), ("x", 1)], 2)
    alone = await land.around(graph, "ced", 0)
    assert (names(alone), alone.facts_total, alone.entities_left_out) == ([], 2, 0)
    assert names(await land.around(graph, "aa", 1)) == [("b", 1)]
    nothing = await land.around(graph, "", 2)
    assert (nothing.entities, nothing.facts, nothing.entities_left_out) == ((), (), 0)


async def test_of_the_facts_each_pair_has_one_before_any_has_two(graph: Graph) -> None:
    land = await Land().joined("ab", "ba", "ab", "ac", "cb", "aa").put(graph)
    cut = await land.around(graph, "a", 1, most_facts=4)
    pairs = [frozenset((fact.source_name, fact.target_name)) for fact in cut.facts]
    assert len(set(pairs)) == len(pairs) == 4
    assert cut.facts_total == 6
    whole = await land.around(graph, "a", 1)
    assert len({fact.uuid for fact in whole.facts}) == 6


async def test_filters_hold_for_entities_and_facts_alike(graph: Graph) -> None:
    land = Land().joined("ab", "bc").joined("ad", invalid_at=at(2025, 6), expired_at=at(2025, 6))
    land.joined("ae", voided=True).joined("bd", kind="event")
    await land.put(graph)
    assert names(await land.around(graph, "a", 1)) == [("b", 1), ("d", 1)]
    assert (await land.around(graph, "a", 3)).facts_total == 4
    current = await land.around(graph, "a", 3, only_current=True)
    assert (names(current), current.facts_total) == ([("b", 1), ("c", 2)], 2)
    past = await land.around(graph, "a", 3, as_of=at(2025, 3))
    assert (names(past), past.facts_total) == ([("b", 1), ("d", 1), ("c", 2)], 3)
    assert names(await land.around(graph, "a", 3, group_ids=("t2",))) == []
