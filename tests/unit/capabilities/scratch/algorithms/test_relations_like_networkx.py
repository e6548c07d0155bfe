"""Which relations the edges on the ways of a node have, against NetworkX."""

from collections import Counter

import networkx as nx
from tests.unit.capabilities.scratch.algorithms.random_graphs import RELATIONS, cases, told

from graphiti_pkm.capabilities.scratch.algorithms.analyses import relations_around, relations_of_ways


def test_the_relations_around_a_node_are_those_of_the_edges_on_paths_to_it_and_from_it() -> None:
    for case in cases(least_nodes=1):
        known, node = case.simple, case.node()
        before, after = nx.ancestors(known, node), nx.descendants(known, node)
        edges = [edge for edge in case.multi.edges(keys=True) if edge[0] != edge[1]]
        for relation in (None, *RELATIONS):
            with told(case):
                wanted = Counter(
                    of
                    for source, target, of in edges
                    if relation in {None, of}
                    and (
                        (source in before and target in before | {node})
                        or (source in after | {node} and target in after)
                    )
                )
                asked = relation and relation.upper()
                found = relations_around(case.graph.view(), case.graph.edge_relations(asked), node)
                assert found == wanted
                assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_relations_of_ways_are_those_of_the_edges_between_what_they_pass_and_the_target() -> None:
    for case in cases(least_nodes=2):
        target, passed = case.node(), case.draw.sample(sorted(case.multi), 2)
        with told(case):
            wanted = Counter(
                of
                for source, end, of in case.multi.edges(keys=True)
                if source != end and source in passed and end in {*passed, target}
            )
            assert relations_of_ways(case.graph.edge_relations(), passed, target) == wanted
