"""``SqliteDriver`` on the file of a memory: it reads what our server wrote, and our server what Graphiti wrote."""

import asyncio
import sqlite3
from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from graphiti_core.edges import CommunityEdge, EntityEdge, EpisodicEdge, HasEpisodeEdge, NextEpisodeEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, SagaNode
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import community_fulltext_search, edge_fulltext_search, node_similarity_search
from tests.builders import GROUP, a_fact, a_mention, a_name, an_entity, an_episode, at, new_uuid
from tests.e2e.support import run

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Deletions, EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.model.saga_records import Community, EpisodeLink, Saga, SagaStep
from graphiti_pkm.errors import ConfigurationError, NewerSchema
from graphiti_pkm.graphiti_adapter import SqliteDriver
from graphiti_pkm.storage.graph.sqlite import schema
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import JOURNAL, MEMORY, JournalFile

VECTOR = array("f", [1.0, 0.0])


@pytest.fixture
async def driver(sqlite_graph: SqliteGraph, tmp_path: Path) -> AsyncIterator[SqliteDriver]:
    await sqlite_graph.ready()
    async with SqliteDriver(tmp_path / "data" / MEMORY) as opened:
        yield opened


def an_intent(**fields: Any) -> WriteIntent:
    return WriteIntent(uuid=new_uuid(), group_id=GROUP, kind=WriteKind.ADD_MEMORY, recorded_at=at(2026), **fields)


async def test_graphiti_reads_what_our_server_wrote(sqlite_graph: SqliteGraph, driver: SqliteDriver) -> None:
    sarah, berlin = an_entity(label="Person", summary_by_model=True), an_entity("Berlin", attributes={"a": 1})
    told, later = an_episode(), an_episode("Later.")
    moved = a_fact(sarah, berlin, "MOVED_TO", kind="event", quote="moved", episodes=(told.uuid,), valid_at=at(2025))
    saga = Saga(uuid=new_uuid(), group_id=GROUP, name="Move", created_at=at(2025))
    friends = Community(
        uuid=new_uuid(), group_id=GROUP, name="Good friends", summary="s", created_at=at(2026), members=(sarah.uuid,)
    )
    mention = a_mention(told, sarah)
    step = SagaStep(uuid=new_uuid(), saga_uuid=saga.uuid, episode_uuid=told.uuid, created_at=at(2026))
    link = EpisodeLink(uuid=new_uuid(), previous_uuid=told.uuid, next_uuid=later.uuid, created_at=at(2026))
    intent = an_intent(
        episodes=(told, later),
        entities=(sarah, berlin),
        names=(a_name(sarah),),
        facts=(moved,),
        mentions=(mention,),
        sagas=(saga,),
        saga_steps=(step,),
        episode_links=(link,),
        communities=(friends,),
    )
    await sqlite_graph.writer.apply(intent, {sarah.uuid: VECTOR, friends.uuid: VECTOR})

    found = await EntityNode.get_by_uuid(driver, sarah.uuid)
    assert (found.name, found.labels, found.attributes) == ("Sarah", ["Entity", "Person"], {"summary_by_model": True})
    edge = await EntityEdge.get_by_uuid(driver, moved.uuid)
    assert edge.attributes == {"kind": "event", "quote": "moved", "voided": False}
    assert (edge.valid_at, edge.episodes) == (at(2025), [told.uuid])
    episode = await EpisodicNode.get_by_uuid(driver, told.uuid)
    assert (episode.content, episode.entity_edges) == (told.content, [moved.uuid])
    assert (await SagaNode.get_by_uuid(driver, saga.uuid)).name == "Move"
    assert (await CommunityNode.get_by_uuid(driver, friends.uuid)).name_embedding == [1.0, 0.0]
    (member,) = await CommunityEdge.get_by_group_ids(driver, [GROUP])
    assert (await CommunityEdge.get_by_uuid(driver, member.uuid)).target_node_uuid == sarah.uuid
    for kind, uuid in ((EpisodicEdge, mention.uuid), (HasEpisodeEdge, step.uuid), (NextEpisodeEdge, link.uuid)):
        assert (await kind.get_by_uuid(driver, uuid)).group_id == GROUP
    assert [one.uuid for one in await community_fulltext_search(driver, "friends", [GROUP])] == [friends.uuid]
    assert [one.uuid for one in await edge_fulltext_search(driver, "moved", SearchFilters())] == [moved.uuid]
    near = await node_similarity_search(driver, [1.0, 0.0], SearchFilters())
    assert [one.uuid for one in near] == [sarah.uuid]

    await edge.save(driver)
    await found.save(driver)
    assert await sqlite_graph.records.get_facts([moved.uuid], [GROUP]) == [moved]
    assert await sqlite_graph.records.get_entities([sarah.uuid], [GROUP]) == [sarah]


