"""What leads to a node, and the fewest edges that break all cycles, against NetworkX and against trying all."""

from collections import Counter
from functools import cache

import networkx as nx
import pytest
from tests.unit.capabilities.scratch.algorithms.random_graphs import cases, told

from graphiti_pkm.capabilities.scratch.algorithms.breaking import breaking_edges
from graphiti_pkm.capabilities.scratch.algorithms.causes import Causes, causes
from graphiti_pkm.capabilities.scratch.algorithms.view import view_of


def test_sources_and_shares_of_ways_are_networkxs() -> None:
    for case in cases(least_nodes=1, most_nodes=8, acyclic=True):
        target = case.node()
        with told(case):
            found = causes(case.graph.view(), target)
            sources = [node for node in nx.ancestors(case.simple, target) if not case.simple.in_degree(node)]
            assert sorted(node for node, _ in found.sources) == sorted(sources)
            _has_the_shares_of(found, case.simple, target)


def test_ways_end_where_they_first_reach_the_node_also_if_it_leads_back() -> None:
    leads_back = 0
    for case in cases(least_nodes=2, most_nodes=8, acyclic=True):
        known = case.simple
        target = max(known, key=lambda node: len(nx.ancestors(known, node)))
        known.add_edges_from((target, node) for node in case.draw.sample(sorted(known), 2))
        with told(case):
            found = causes(view_of(range(len(known)), list(known.edges)), target)
            _has_the_shares_of(found, known, target)
            assert found.leads_back == bool(nx.ancestors(known, target) & nx.descendants(known, target) - {target})
            leads_back += found.leads_back and found.ways > 0
    assert leads_back > 20


def _has_the_shares_of(found: Causes, graph: "nx.DiGraph[int]", target: int) -> None:
    """For each node on a way the share of all ways that visit no node twice, the highest first."""
    ways = [way for source, _ in found.sources for way in nx.all_simple_paths(graph, source, target)]
    first, passed = Counter(way[0] for way in ways), Counter(node for way in ways for node in way[1:-1])
    assert found.ways == len(ways)
    for told_shares, counts in ((found.sources, first), (found.shares, passed)):
        assert dict(told_shares) == pytest.approx({node: count / len(ways) for node, count in counts.items()})
        assert [share for _, share in told_shares] == sorted((one for _, one in told_shares), reverse=True)


def test_whatever_the_cut_names_is_a_source_or_on_a_way() -> None:
    for case in cases(least_nodes=1, most_nodes=8):
        target = case.node()
        with told(case):
            found = causes(case.graph.view(), target)
            assert set(found.cut) <= {node for node, _ in (*found.sources, *found.shares)}
            assert all(0 < share <= 1 for _, share in (*found.sources, *found.shares))


def test_the_cut_is_as_small_as_networkxs_and_cuts_all_ways() -> None:
    for case in cases(least_nodes=1, most_nodes=8):
        target = case.node()
        with told(case):
            found = causes(case.graph.view(), target)
            known = case.simple
            assert target not in found.cut
            assert {node for node, _ in found.sources} <= nx.ancestors(known, target)
            known.add_edges_from(("start", source) for source, _ in found.sources)
            if not found.sources:
                assert found.cut == []
                continue
            assert len(found.cut) == len(nx.minimum_node_cut(known, "start", target))
            known.remove_nodes_from(found.cut)
            assert not nx.has_path(known, "start", target)


def test_every_ancestor_comes_from_a_source_or_from_the_node_itself() -> None:
    for case in cases(least_nodes=1, most_nodes=8):
        target = case.node()
        with told(case):
            found = causes(case.graph.view(), target)
            sources = {node for node, _ in found.sources}
            from_sources = {node for source in sources for node in nx.descendants(case.simple, source)}
            around = nx.descendants(case.simple, target)
            assert nx.ancestors(case.simple, target) <= from_sources | sources | around


def test_of_several_smallest_cuts_it_is_the_one_next_to_the_sources() -> None:
    # a and b cause c, c causes d, d causes e: c alone is the root-most of c and d
    found = causes(view_of(range(5), [(0, 2), (1, 2), (2, 3), (3, 4)]), 4)
    assert (found.sources, found.ways, found.cut) == ([(0, 0.5), (1, 0.5)], 2, [2])
    assert found.shares == [(2, 1.0), (3, 1.0)]


def test_the_edges_that_break_all_cycles_are_the_fewest() -> None:
    for case in cases(most_nodes=7):
        with told(case):
            *_, (edges, is_exact) = breaking_edges(case.graph.view())
            known = case.simple
            assert is_exact
            assert len(edges) == len(set(edges))
            known.remove_edges_from(edges)
            assert nx.is_directed_acyclic_graph(known)
            assert len(edges) == _fewest(case.simple)


def _fewest(graph: "nx.DiGraph[int]") -> int:
    """Over all orders of the nodes, the fewest edges that lead back; every node is placed after a set of others."""
    nodes = frozenset(graph)
    loops = nx.number_of_selfloops(graph)

    @cache
    def best(placed: frozenset[int]) -> int:
        if placed == nodes:
            return 0
        return min(len((set(graph[node]) - {node}) & placed) + best(placed | {node}) for node in nodes - placed)

    return loops + best(frozenset())


def test_each_step_breaks_all_cycles_and_the_first_one_is_no_worse_than_needed() -> None:
    for case in cases(most_nodes=9):
        with told(case):
            for edges, _ in breaking_edges(case.graph.view()):
                known = case.simple
                known.remove_edges_from(edges)
                assert nx.is_directed_acyclic_graph(known)
                for edge in edges:
                    known.add_edge(*edge)
                    assert not nx.is_directed_acyclic_graph(known)
                    known.remove_edge(*edge)


def test_what_each_node_cuts_off_is_what_no_longer_reaches_the_target_without_it() -> None:
    cut_off = 0
    for case in cases(least_nodes=1, most_nodes=8):
        target = case.node()
        with told(case):
            found = causes(case.graph.view(), target)
            for (node, _), count in zip(found.shares, found.cuts_off, strict=True):
                without = nx.restricted_view(case.simple, [node], [])
                assert count == sum(not nx.has_path(without, source, target) for source, _ in found.sources)
                cut_off += count
    assert cut_off > 20
