"""Whatever a text holds: it is read, or refused with a reason, and a graph gets all of it or nothing (acceptance 3)."""

import time
from typing import get_args

import pytest
from tests.unit.capabilities.scratch.formats.fuzzing import SAMPLES, mutated

from graphiti_pkm.capabilities.scratch.formats.registry import LARGEST_TEXT, ReadFormat, WriteFormat, parse, write
from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_A_FORMAT = 2_500
_A_TEST = 500
_SMALL = ScratchLimits(nodes=12, edges=14)
"""So that many of the texts that can be read do not fit."""


def said_or_refusal(text: str, text_format: ReadFormat, graph: ScratchGraph) -> Content | InvalidInput:
    """What a text said that a graph took, or why it took nothing; any other error is a crash."""
    try:
        said = parse(text, text_format, ScratchLimits())
        graph.apply(said)
    except InvalidInput as refusal:
        return refusal
    return said


@pytest.mark.parametrize("text_format", SAMPLES)
@pytest.mark.parametrize("first", range(0, _A_FORMAT, _A_TEST))
@pytest.mark.timeout(30)  # the watchdog over all of them: no single one may hang
def test_almost_right_texts(text_format: ReadFormat, first: int) -> None:
    taken, slowest = 0, (0.0, 0)
    for seed in range(first, first + _A_TEST):
        text, graph = mutated(text_format, seed), ScratchGraph(_SMALL)
        graph.apply(parse('digraph { api -> auth; "C++" -> auth [label=uses] }', "dot", _SMALL))
        before, began = graph.content(), time.thread_time()
        said = said_or_refusal(text, text_format, graph)
        if isinstance(said, InvalidInput):
            assert graph.content() == before, f"{text_format} {seed}"
            assert 0 < len(said.message.encode()) < 1_000, f"{text_format} {seed}"
        else:
            taken += 1
            assert len({same_key(node.label) for node in said.nodes}) == len(said.nodes), f"{text_format} {seed}"
            assert graph.apply(parse(text, text_format, ScratchLimits()))[:2] == (0, 0), f"{text_format} {seed}"
            labels = {graph.label(index) for index in graph.order()}
            assert all(graph.find(node.label) is not None for node in said.nodes), f"{text_format} {seed}"
            assert labels >= {node.label for node in before.nodes}, f"{text_format} {seed}"
            for edge in said.edges:
                ends = graph.find(edge.source), graph.find(edge.target)
                assert graph.count_edges(*ends, edge.relation) == 1, f"{text_format} {seed}"
            for shown in get_args(WriteFormat):
                write(graph.content(), shown)
        slowest = max(slowest, (time.thread_time() - began, seed))
    print(f"{text_format}: seeds from {first}, {taken} taken, slowest {slowest[0]:.3f} s of CPU (seed {slowest[1]})")  # noqa: T201
    assert 0 < taken < _A_TEST  # else the samples are not almost right


@pytest.mark.parametrize(
    ("text_format", "begin", "again", "end"),
    [
        ("dot", "digraph {", "a[x=1];", "}"),
        ("dot", "digraph {", "{a b c}->{d e f};", "}"),
        ("dot", "digraph {", "{", ""),
        ("dot", "digraph {", "subgraph{}", "}"),
        ("dot", "digraph { a [x=", "<", ""),
        ("dot", "digraph { a [x=", '"a"+', '"b"]}'),
        ("dot", "", "/*", ""),
        ("dot", "digraph { ", "\\\n #", ""),
        ("dot", 'digraph { "', '\\"', ""),
        ("csv", "source,target\n", "a,b\n", ""),
        ("csv", 'source,target\n"', '""', ""),
        ("csv", "source,target,", "x,", "\na,b\n"),
        ("csv", "source,target\n", "\r", ""),
        ("json", "", "[", ""),
        ("json", '{"nodes": [', '{"label":"a","x":1},', '"b"]}'),
        ("json", '{"nodes": ["a"], "x": ', "9", "}"),
        ("graphml", "", "<graphml>", ""),
        ("graphml", "<graphml><graph>", "<node id='a'/>", "</graph></graphml>"),
        ("graphml", "<graphml ", "a='b' ", "/>"),
        ("graphml", "<graphml>", "&amp;", "</graphml>"),
        ("graphml", "<graphml><!--", "-", "--></graphml>"),
    ],
)
@pytest.mark.timeout(20)
def test_a_megabyte_of_one_thing_holds_nobody_up(text_format: ReadFormat, begin: str, again: str, end: str) -> None:
    text = begin + again * ((LARGEST_TEXT - len(begin) - len(end)) // len(again)) + end
    began = time.thread_time()
    said = said_or_refusal(text, text_format, ScratchGraph(ScratchLimits()))
    assert len(said.message) < 400 if isinstance(said, InvalidInput) else len(said.nodes) <= 6
    print(f"{text_format} {begin}{again}…: {time.thread_time() - began:.3f} s of CPU")  # noqa: T201