async def test_our_server_reads_what_graphiti_wrote(sqlite_graph: SqliteGraph, driver: SqliteDriver) -> None:
    ada = EntityNode(name="Ada", group_id=GROUP, labels=["Entity", "Person", "Author"], name_embedding=[1.0, 0.0])
    bo = EntityNode(name="Bo", group_id=GROUP, attributes={"nested": {"a": [1]}})
    told = EpisodicNode(
        name="note",
        group_id=GROUP,
        source=EpisodeType.text,
        source_description="the archive",
        content="Ada met Bo.",
        valid_at=at(2025),
        episode_metadata={"secret": "word"},
    )
    met = EntityEdge(
        source_node_uuid=ada.uuid,
        target_node_uuid=bo.uuid,
        group_id=GROUP,
        name="HAS_MET",
        fact="Ada met Bo.",
        created_at=at(2026),
        episodes=[told.uuid],
        attributes={"kind": "event"},
    )
    mention = EpisodicEdge(source_node_uuid=told.uuid, target_node_uuid=ada.uuid, group_id=GROUP, created_at=at(2026))
    for record in (ada, bo, told, met, mention):
        await record.save(driver)

    assert await sqlite_graph.records.groups() == [GROUP]
    assert list(await sqlite_graph.records.get_names([name_key(GROUP, "ada")])) == [name_key(GROUP, "ada")]
    (entity,) = await sqlite_graph.records.get_entities([bo.uuid], [GROUP])
    assert entity.attributes == {"nested": {"a": [1]}}
    (fact,) = await sqlite_graph.records.get_facts([met.uuid], [GROUP])
    assert (fact.kind, fact.episodes, fact.source_name) == ("event", (told.uuid,), "Ada")
    search = sqlite_graph.search
    assert list(await search.search_episodes(["archive"], EpisodeFilter(group_ids=(GROUP,)), 5)) == [told.uuid]
    assert list(await search.search_facts(["met"], FactFilter(group_ids=(GROUP,), now=at(2026)), 5)) == [met.uuid]
    assert list(await search.nearest_entities(VECTOR, EntityFilter(group_ids=(GROUP,)), 5)) == [ada.uuid]

    left = EpisodeText(uuid=told.uuid, name="note", content="[forgotten] met Bo.", source_description="")
    await sqlite_graph.writer.apply(an_intent(forgets=Forgetting(episodes=(left,))), {})
    assert await search.search_episodes(["archive"], EpisodeFilter(group_ids=(GROUP,)), 5) == {}
    assert (await EpisodicNode.get_by_uuid(driver, told.uuid)).episode_metadata is None, "it may hold what is forgotten"
    await sqlite_graph.writer.apply(an_intent(deletions=Deletions(entities=(ada.uuid,))), {})
    assert await EntityEdge.get_by_uuids(driver, [met.uuid]) == []


async def test_the_words_of_a_community_go_with_it(
    sqlite_graph: SqliteGraph, driver: SqliteDriver, tmp_path: Path
) -> None:
    ada = EntityNode(name="Ada", group_id=GROUP)
    friends = CommunityNode(name="Quixotic friends", group_id=GROUP)
    for one in (
        ada,
        friends,
        CommunityEdge(source_node_uuid=friends.uuid, target_node_uuid=ada.uuid, group_id=GROUP, created_at=at(2026)),
    ):
        await one.save(driver)
    await sqlite_graph.writer.apply(an_intent(forgets=Forgetting(members=(ada.uuid,))), {})
    with sqlite3.connect(tmp_path / "data" / MEMORY) as db:
        assert db.execute("SELECT count(*) FROM search_text WHERE words LIKE '%quixotic%'").fetchone() == (0,)
    db.close()


