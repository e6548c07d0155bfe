"""Components, cuts, reductions and what a removal does are as NetworkX computes them."""

from collections.abc import Callable

import networkx as nx
import pytest
from tests.unit.capabilities.scratch.algorithms.random_graphs import SEED, cases, told

from graphiti_pkm.capabilities.scratch.algorithms import structure
from graphiti_pkm.capabilities.scratch.algorithms.impact import impact, newly_unreachable, without_other_root
from graphiti_pkm.capabilities.scratch.algorithms.structure import redundant_edges
from graphiti_pkm.capabilities.scratch.algorithms.view import view_of
from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
from graphiti_pkm.settings.scratch_limits import ScratchLimits

NOTHING = view_of([], [])


@pytest.fixture(autouse=True)
def _seed(record_property: Callable[[str, object], None]) -> None:
    record_property("SCRATCH_SEED", SEED)


def test_weak_and_strong_components_are_networkxs_the_largest_first() -> None:
    for case in cases(most_nodes=14):
        view, known = case.graph.view(), case.simple
        with told(case):
            for numbers, components in (
                (structure.weak_components(view), nx.weakly_connected_components(known)),
                (structure.strong_components(view), nx.strongly_connected_components(known)),
            ):
                groups = structure.grouped(numbers)
                assert groups == sorted(map(sorted, components), key=lambda group: (-len(group), group[0]))


def test_the_largest_strong_component_of_a_large_graph_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "_SMALL", 0)
    for case in cases(least_nodes=2, most_nodes=14):
        with told(case):
            groups = structure.grouped(structure.strong_components(case.graph.view()))
            assert sorted(groups) == sorted(map(sorted, nx.strongly_connected_components(case.simple)))


def test_cut_points_and_bridges_are_networkxs() -> None:
    for case in cases(most_nodes=14):
        undirected = case.undirected
        undirected.remove_edges_from(list(nx.selfloop_edges(undirected)))
        with told(case):
            found = structure.cuts(case.graph.view())
            assert set(found.points) == set(nx.articulation_points(undirected))
            assert set(found.bridges) == {(min(pair), max(pair)) for pair in nx.bridges(undirected)}
            assert (found.points, found.bridges) == (sorted(found.points), sorted(found.bridges))


def test_edges_that_longer_paths_imply_are_found_around_cycles_too() -> None:
    for case in cases(most_nodes=12):
        known = nx.condensation(case.simple)
        part = known.graph["mapping"]
        kept = set(nx.transitive_reduction(known).edges)
        expected = [
            (one, other)
            for one, other in sorted(case.simple.edges)
            if part[one] != part[other] and (part[one], part[other]) not in kept
        ]
        with told(case):
            assert structure.implied_edges(case.graph.view()) == expected


def test_connection_and_freedom_from_cycles_are_networkxs() -> None:
    for case in cases():
        view, known = case.graph.view(), case.simple
        with told(case):
            assert structure.is_connected(view) == (len(known) > 0 and nx.is_weakly_connected(known))
            assert case.graph.is_dag == nx.is_directed_acyclic_graph(known)


def test_a_cycle_is_told_of_each_graph_that_has_one() -> None:
    for case in cases():
        with told(case):
            cycle = structure.some_cycle(case.graph.view())
            assert bool(cycle) != nx.is_directed_acyclic_graph(case.simple)
            assert len(set(cycle)) == len(cycle)
            assert all(
                case.simple.has_edge(one, other) for one, other in zip(cycle, cycle[1:] + cycle[:1], strict=True)
            )


def test_the_edges_to_drop_are_those_that_networkxs_transitive_reduction_lacks() -> None:
    for case in cases(most_nodes=12, acyclic=True):
        with told(case):
            kept = nx.transitive_reduction(case.simple)
            assert redundant_edges(case.graph.view()) == sorted(set(case.simple.edges) - set(kept.edges))
    for case in cases():
        with told(case):
            assert (redundant_edges(case.graph.view()) is None) != nx.is_directed_acyclic_graph(case.simple)


def test_a_removal_does_what_it_does_in_networkx() -> None:
    for case in cases(least_nodes=1):
        view, known, node = case.graph.view(), case.simple, case.node()
        with told(case):
            found = impact(view, node)
            assert set(found.dependents) == nx.ancestors(known, node)
            assert set(found.dependencies) == nx.descendants(known, node)
            far = nx.single_source_shortest_path_length(known, node)
            assert [far[one] for one in found.dependencies] == sorted(far[one] for one in found.dependencies)
            assert found.components_before == nx.number_weakly_connected_components(known)
            lost = newly_unreachable(view, node, found.dependents)
            around = nx.node_connected_component(case.undirected, node)
            reached = {one: nx.descendants(known, one) - {node} for one in found.dependents}
            known.remove_node(node)
            components = list(nx.weakly_connected_components(known))
            assert found.components_after == len(components)
            assert sorted(found.parts) == sorted(sorted(part) for part in components if part <= around)
            for one in found.dependents:
                assert set(lost.get(one, ())) == reached[one] - nx.descendants(known, one)


def test_what_falls_with_a_cause_is_what_no_other_root_leads_to() -> None:
    for case in cases(least_nodes=1):
        view, known, node = case.graph.view(), case.simple, case.node()
        with told(case):
            following = nx.descendants(known, node)
            parts = nx.condensation(known)
            roots = {
                one
                for part in parts
                if not parts.in_degree(part) and part != parts.graph["mapping"][node]
                for one in parts.nodes[part]["members"]
            }
            known.remove_node(node)
            kept = {end for root in roots for end in (root, *nx.descendants(known, root))}
            assert set(without_other_root(view, node)) == following - kept


def test_graphs_without_nodes_or_edges_have_an_answer() -> None:
    alone = view_of([7], [])
    assert (
        structure.grouped(structure.weak_components(NOTHING))
        == structure.grouped(structure.strong_components(NOTHING))
        == []
    )
    assert (
        structure.grouped(structure.weak_components(alone))
        == structure.grouped(structure.strong_components(alone))
        == [[0]]
    )
    assert (structure.is_connected(NOTHING), structure.is_connected(alone)) == (False, True)
    assert ScratchGraph(ScratchLimits()).is_dag
    assert structure.some_cycle(NOTHING) == []
    assert structure.cuts(NOTHING) == structure.cuts(alone) == structure.Cuts([], [])
    assert redundant_edges(NOTHING) == redundant_edges(alone) == []
    gone = impact(alone, 0)
    assert (gone.components_before, gone.components_after, gone.parts, gone.dependents) == (1, 0, [], [])


def test_a_view_numbers_what_is_left_after_removals() -> None:
    view = view_of([2, 5, 9], [(5, 9), (9, 2), (5, 9), (2, 2)])
    assert list(zip(view.sources.tolist(), view.targets.tolist(), strict=True)) == [(0, 0), (1, 2), (2, 0)]
    assert (view.node(9), view.indices[2]) == (2, 9)
    for unknown in (0, 3, 10):
        with pytest.raises(KeyError):
            view.node(unknown)
    assert view.into.lists == [[0, 2], [], [1]]
