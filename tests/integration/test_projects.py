"""Projects and entries in a real data directory: forgotten, deleted, rebuilt and found by meaning."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.storm.dump import Dump, differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.explore.requests import GetEntityTimeline, GetEpisodes
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.projects.assembly import PROJECTS as PROJECTS_PART
from graphiti_pkm.capabilities.projects.models import EntryResponse
from graphiti_pkm.capabilities.projects.requests import (
    CreateEntry,
    CreateProject,
    GetEntryContext,
    GetProjectMemories,
    ListProjects,
    SearchEntriesSemantic,
    UpdateProject,
)
from graphiti_pkm.capabilities.projects.tools import ENTRIES, ENTRY_SEARCH, MEMORIES, PROJECTS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zéphyrin-Quolltext"


async def enter(memory: Memory, content: str, **fields: object) -> EntryResponse:
    request = CreateEntry.model_validate({"content": content, "project_id": "Momento", **fields})
    return await memory.services[ENTRIES].create_entry(LOCAL, request)


async def begin(memory: Memory) -> None:
    request = CreateProject(name="Momento", description="A memory.", metadata={"keeper": HIDDEN})
    await memory.services[PROJECTS].create_project(LOCAL, request)
    person = [{"name": HIDDEN, "type": "Person"}]
    await enter(memory, f"{HIDDEN} came. Tom stayed.", entities=[*person, {"name": "Tom"}], metadata={"mood": 3})
    await enter(memory, "Tom went home.", metadata={"with": [HIDDEN]})
    await enter(memory, "Tom slept.", metadata={"hours": 8}, type="task")


async def forget(memory: Memory, **what: str) -> ForgetResponse:
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(what))
    return await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**what, "confirm": preview.confirm}))


async def test_a_project_stays_when_somebody_in_its_description_is_forgotten(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path / "data", toolsets=("memory", "projects"))) as memory:
        described = CreateProject(name="Momento", description=f"A garden with {HIDDEN}.")
        await memory.services[PROJECTS].create_project(LOCAL, described)
        told = await enter(memory, f"{HIDDEN} came.", entities=[{"name": HIDDEN, "type": "Person"}])
        await enter(memory, "Tulips bloom.")
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=told.entities[0].uuid))
        assert preview.entities == [HIDDEN]
        assert "Momento - the project" in (preview.stays or [])
        await forget(memory, entity_uuid=told.entities[0].uuid)
        listed = await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())
        assert [(one.name, one.description, one.status, one.entries) for one in listed.projects] == [
            ("Momento", "", "active", 2)
        ]
        await forget(memory, entity_uuid=listed.projects[0].project_id)
        assert (await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())).total == 0


async def whole(memory: Memory) -> Dump:
    """Once a job has embedded what forgetting gave other words."""
    while (await memory.context.graph.embeddings.embedding_size(only_missing=True)).texts:  # noqa: ASYNC110 no event
        await asyncio.sleep(0)
    return dump(memory.context.settings.data_dir)


async def metadata(memory: Memory) -> list[dict[str, object]]:
    found = await memory.services[ENTRIES].get_entry_context(LOCAL, GetEntryContext(entity_name="Tom"))
    return [entry.metadata for entry in found.entries]


async def test_a_forgotten_person_leaves_the_texts_and_metadata_of_entries_and_project(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await begin(memory)
        assert files_with(tmp_path, HIDDEN)
        listed = await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())
        assert listed.projects[0].metadata == {"keeper": HIDDEN}
        person = await memory.services[ENTRIES].get_entry_context(LOCAL, GetEntryContext(entity_name=HIDDEN))
        done = await forget(memory, entity_uuid=str(person.entity_uuid))
        assert done.removed["metadata"] == 2
        assert await metadata(memory) == [{}, {}, {"hours": 8}]
        listed = await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())
        assert [(one.metadata, one.entries) for one in listed.projects] == [({}, 3)]
        before = await whole(memory)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        assert files_with(tmp_path, HIDDEN) == []


async def test_what_only_metadata_say_is_forgotten_as_well(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        request = CreateProject(name="Momento")
        await memory.services[PROJECTS].create_project(LOCAL, request)
        await enter(memory, "Tom went home.", entities=[{"name": "Tom"}], metadata={"with": HIDDEN})
        done = await forget(memory, query=HIDDEN)
        assert done.removed == {"metadata": 1}
        assert await metadata(memory) == [{}]
        assert files_with(tmp_path, HIDDEN) == []


async def test_an_entry_goes_with_its_episode_and_the_project_with_its_entity(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await begin(memory)
        gone = await enter(memory, "Tom ate soup.", metadata={"soup": HIDDEN})
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=gone.entry_id))
        assert len(await metadata(memory)) == 3
        (project,) = (await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())).projects
        await forget(memory, entity_uuid=project.project_id)
        assert (await memory.services[PROJECTS].list_projects(LOCAL, ListProjects())).projects == []
        found = await memory.services[ENTRIES].get_entry_context(LOCAL, GetEntryContext(entity_name="Tom"))
        assert [entry.project_id for entry in found.entries] == [None] * 3
        before = await whole(memory)
        assert not before.of("project")
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []


async def test_a_rebuild_gives_the_same_projects_entries_pins_and_memories(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await begin(memory)
        for fields in ({"pin": ["Tom"]}, {"status": "archived"}, {"metadata": {"b": 2}, "description": "Other."}):
            request = UpdateProject.model_validate({"project": "Momento", **fields})
            await memory.services[PROJECTS].update_project(LOCAL, request)
        asked = GetProjectMemories(project_id="Momento", relevance_threshold=0)
        memories = await memory.services[MEMORIES].get_project_memories(LOCAL, asked)
        assert memories.primary[0].name == "Tom"
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        again = await memory.services[MEMORIES].get_project_memories(LOCAL, asked)
        assert [one.name for one in again.primary] == [one.name for one in memories.primary]


async def test_an_entry_is_unchanged_embedded_and_found_without_shared_words(tmp_path: Path) -> None:
    text = "The sessions are secured with JWT; refresh tokens rotate.\n\n\N{SNOWMAN} " + "x" * 100_000
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await memory.services[PROJECTS].create_project(LOCAL, CreateProject(name="Momento"))
        entry = await enter(memory, text)
        await enter(memory, "We had soup for lunch.")
        asked = SearchEntriesSemantic(query="how was login protected", similarity_threshold=0.2)
        found = await memory.services[ENTRY_SEARCH].search_entries_semantic(LOCAL, asked)
        assert [(one.entry_id, found.mode) for one in found.entries] == [(entry.entry_id, "vector")]
        page = await memory.services[EXPLORING].get_episodes(
            LOCAL, GetEpisodes(episode_uuids=[entry.entry_id], max_content_chars=20_000)
        )
        assert str(page.episodes[0].content) == text[:20_000]
        (stored,) = await memory.context.graph.records.get_episodes([entry.entry_id], ["default"])
        assert stored.content == text


async def test_first_and_last_seen_are_those_of_the_notes_and_not_of_the_writing(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await memory.services[PROJECTS].create_project(LOCAL, CreateProject(name="Momento"))
        for day in ("2025-03-01", "2025-01-05", "2025-02-01"):
            await enter(memory, f"Tom came on {day}.", entities=[{"name": "Tom"}], timestamp=day)
        asked = GetProjectMemories(project_id="Momento", relevance_threshold=0)
        (tom,) = (await memory.services[MEMORIES].get_project_memories(LOCAL, asked)).primary
        timeline = await memory.services[EXPLORING].get_entity_timeline(LOCAL, GetEntityTimeline(entity_uuid=tom.uuid))
        assert str(timeline.first_mention).startswith("2025-01-05")
        assert (str(timeline.last_mention)[:10], str(tom.last_seen)[:10]) == ("2025-03-01", "2025-03-01")


async def test_entries_are_found_by_project_and_time_through_an_index(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await begin(memory)
    with closing(sqlite3.connect(tmp_path / MEMORY)) as db:
        asked = "SELECT uuid FROM entry WHERE project_uuid = ? ORDER BY valid_at DESC, uuid LIMIT 20"
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {asked}", ("x",))]
    assert plan == ["SEARCH entry USING COVERING INDEX entry_project (project_uuid=?)"]


async def test_neo4j_has_the_indexes_of_entries(neo4j_graph: GraphStore) -> None:
    assert await neo4j_graph.part(PROJECTS_PART).entries([], ["default"]) == {}
    text = "SHOW INDEXES YIELD name, labelsOrTypes, properties RETURN name, labelsOrTypes AS labels, properties"
    (found,) = await (await neo4j_graph.database()).read(Query("test", text, {}))
    indexed = {(label, tuple(row["properties"] or ())) for row in found for label in row["labels"] or ()}
    assert {
        ("Episodic", ("valid_at",)),
        ("EntryRecord", ("project_uuid",)),
        ("EntryRecord", ("project_uuid", "valid_at")),
        ("EntryRecord", ("uuid",)),
    } <= indexed
