"""What Graphiti's own code writes is readable, and what we write is readable to it."""

from datetime import UTC
from typing import Any

import pytest
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from tests.builders import GROUP, RECORDED, a_fact, a_mention, a_name, a_write, an_entity, an_episode, at

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

FACTS = FactFilter(group_ids=(GROUP,), now=at(2026, 6))
PAGE = Window(limit=100)


def a_node(name: str, **fields: Any) -> EntityNode:
    values = {"name": name, "group_id": GROUP, "labels": ["Person"], "summary": "", "created_at": RECORDED}
    return EntityNode(**{**values, "name_embedding": [0.6, 0.8], **fields})


def an_edge(source: EntityNode, target: EntityNode, **fields: Any) -> EntityEdge:
    values = {
        "source_node_uuid": source.uuid,
        "target_node_uuid": target.uuid,
        "group_id": GROUP,
        "name": "MANAGES",
        "fact": "Sarah manages Tom.",
        "fact_embedding": [0.6, 0.8],
        "episodes": ["e1"],
        "created_at": RECORDED,
        "valid_at": at(2025),
    }
    return EntityEdge(**{**values, **fields})


async def test_facts_of_graphiti_with_attributes_unknown_to_us_are_read(store: GraphStore, driver: GraphDriver) -> None:
    sarah, tom = a_node("Sarah", attributes={"age": 41}), a_node("Tom", labels=[])
    edge = an_edge(sarah, tom, attributes={"weight": 0.5, "kind": "strange", "value": 7, "tags": ["a", "b"]})
    for one in (sarah, tom, edge):
        await one.save(driver)

    page = await store.facts.connections(tom.uuid, FACTS, PAGE)
    assert page.total == 1
    (fact,) = page.facts
    assert (fact.source_name, fact.relation, fact.target_name) == ("Sarah", "MANAGES", "Tom")
    assert (fact.kind, fact.value, fact.voided, fact.valid_at) == ("state", None, False, at(2025))
    assert fact.attributes == {"weight": 0.5, "kind": "strange", "value": 7, "tags": ["a", "b"]}
    assert page.keys[0][0] == 1

    first, second = await store.records.get_entities([sarah.uuid, tom.uuid], [GROUP])
    assert (first.label, first.attributes, second.label) == ("Person", {"age": 41}, None)


async def test_an_entity_of_graphiti_is_known_by_its_name(store: GraphStore, driver: GraphDriver) -> None:
    sarah, other = a_node("Sarah Miller"), a_node("Sarah Miller", group_id="other")
    for one in (sarah, other):
        await one.save(driver)
    key = name_key(GROUP, "sarah-miller")
    found = await store.records.get_names([key, name_key(GROUP, "Sarah")])
    assert {name.entity_uuid for name in found.values()} == {sarah.uuid}
    assert list(found) == [key]
    ours = an_entity("Tom")
    await store.writer.apply(a_write(ours, a_name(ours)), {})
    assert await store.records.get_names([key]) == found


async def test_episodes_of_graphiti_and_a_mention_it_repeats_count_once(store: GraphStore, driver: GraphDriver) -> None:
    sarah = a_node("Sarah")
    note = EpisodicNode(
        name="Note",
        group_id=GROUP,
        source=EpisodeType.message,
        source_description="chat",
        content="Sarah came.",
        valid_at=at(2025),
        created_at=RECORDED,
        entity_edges=[],
    )
    mentions = [
        EpisodicEdge(source_node_uuid=note.uuid, target_node_uuid=sarah.uuid, group_id=GROUP, created_at=RECORDED)
        for _ in range(2)
    ]
    await sarah.save(driver)
    await note.save(driver)
    for mention in mentions:
        await mention.save(driver)
    ours = an_episode(uuid=note.uuid)
    await store.writer.apply(a_write(a_mention(ours, an_entity(uuid=sarah.uuid))), {})

    page = await store.episodes.timeline(sarah.uuid, EpisodeFilter(group_ids=(GROUP,)), PAGE)
    assert (page.total, len(page.episodes)) == (1, 1)
    assert (page.episodes[0].content, page.episodes[0].source) == ("Sarah came.", "message")
    assert (await store.episodes.timeline_summary(sarah.uuid, EpisodeFilter(group_ids=(GROUP,)), UTC)).total == 1
    assert await store.records.entity_support([sarah.uuid]) == {sarah.uuid: (1, 0)}


