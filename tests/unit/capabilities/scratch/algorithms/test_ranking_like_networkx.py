"""PageRank, betweenness and communities beside NetworkX's."""

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from tests.unit.capabilities.scratch.algorithms.random_graphs import SEED, Case, cases, told

from graphiti_pkm.capabilities.scratch.algorithms.communities import communities, modularity
from graphiti_pkm.capabilities.scratch.algorithms.ranking import betweenness, dependencies, pagerank
from graphiti_pkm.capabilities.scratch.algorithms.view import View, view_of, weights_of
from graphiti_pkm.errors import InvalidInput

NOTHING = view_of([], [])


@pytest.fixture(autouse=True)
def _seed(record_property: Callable[[str, object], None]) -> None:
    record_property("SCRATCH_SEED", SEED)


def _weighted(case: Case) -> View | None:
    """By the sum of weights, where there are any."""
    if not any("weight" in edge.properties for edge in case.graph.edges()):
        return None
    return case.graph.view("weight", gathered="sum")


def test_pagerank_is_networkxs_with_and_without_weights() -> None:
    for case in cases(least_nodes=1, most_nodes=14):
        with told(case):
            alpha = case.draw.choice((0.85, 0.85, 0.5))
            ranks = pagerank(case.graph.view(), alpha)
            known = nx.pagerank(case.simple, alpha, weight=None, tol=1e-10, max_iter=1_000)
            assert ranks.tolist() == pytest.approx(list(known.values()), abs=1e-7)
            assert ranks.sum() == pytest.approx(1)
            weighted = _weighted(case)
            if weighted is not None:
                known = nx.pagerank(case.multi, weight="weight", tol=1e-10, max_iter=1_000)
                assert pagerank(weighted).tolist() == pytest.approx(list(known.values()), abs=1e-7)


def test_pagerank_of_the_documents_example_is_what_networkx_says_not_the_document() -> None:
    view = view_of(range(4), [(0, 1), (0, 2), (1, 3), (2, 3)])  # api, auth, users, database
    assert pagerank(view).tolist() == pytest.approx([0.1375, 0.1959, 0.1959, 0.4706], abs=5e-5)
    assert pagerank(NOTHING).tolist() == []
    with pytest.raises(InvalidInput, match="negative"):
        pagerank(view_of([0, 1], [(0, 1)], [-1]))


def test_betweenness_is_networkxs_along_edges_and_both_ways() -> None:
    for case in cases(most_nodes=14):
        view = case.graph.view()
        with told(case):
            for one, known in ((view, case.simple), (view.undirected, case.undirected)):
                *_, last = betweenness(one)
                assert last.scores == pytest.approx(list(nx.betweenness_centrality(known).values()))
                assert last.counted == view.n


def test_paths_counted_from_some_nodes_are_networkxs_from_the_same_nodes() -> None:
    for case in cases(least_nodes=3, most_nodes=14):
        view = case.graph.view()
        sources = case.draw.sample(range(view.n), case.draw.randint(1, view.n))
        with told(case):
            others = list(range(view.n))
            known = nx.betweenness_centrality_subset(case.simple, sources, others)
            found = dependencies(view.out, np.array(sources), view.n)
            assert found.tolist() == pytest.approx(list(known.values()))


def test_a_sample_gives_networkxs_estimate_from_the_same_nodes_and_says_how_many() -> None:
    for case in cases(least_nodes=3, most_nodes=14):
        view = case.graph.view()
        pivots = case.draw.randint(2, view.n)
        with told(case):
            *_, last = betweenness(view, exact=2, pivots=pivots)
            assert last.counted == pivots
            known = nx.betweenness_centrality(case.simple, k=pivots, seed=view.n)
            assert last.scores == pytest.approx(list(known.values()))


