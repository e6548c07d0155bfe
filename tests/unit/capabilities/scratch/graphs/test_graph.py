"""A scratch graph against the plainest model of one and NetworkX, and what its limits and orders promise."""

import gc
import random
import weakref
from dataclasses import replace

import networkx as nx
import pytest

from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

LIMITS = ScratchLimits()
SEEDS = range(120)


def _graph(*edges: tuple[str, str, str], limits: ScratchLimits = LIMITS) -> ScratchGraph:
    graph = ScratchGraph(limits)
    graph.apply(Content(edges=tuple(ScratchEdge(source, target, relation) for source, target, relation in edges)))
    return graph


class _Model:
    """The same by dicts, slow and plain; NetworkX keeps the edges a second time."""

    def __init__(self) -> None:
        self.nodes: dict[str, ScratchNode] = {}
        self.edges: dict[tuple[str, str, str], ScratchEdge] = {}
        self.graph = nx.MultiDiGraph()

    def add_node(self, node: ScratchNode) -> bool:
        key = same_key(node.label)
        if key in self.nodes:
            return False
        self.nodes[key] = node
        self.graph.add_node(key)
        return True

    def add_edge(self, edge: ScratchEdge) -> bool:
        key = (same_key(edge.source), same_key(edge.target), edge.relation.casefold())
        old = self.edges.get(key)
        if old is not None:
            self.edges[key] = replace(old, properties={**old.properties, **edge.properties})
            return False
        known = next((one.relation for one in self.edges.values() if one.relation.casefold() == key[2]), edge.relation)
        source, target = self.nodes[key[0]].label, self.nodes[key[1]].label
        self.edges[key] = ScratchEdge(source, target, known, edge.properties)
        self.graph.add_edge(*key)
        return True

    def remove_node(self, key: str) -> int:
        going = [edge for edge in self.edges if key in edge[:2]]
        for edge in going:
            del self.edges[edge]
        del self.nodes[key]
        self.graph.remove_node(key)
        return len(going)

    def remove_edges(self, source: str, target: str, relation: str | None) -> int:
        going = [e for e in self.edges if e[:2] == (source, target) and relation in {None, e[2]}]
        for edge in going:
            del self.edges[edge]
            self.graph.remove_edge(*edge)
        return len(going)


def _walk(seed: int) -> tuple[ScratchGraph, _Model]:
    """Two hundred random changes to both, compared as they go."""
    dice = random.Random(seed)  # noqa: S311 - a walk to repeat, no secret
    graph, model = ScratchGraph(LIMITS), _Model()
    labels = [f"{dice.choice(('Node', 'node', 'NODE'))}{dice.choice(('', ' ', '-', '_'))}{n}" for n in range(25)]
    for _ in range(200):
        what = dice.random()
        first, second = dice.choice(labels), dice.choice(labels)
        relation = dice.choice(("calls", "Calls", "imports", "uses", "USES"))
        properties = dice.choice(({}, {}, {"a": dice.randrange(9)}, {"b": [1, "x"]}))
        if what < 0.3:
            node = ScratchNode(first, dice.choice((None, "module")), properties)
            assert graph.add_node(node)[1] == model.add_node(node)
        elif what < 0.8:
            ends = graph.find(first), graph.find(second)
            if ends[0] is not None and ends[1] is not None:
                made = graph.add_edge(ends[0], ends[1], relation, properties)
                assert made == model.add_edge(ScratchEdge(first, second, relation, properties))
        elif what < 0.9 and (found := graph.find(first)) is not None:
            assert graph.remove_node(found) == model.remove_node(same_key(first))
        elif (s := graph.find(first)) is not None and (t := graph.find(second)) is not None:
            one = dice.choice((None, relation))
            gone = graph.remove_edges(s, t, one)
            assert gone == model.remove_edges(same_key(first), same_key(second), one and one.casefold())
    return graph, model


