"""Paths and cycles are those that NetworkX finds."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from tests.unit.capabilities.scratch.algorithms.random_graphs import SEED, Case, cases, told

from graphiti_pkm.capabilities.scratch.algorithms.paths import cheapest_path, distances, shortest_path
from graphiti_pkm.capabilities.scratch.algorithms.view import View, view_of
from graphiti_pkm.capabilities.scratch.algorithms.walks import lengths_beyond, simple_cycles, simple_paths
from graphiti_pkm.errors import InvalidInput


@pytest.fixture(autouse=True)
def _seed(record_property: Callable[[str, object], None]) -> None:
    record_property("SCRATCH_SEED", SEED)


def _weighted(case: Case) -> View:
    return (
        case.graph.view("weight") if any("weight" in edge.properties for edge in case.graph.edges()) else _plain(case)
    )


def _plain(case: Case) -> View:
    return case.graph.view()


def _both_ways(case: Case, view: View) -> Iterator[tuple[View, "nx.Graph[int]"]]:
    yield view, case.simple
    yield view.undirected, case.undirected


def test_a_shortest_path_is_as_short_as_networkxs() -> None:
    for case in cases(least_nodes=1):
        for view, known in _both_ways(case, _plain(case)):
            source, target = case.node(), case.node()
            with told(case):
                path = shortest_path(view, source, target)
                if not nx.has_path(known, source, target):
                    assert path is None
                    continue
                assert path is not None
                assert (path[0], path[-1]) == (source, target)
                assert nx.is_path(known, path)
                assert len(path) - 1 == nx.shortest_path_length(known, source, target)


def test_distances_are_networkxs_from_one_node_or_several() -> None:
    for case in cases(least_nodes=1):
        view, known = _plain(case), case.simple
        starts = sorted({case.node(), case.node()})
        with told(case):
            found = distances(view.out, np.array(starts), view.n)
            expected = [nx.single_source_shortest_path_length(known, start) for start in starts]
            assert found.tolist() == [
                min((far.get(node, 99) for far in expected), default=99) % 99
                if any(node in far for far in expected)
                else -1
                for node in range(view.n)
            ]


def test_a_cheapest_path_costs_what_networkxs_does() -> None:
    for case in cases(least_nodes=1):
        for view, known in _both_ways(case, _weighted(case)):
            source, target = case.node(), case.node()
            with told(case):
                found = cheapest_path(view, source, target)
                if not nx.has_path(known, source, target):
                    assert found is None
                    continue
                assert found is not None
                path, cost = found
                assert (path[0], path[-1]) == (source, target)
                assert cost == nx.dijkstra_path_length(known, source, target)
                assert sum(known[one][other]["weight"] for one, other in pairwise(path)) == cost


def test_the_cheaper_of_two_routes_is_the_longer_one_and_negative_weights_are_refused() -> None:
    view = view_of([0, 1, 2], [(0, 1), (1, 2), (0, 2)], [1, 1, 5])
    assert shortest_path(view, 0, 2) == [0, 2]
    assert cheapest_path(view, 0, 2) == ([0, 1, 2], 2.0)
    with pytest.raises(InvalidInput, match="negative"):
        cheapest_path(view_of([0, 1], [(0, 1)], [-1]), 0, 1)


def test_simple_paths_are_networkxs_each_once_and_the_shortest_first() -> None:
    for case in cases(least_nodes=1, most_nodes=7):
        longest = case.draw.randint(1, 6)
        for view, known in _both_ways(case, _plain(case)):
            source, target = case.node(), case.node()
            with told(case):
                found = [tuple(path) for path in simple_paths(view, source, target, longest)]
                assert len(found) == len(set(found))
                assert set(found) == {tuple(path) for path in nx.all_simple_paths(known, source, target, longest)}
                assert [len(path) for path in found] == sorted(len(path) for path in found)


def test_the_lengths_of_longer_paths_are_networkxs() -> None:
    for case in cases(least_nodes=1, most_nodes=7):
        longest = case.draw.randint(1, 3)
        source, target = case.node(), case.node()
        with told(case):
            found = list(lengths_beyond(_plain(case), source, target, longest))
            known = {len(path) - 1 for path in nx.all_simple_paths(case.simple, source, target)}
            assert found == sorted(length for length in known if length > longest)


def test_simple_cycles_are_networkxs_each_once_and_the_shortest_first() -> None:
    for case in cases(most_nodes=7):
        longest = case.draw.choice((None, 1, 2, 3, 4))
        with told(case):
            found = [tuple(cycle) for cycle in simple_cycles(_plain(case), longest)]
            assert len(found) == len(set(found))
            known = (tuple(cycle) for cycle in nx.simple_cycles(case.simple, longest))
            assert set(found) == {_from_least(cycle) for cycle in known}
            assert [len(cycle) for cycle in found] == sorted(len(cycle) for cycle in found)


def _from_least(cycle: tuple[int, ...]) -> tuple[int, ...]:
    at = cycle.index(min(cycle))
    return cycle[at:] + cycle[:at]


def test_a_ring_of_a_thousand_nodes_is_one_cycle() -> None:
    ring = view_of(range(1_000), [(node, (node + 1) % 1_000) for node in range(1_000)])
    assert list(simple_cycles(ring)) == [list(range(1_000))]