def test_the_number_of_paths_may_be_beyond_what_a_float_holds() -> None:
    diamonds = 1_100
    edges = [(3 * i, 3 * i + side) for i in range(diamonds) for side in (1, 2)]
    edges += [(3 * i + side, 3 * i + 3) for i in range(diamonds) for side in (1, 2)]
    view = view_of(range(3 * diamonds + 1), edges)
    through = dependencies(view.out, np.array([0]), view.n)
    assert through[3] == pytest.approx(view.n - 4)
    assert through[1] == pytest.approx((view.n - 3) / 2)


def test_communities_are_connected_and_as_modular_as_networkxs() -> None:
    ours, theirs = 0.0, 0.0
    for case in cases(least_nodes=1, most_nodes=24):
        with told(case):
            view, known = case.graph.view(), case.undirected
            numbers = list(communities(view))[-1]
            groups = [{node for node in known if numbers[node] == number} for number in set(numbers)]
            assert all(nx.is_connected(known.subgraph(group)) for group in groups)
            if not known.edges:
                assert len(groups) == view.n
                continue
            reached = nx.community.modularity(known, groups, weight=None)
            assert modularity(view, numbers) == pytest.approx(reached)
            best = nx.community.louvain_communities(known, weight=None, seed=case.seed)
            compared = nx.community.modularity(known, best, weight=None)
            assert reached > compared - 0.2  # both only look for the best; a tie of few edges may go either way
            ours, theirs = ours + reached, theirs + compared
    assert ours > theirs - 0.005 * 500


def test_each_partition_of_a_larger_graph_is_better_than_the_one_before_and_finds_its_cliques() -> None:
    edges = [
        (10 * clique + one, 10 * clique + other) for clique in range(12) for one in range(10) for other in range(one)
    ]
    edges += [(10 * clique, (10 * clique + 10) % 120) for clique in range(12)]
    view = view_of(range(120), edges)
    steps = list(communities(view))
    scores = [modularity(view, numbers) for numbers in steps]
    assert scores == sorted(scores)
    assert len(steps) > 1
    assert all(len(set(steps[-1][10 * clique : 10 * clique + 10])) == 1 for clique in range(12))
    assert list(communities(view)) == steps


def test_weights_decide_who_belongs_together() -> None:
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert _parts(view_of(range(4), square, [9, 1, 9, 1])) == [{0, 1}, {2, 3}]
    assert _parts(view_of(range(4), square, [1, 9, 1, 9])) == [{0, 3}, {1, 2}]


def _parts(view: View) -> list[set[int]]:
    numbers = list(communities(view))[-1]
    return sorted(({node for node in range(view.n) if numbers[node] == number} for number in set(numbers)), key=min)


def test_what_is_no_number_to_weigh_by_is_refused_and_what_is_missing_counts_one() -> None:
    assert weights_of([{"weight": 2}, {}, {"weight": 0.5, "note": "x"}], "weight") == [2, 1, 0.5]
    assert weights_of([], "weight") == []
    for value in ("2", True, float("nan"), float("inf"), [1], 10**400):
        with pytest.raises(InvalidInput, match="which is not a number"):
            weights_of([{"weight": value}], "weight")
    with pytest.raises(InvalidInput, match=r"No edge has the property 'weihgt'.* 'cost', 'weight'"):
        weights_of([{"weight": 2, "cost": 1}, {}], "weihgt")


@pytest.mark.filterwarnings("error")
def test_only_the_ratio_of_weights_counts_however_large_or_small_they_are() -> None:
    line = [(0, 1), (1, 2), (0, 2)]
    for scale in (1e-310, 1e160, 1e299):
        ranks = pagerank(view_of(range(3), line, [2 * scale, 1, scale]))
        assert ranks.tolist() == pytest.approx(pagerank(view_of(range(3), line, [2, 1, 1])).tolist())
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for scale in (1e-310, 1e160, 1e299):
        view = view_of(range(4), square, [9 * scale, scale, 9 * scale, scale])
        assert _parts(view) == [{0, 1}, {2, 3}]
        assert modularity(view, [0, 0, 1, 1]) == pytest.approx(0.4)