@pytest.mark.parametrize("seed", SEEDS)
def test_any_changes_leave_what_the_plain_model_and_networkx_have(seed: int) -> None:
    graph, model = _walk(seed)
    content = graph.content()
    assert content.nodes == tuple(model.nodes.values())
    assert content.edges == tuple(model.edges.values())
    assert (graph.node_count, graph.edge_count) == (len(model.nodes), len(model.edges))
    assert graph.edge_count == model.graph.number_of_edges()
    assert sorted(graph.relations.values()) == sorted(
        sum(1 for edge in model.edges if edge[2] == relation) for relation in {edge[2] for edge in model.edges}
    )
    for key, node in model.nodes.items():
        index = graph.find(node.label)
        assert index is not None
        assert graph.degrees(index) == (model.graph.in_degree(key), model.graph.out_degree(key))
        uses = [edge for edge in model.edges if edge[2] == "uses"]
        expected = sum(edge[1] == key for edge in uses), sum(edge[0] == key for edge in uses)
        assert graph.degrees(index, "Uses") == expected
        for other in model.nodes.values():
            at = graph.find(other.label)
            between = [edge.relation.casefold() for edge in graph.edges(index, at)]
            assert between == [edge[2] for edge in model.edges if edge[:2] == (key, same_key(other.label))]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bytes_of_a_graph_depend_on_what_is_in_it_alone(seed: int) -> None:
    graph, _ = _walk(seed)
    again = ScratchGraph(LIMITS)
    again.apply(graph.content())
    assert again.bytes == graph.bytes
    for index in list(graph.order()):
        graph.remove_node(index)
    assert (graph.bytes, graph.edge_count, graph.relations) == (0, 0, {})


@pytest.mark.parametrize("seed", range(20))
def test_a_page_goes_on_after_any_edge(seed: int) -> None:
    graph, _ = _walk(seed)
    everything = list(graph.edges())
    assert [edge.sequence for edge in everything] == sorted(edge.sequence for edge in everything)
    for place, edge in enumerate(everything):
        assert list(graph.edges(after=edge.sequence)) == everything[place + 1 :]
        of_source = [one for one in everything[place + 1 :] if one.source == edge.source]
        assert list(graph.edges(source=edge.source, after=edge.sequence)) == of_source


def test_two_relations_between_the_same_nodes_are_two_edges() -> None:
    graph = _graph(("A", "B", "calls"), ("A", "B", "imports"), ("a", "b", "Calls"))
    assert [edge.relation for edge in graph.edges()] == ["calls", "imports"]
    assert graph.count_edges(relation="CALLS") == 1


def test_the_same_edge_once_more_merges_its_properties() -> None:
    graph = _graph(("A", "B", "calls"))
    source, target = graph.find("A"), graph.find("B")
    assert source is not None
    assert target is not None
    assert not graph.add_edge(source, target, "CALLS", {"a": 1})
    assert not graph.add_edge(source, target, "calls", {"b": 2})
    assert next(graph.edges()).properties == {"a": 1, "b": 2}


def test_a_type_that_differs_is_told_and_not_taken() -> None:
    graph = ScratchGraph(LIMITS)
    index, _ = graph.add_node(ScratchNode("A", None, {"a": 1}))
    assert graph.merge_node(index, "service", {"b": 2}) == ()
    assert graph.merge_node(index, "module", {"a": 3}) == ("type stays 'service', not 'module'",)
    assert graph.node(index) == ScratchNode("A", "service", {"a": 3, "b": 2})


def test_what_changes_nothing_leaves_the_version() -> None:
    graph = _graph(("A", "A", "knows"))
    index = graph.find("A")
    assert index is not None
    before = graph.version
    graph.add_node(ScratchNode("a"))
    graph.merge_node(index, None, {})
    graph.add_edge(index, index, "knows")
    graph.remove_edges(index, index, "likes")
    assert graph.version == before
    graph.remove_edges(index, index)
    assert graph.version > before


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (replace(LIMITS, nodes=4), "4 nodes"),
        (replace(LIMITS, edges=3), "3 edges"),
        (replace(LIMITS, bytes=6_000), "6,000 bytes"),
    ],
)
def test_beyond_a_limit_nothing_is_added_and_the_limit_is_named(limits: ScratchLimits, named: str) -> None:
    graph = _graph(("A", "B", "calls"), ("B", "C", "calls"), limits=limits)
    before = graph.content(), graph.version, graph.bytes
    more = tuple(ScratchEdge(source, "D", "calls", {"text": "x" * 2000}) for source in ("A", "E"))
    with pytest.raises(TooLarge, match=named):
        graph.apply(Content(nodes=(ScratchNode("A", "module"),), edges=more))
    assert (graph.content(), graph.version, graph.bytes) == before


def test_what_is_there_already_takes_no_room() -> None:
    graph = _graph(("A", "B", "calls"), limits=replace(LIMITS, nodes=2, edges=1))
    same = Content((ScratchNode("a"), ScratchNode("B")), (ScratchEdge("a", "b", "CALLS"),))
    assert graph.apply(same) == Applied(0, 0)


def test_bytes_of_the_other_graphs_count() -> None:
    graph = ScratchGraph(replace(LIMITS, bytes=10_000), bytes_elsewhere=lambda: 9_900)
    with pytest.raises(TooLarge, match="together"):
        graph.add_node(ScratchNode("A"))
    assert graph.node_count == 0