async def test_a_memory_that_is_made_by_the_driver_is_one_for_the_server(tmp_path: Path) -> None:
    async with SqliteDriver(tmp_path / MEMORY) as opened:
        await EntityNode(name="Ada", group_id=GROUP).save(opened)
    graph = SqliteGraph(JournalFile(tmp_path, name=MEMORY))
    assert await graph.records.groups() == [GROUP]
    await graph.close()


def test_a_journal_without_a_graph_is_left_alone(tmp_path: Path) -> None:
    file = JournalFile(tmp_path)
    file.open("NORMAL").close()
    with pytest.raises(ConfigurationError, match="no graph"):
        SqliteDriver(tmp_path / JOURNAL)


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A memory of schema version 1 with a community."""
    JournalFile(tmp_path, name=MEMORY).open("FULL").close()
    path = tmp_path / MEMORY
    with sqlite3.connect(path) as db:
        for statement in schema._statements(schema._FIRST):
            db.execute(statement)
        db.execute("INSERT INTO graph_meta VALUES ('schema_version', '1')")
        db.execute("INSERT INTO groups (group_id, holds) VALUES ('g', 1)")
        db.execute("INSERT INTO entity VALUES ('ada', 'g', 'Ada', 'Person', '', 0, 0, '{}')")
        db.execute("INSERT INTO community VALUES ('c', 'g', 'Old friends', '', 5)")
        db.execute("INSERT INTO community_member VALUES ('c', 'ada')")
    db.close()
    return path


async def test_an_older_file_is_migrated_and_its_communities_found(old_file: Path) -> None:
    async with SqliteDriver(old_file) as driver:
        assert (await EntityNode.get_by_uuid(driver, "ada")).labels == ["Entity", "Person"]
        (member,) = await CommunityEdge.get_by_group_ids(driver, ["g"])
        assert (member.source_node_uuid, member.target_node_uuid, member.created_at.year) == ("c", "ada", 1970)
        await driver.build_indices_and_constraints()
        assert [one.uuid for one in await community_fulltext_search(driver, "friends", ["g"])] == ["c"]
        await member.delete(driver)
        assert await CommunityEdge.get_by_group_ids(driver, ["g"]) == []


async def test_an_entity_without_a_name_of_ours_is_found_in_a_migrated_file(old_file: Path) -> None:
    graph = SqliteGraph(JournalFile(old_file.parent, name=MEMORY))
    found = await graph.records.get_names([name_key("g", "ada"), name_key("g", "Ben")])
    await graph.close()
    assert [name.entity_uuid for name in found.values()] == ["ada"]


async def test_a_newer_file_is_refused(old_file: Path) -> None:
    with sqlite3.connect(old_file) as db:
        db.execute("UPDATE graph_meta SET value = '99' WHERE key = 'schema_version'")
    db.close()
    async with SqliteDriver(old_file) as driver:
        with pytest.raises(NewerSchema):
            await EntityNode.get_by_uuid(driver, "ada")


async def test_a_rebuild_refuses_to_lose_what_graphiti_wrote(tmp_path: Path) -> None:
    told = EpisodicNode(
        name="n", group_id=GROUP, source=EpisodeType.text, source_description="", content="c", valid_at=at(2025)
    )
    async with SqliteDriver(tmp_path / MEMORY) as opened:
        await told.save(opened)
    refused = await asyncio.to_thread(run, "rebuild", data_dir=tmp_path, backend="sqlite")
    assert refused.returncode != 0
    assert "1 episodes that are not in the journal" in refused.stdout + refused.stderr
    async with SqliteDriver(tmp_path / MEMORY) as opened:
        assert (await EpisodicNode.get_by_uuid(opened, told.uuid)).content == "c"
    forced = await asyncio.to_thread(run, "rebuild", "--force", data_dir=tmp_path, backend="sqlite")
    assert forced.returncode == 0, forced.stdout + forced.stderr
    async with SqliteDriver(tmp_path / MEMORY) as opened:
        assert await EpisodicNode.get_by_uuids(opened, [told.uuid]) == []
