"""Contract of ``Graph``: records without a vector, giving them one, and taking all away for another model."""

from array import array

import pytest
from tests.builders import a_fact, a_passage, a_write, an_entity, an_episode, at

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import EmbeddedFact, Entity, Episode, Fact, NewVectors, Passage, Vector
from graphiti_pkm.core.ports.embedding import EmbeddingSize, TextToEmbed
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import WriteFailed

GROUPS = ("t1",)
NEAR, FAR, WIDE = array("f", [0.6, 0.8]), array("f", [0.8, -0.6]), array("f", [0.0, 0.6, 0.8])
CONTENT = "Zoë 🙂 naps. 王小明 reads."

World = tuple[Entity, Entity, Fact, Episode, Passage]


async def told(graph: Graph, vector: "Vector | None" = None, group_id: str = "t1") -> World:
    """Two entities, a fact and a passage; all with the vector, or none."""
    zoe, ming = an_entity("Zoë", group_id=group_id), an_entity("王小明", group_id=group_id)
    episode = an_episode(CONTENT, group_id=group_id)
    fact = a_fact(zoe, ming, text="Zoë knows 王小明", group_id=group_id, episodes=(episode.uuid,))
    passage = a_passage(episode, start=CONTENT.index("王"))
    uuids = (zoe.uuid, ming.uuid, fact.uuid, passage.uuid)
    write = a_write(episode, zoe, ming, fact, passage)
    await graph.writer.apply(write, dict.fromkeys(uuids, vector) if vector is not None else {})
    return zoe, ming, fact, episode, passage


def all_of(world: World) -> NewVectors:
    zoe, ming, fact, episode, passage = world
    about = EmbeddedFact(uuid=fact.uuid, source_uuid=zoe.uuid, target_uuid=ming.uuid, episodes=fact.episodes)
    return NewVectors(entities=(zoe.uuid, ming.uuid), facts=(about,), passages=((episode.uuid, passage.uuid),))


async def scores(graph: Graph, vector: Vector) -> list[float]:
    """Cosines of everything that is found."""
    entities = await graph.search.nearest_entities(vector, EntityFilter(group_ids=GROUPS), 9)
    facts = await graph.search.nearest_facts(vector, FactFilter(group_ids=GROUPS, now=at(2026)), 9)
    episodes = await graph.search.nearest_episodes(vector, EpisodeFilter(group_ids=GROUPS), 9)
    return [*entities.values(), *facts.values(), *(hit.cosine for hit in episodes.values())]


async def test_what_has_no_vector_is_listed_with_its_text_entities_then_passages_then_facts(graph: Graph) -> None:
    zoe, ming, fact, episode, passage = await told(graph)
    await told(graph, NEAR)
    await told(graph, group_id="t2")
    found = await graph.embeddings.without_vector("t1", 10)
    names = sorted((one.uuid, one.name) for one in (zoe, ming))
    about = EmbeddedFact(uuid=fact.uuid, source_uuid=zoe.uuid, target_uuid=ming.uuid, episodes=(episode.uuid,))
    assert found == [
        *(TextToEmbed(kind="entity", uuid=uuid, text=name) for uuid, name in names),
        TextToEmbed(kind="passage", uuid=passage.uuid, text="王小明 reads.", episode_uuid=episode.uuid),
        TextToEmbed(kind="fact", uuid=fact.uuid, text="Zoë knows 王小明", fact=about),
    ]
    assert await graph.embeddings.without_vector("t1", 3) == found[:3]
    assert await graph.embeddings.without_vector("t1", 1) == found[:1]


async def test_the_size_counts_texts_and_characters_of_all_or_of_what_lacks_a_vector(graph: Graph) -> None:
    assert await graph.embeddings.embedding_size(only_missing=False) == EmbeddingSize()
    world = await told(graph)
    await told(graph, NEAR, "t2")
    characters = sum(map(len, (world[0].name, world[1].name, world[2].text, "王小明 reads.")))
    missing = EmbeddingSize(entities=2, facts=1, passages=1, characters=characters)
    assert await graph.embeddings.embedding_size(only_missing=True) == missing
    assert missing.texts == 4
    twice = EmbeddingSize(entities=4, facts=2, passages=2, characters=2 * characters)
    assert await graph.embeddings.embedding_size(only_missing=False) == twice


async def test_new_vectors_go_to_what_has_none_and_leave_others(graph: Graph) -> None:
    bare, held = await told(graph), await told(graph, FAR)
    for world in (bare, held):
        given = all_of(world)
        await graph.writer.apply(a_write(new_vectors=given), dict.fromkeys(given.uuids, NEAR))
    assert sorted(await scores(graph, NEAR)) == pytest.approx([0, 0, 0, 0, 1, 1, 1, 1], abs=1e-5)
    assert await graph.embeddings.without_vector("t1", 10) == []


async def test_new_vectors_for_what_is_gone_or_that_did_not_come_are_left_out(graph: Graph) -> None:
    world = await told(graph)
    given = NewVectors(entities=("gone", world[0].uuid, world[1].uuid))
    await graph.writer.apply(a_write(new_vectors=given), {"gone": NEAR, world[0].uuid: NEAR})
    assert (await graph.embeddings.without_vector("t1", 1))[0].uuid == world[1].uuid
    with pytest.raises(WriteFailed):
        await graph.writer.apply(a_write(new_vectors=given), {world[1].uuid: WIDE})


async def test_after_a_change_of_model_only_vectors_of_the_new_dimension_are_there(graph: Graph) -> None:
    await graph.embeddings.record_embedding("one", 2)
    world = await told(graph, NEAR)
    await graph.embeddings.change_embedding("other", 3)
    assert await graph.embeddings.embedding() == ("other", 3)
    removed = []
    while count := await graph.embeddings.remove_vectors(3):
        removed.append(count)
    assert (sum(removed), max(removed)) == (4, 3)
    assert await scores(graph, WIDE) == []
    await graph.writer.apply(a_write(new_vectors=all_of(world)), dict.fromkeys(all_of(world).uuids, WIDE))
    assert await scores(graph, WIDE) == pytest.approx([1, 1, 1, 1], abs=1e-5)
    await told(graph, WIDE)
    with pytest.raises(WriteFailed):
        await told(graph, NEAR)


async def test_vectors_are_given_out_by_uuid_for_copies_in_the_groups_named(graph: Graph) -> None:
    zoe, ming, fact, _, passage = await told(graph, NEAR)
    other, *_ = await told(graph, FAR, group_id="t2")
    bare, *_ = await told(graph)
    asked = [one.uuid for one in (zoe, ming, fact, passage, other, bare)]
    found = await graph.embeddings.vectors_of([*asked, "unknown"], GROUPS)
    assert found.keys() == {zoe.uuid, ming.uuid, fact.uuid, passage.uuid}
    assert {tuple(vector) for vector in found.values()} == {tuple(NEAR)}
    assert await graph.embeddings.vectors_of([], GROUPS) == {}


async def test_a_message_without_vectors_is_listed_with_its_speaker_in_front_of_each_sentence(graph: Graph) -> None:
    message = an_episode("Zoë: we land. Who drives?", source="message")
    passages = [a_passage(message, 0, 13), a_passage(message, 14, 25, sentence=1)]
    await graph.writer.apply(a_write(message, *passages), {})
    found = await graph.embeddings.without_vector("t1", 10)
    assert {one.uuid: one.text for one in found} == {
        passages[0].uuid: "Zoë: we land.",
        passages[1].uuid: "Zoë: Who drives?",
    }