def test_a_view_is_made_once_for_a_state() -> None:
    graph = _graph(("A", "B", "calls"), ("A", "B", "imports"), ("B", "B", "imports"))
    view = graph.view()
    assert view is graph.view()
    assert list(zip(view.sources.tolist(), view.targets.tolist(), strict=True)) == [(0, 1), (1, 1)]
    assert graph.view(relation="Calls").sources.tolist() == [0]
    graph.add_node(ScratchNode("C"))
    assert graph.view().n == 3


def test_a_removed_node_is_dropped_from_the_vectors() -> None:
    graph = _graph(("A", "B", "calls"))
    assert list(graph.vectors.pending) == [0, 1]
    graph.vectors.add(0, [1.0, 0.0])
    graph.remove_node(0)
    assert len(graph.vectors) == 0
    assert list(graph.vectors.pending) == [1]


def test_a_graph_that_is_let_go_is_freed_at_once() -> None:
    """Without the garbage collector, which may come much later."""
    graph = _graph(("A", "B", "calls"), ("B", "C", "imports"))
    graph.vectors.add(0, [1.0, 0.0])
    graph.view(relation="calls")
    left = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert left() is None
    finally:
        gc.enable()


def test_a_view_that_a_change_overtook_is_not_kept() -> None:
    graph = ScratchGraph(ScratchLimits())

    class Overtaken(float):
        """A weight that is looked at while somebody writes."""

        def __abs__(self) -> float:
            graph.add_node(ScratchNode("late"))
            return super().__abs__()

    graph.apply(Content(edges=(ScratchEdge("A", "B", "uses", {"w": Overtaken(2)}),)))
    assert graph.view("w").n == 2
    assert graph.find("late") is not None
    assert graph.view("w").n == 3


def test_properties_that_would_outgrow_their_bound_by_merging_are_refused_and_nothing_is_added() -> None:
    graph = ScratchGraph(LIMITS)
    half = {"a": "x" * 6_000}
    graph.apply(Content(nodes=(ScratchNode("A", None, half),), edges=(ScratchEdge("A", "B", "uses", half),)))
    more = {"b": "y" * 6_000}
    new = ScratchNode("New")
    for content in (
        Content(nodes=(new, ScratchNode("a", None, more))),
        Content(nodes=(new,), edges=(ScratchEdge("a", "b", "USES", more),)),
        Content(nodes=(new, ScratchNode("C", None, half), ScratchNode("c", None, more))),
    ):
        with pytest.raises(TooLarge, match="10,000 characters"):
            graph.apply(content)
    assert (graph.node_count, graph.edge_count) == (2, 1)
    several = Content(
        nodes=(ScratchNode("A", None, {"b": 1}), ScratchNode("a", None, more), ScratchNode("C", None, more)),
        edges=(ScratchEdge("A", "B", "other", more), ScratchEdge("A", "B", "uses", more)),
    )
    assert graph.overgrown(several) == ([1], [1])
    graph.apply(Content(nodes=(ScratchNode("A", None, {"a": "short", **more}),)))  # replaced, not added


def test_what_is_too_large_already_may_shrink() -> None:
    graph = ScratchGraph(LIMITS)
    graph.add_node(ScratchNode("A", None, {"a": "x" * 12_000}))
    graph.apply(Content(nodes=(ScratchNode("A", None, {"a": "x" * 11_000}),)))
    assert len(graph.node(0).properties["a"]) == 11_000


def test_a_graph_that_was_merged_and_renamed_is_like_one_that_was_made_so() -> None:
    dice = random.Random(54)  # noqa: S311 any will do
    names = [f"node {number}" for number in range(8)]
    for _ in range(500):
        graph = ScratchGraph(LIMITS)
        edges = tuple(
            ScratchEdge(dice.choice(names), dice.choice(names), dice.choice("ab"), {"p": dice.choice((1, "xyz"))})
            for _ in range(14)
        )
        graph.apply(Content(nodes=tuple(ScratchNode(name, None, {name: 1}) for name in names), edges=edges))
        for _ in range(4):
            keep, remove = dice.sample(list(graph.order()), 2)
            label, edges_before = graph.label(remove), graph.edge_count
            merged = graph.merge_nodes(keep, remove)
            assert graph.edge_count == edges_before - len(merged.met) - len(merged.dropped)
            assert graph.find(label) is None
            chosen = dice.choice(list(graph.order()))
            graph.rename(chosen, f"renamed {dice.random()}")
            assert graph.find(graph.label(chosen)) == chosen
        again = ScratchGraph(LIMITS)
        again.apply(graph.content())
        assert (again.bytes, again.edge_count, again.relations) == (graph.bytes, graph.edge_count, graph.relations)
        assert {node.label for node in again.content().nodes} == {graph.label(index) for index in graph.order()}
