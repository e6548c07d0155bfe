"""Contract of ``Graph``: what cannot be stored is refused as a whole, and nothing of it stays."""

import math
from array import array

import pytest
from tests.builders import a_fact, a_name, a_passage, a_write, an_entity, an_episode

from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import WriteFailed

GOOD = array("f", [0.6, 0.8, 0.0, 0.0])


async def assert_refused(graph: Graph, write: WriteIntent, vectors: "Vectors | None" = None) -> None:
    """Refused twice, and the graph is as empty as before."""
    for _ in range(2):
        with pytest.raises(WriteFailed):
            await graph.writer.apply(write, vectors or {})
    assert await graph.records.groups() == []
    assert await graph.writer.applied([write.uuid]) == set()
    assert await graph.records.get_names([name.key for name in write.names]) == {}


@pytest.mark.parametrize("text", ["one\x00two", "half \ud83d pair", "\udc00"])
async def test_text_that_no_store_can_hold_is_refused(graph: Graph, text: str) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    around = (an_episode("fine"), sarah, tom, a_name(sarah))
    await assert_refused(graph, a_write(*around, an_episode(text)))
    await assert_refused(graph, a_write(*around, an_entity("Ann", summary=text)))
    await assert_refused(graph, a_write(*around, a_fact(sarah, tom, text=text)))
    await assert_refused(graph, a_write(*around, a_fact(sarah, tom, attributes={"note": text})))


@pytest.mark.parametrize("label", ["a`b", "Work Item", "Größe", "", "1st", "x" * 65])
async def test_a_type_that_is_no_plain_word_is_refused(graph: Graph, label: str) -> None:
    await assert_refused(graph, a_write(an_episode(), an_entity(label=label)))


@pytest.mark.parametrize("bad", [[0.0] * 4, [math.nan] * 4, [math.inf, 0.0, 0.0, 0.0]])
async def test_a_vector_without_direction_is_refused(graph: Graph, bad: list[float]) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await assert_refused(graph, a_write(sarah, tom), {sarah.uuid: GOOD, tom.uuid: array("f", bad)})


async def test_vectors_of_two_dimensions_are_refused(graph: Graph) -> None:
    sarah, episode = an_entity("Sarah"), an_episode()
    passage = a_passage(episode)
    longer = array("f", [1.0, 0.0, 0.0, 0.0, 0.0])
    await assert_refused(graph, a_write(sarah, episode, passage), {sarah.uuid: GOOD, passage.uuid: longer})


async def test_a_vector_of_another_dimension_than_those_there_is_refused(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await graph.writer.apply(a_write(sarah), {sarah.uuid: GOOD})
    with pytest.raises(WriteFailed):
        await graph.writer.apply(a_write(tom), {tom.uuid: array("f", [1.0, 0.0])})
    assert await graph.records.get_entities([sarah.uuid, tom.uuid], ["t1"]) == [sarah]


async def test_the_graph_goes_on_after_a_refusal(graph: Graph) -> None:
    await assert_refused(graph, a_write(an_episode("\x00")))
    episode = an_episode()
    await graph.writer.apply(a_write(episode), {})
    assert await graph.records.get_episodes([episode.uuid], ["t1"]) == [episode]