async def test_what_graphiti_retired_was_open_until_it_expired(store: GraphStore, driver: GraphDriver) -> None:
    """Graphiti leaves no change, and no kind on its facts."""
    sarah, retired = a_node("Sarah"), at(2026, 2)
    edge = an_edge(sarah, sarah, invalid_at=at(2026), expired_at=retired)
    for one in (sarah, edge):
        await one.save(driver)
    for known_at, expected in ((at(2026, 1, 15), (None, None)), (retired, (at(2026), retired))):
        asked = FACTS.model_copy(update={"known_at": known_at})
        (known,) = (await store.facts.connections(sarah.uuid, asked, PAGE)).facts
        assert (known.valid_at, known.invalid_at, known.expired_at) == (at(2025), *expected)


async def test_the_groups_of_a_graph_that_graphiti_filled_are_seen(store: GraphStore) -> None:
    database = await store.database()
    await database.write(Query("empty", "MATCH (n) DETACH DELETE n", {}))
    text = "CREATE (:Entity {uuid: 'a', group_id: 'old'}), (:Episodic {uuid: 'b', group_id: 'older'})"
    await database.write(Query("foreign", text, {}))
    adopting = GraphStore(store._opened.open_database)
    assert await adopting.records.groups() == ["old", "older"]
    await adopting.close()


async def test_graphiti_reads_what_we_wrote(store: GraphStore, driver: GraphDriver) -> None:
    sarah, tom = an_entity("Sarah", label="Person", attributes={"age": 41}), an_entity("Tom")
    episode = an_episode("Sarah manages Tom.")
    fact = a_fact(sarah, tom, "MANAGES", valid_at=at(2025), episodes=(episode.uuid,), value="daily")
    await store.writer.apply(a_write(episode, sarah, tom, fact, a_mention(episode, sarah)), {})

    node = await EntityNode.get_by_uuid(driver, sarah.uuid)
    assert (node.name, set(node.labels), node.attributes) == ("Sarah", {"Entity", "Person"}, {"age": 41})
    edge = await EntityEdge.get_by_uuid(driver, fact.uuid)
    assert (edge.fact, edge.valid_at, edge.episodes) == (fact.text, at(2025), [episode.uuid])
    assert edge.attributes["value"] == "daily"
    note = await EpisodicNode.get_by_uuid(driver, episode.uuid)
    assert (note.content, note.entity_edges) == (episode.content, [fact.uuid])


async def test_a_fact_that_graphiti_saves_again_keeps_what_is_ours(store: GraphStore, driver: GraphDriver) -> None:
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah, "HAS_SLEEP", kind="reading", measure="sleep", value="6.5", unit="h", quote="6.5 h")
    await store.writer.apply(a_write(sarah, fact), {})
    edge = await EntityEdge.get_by_uuid(driver, fact.uuid)
    edge.fact_embedding = [0.6, 0.8]
    await edge.save(driver)
    assert await store.records.get_facts([fact.uuid], [GROUP]) == [fact]
    assert list(await store.search.search_facts(["sleep"], FACTS, 10)) == [fact.uuid]


async def test_the_driver_keeps_every_group_in_one_graph(driver: GraphDriver) -> None:
    assert driver.clone("other") is driver
    assert driver._init_task is None


async def test_the_driver_is_silent(driver: GraphDriver, capsys: pytest.CaptureFixture[str]) -> None:
    await driver.health_check()
    assert capsys.readouterr() == ("", "")
