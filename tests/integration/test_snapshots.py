"""Snapshots in real data directories, on both databases: restored, carried over, redacted, rolled back, rebuilt."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.requests import FlagForReview, ListFlagged
from graphiti_pkm.capabilities.curation.tools import REVIEWS
from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.projects.requests import CreateEntry, CreateProject
from graphiti_pkm.capabilities.projects.tools import ENTRIES, PROJECTS
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.capabilities.staging.migrating import Migration
from graphiti_pkm.capabilities.staging.tools import MIGRATING, SNAPSHOTS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.queries import EpisodeFilter, Window
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(180)

HIDDEN = "Zéphyrin-Quolltext"
Place = Callable[[str], Settings]
"""Settings of a memory in a directory of this name."""


@pytest.fixture(params=["sqlite", "neo4j"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return lambda name: Settings(data_dir=tmp_path / name)
    server: Neo4jAddress = request.getfixturevalue("neo4j_server")
    empty(server)
    return lambda name: on(server, tmp_path / name)


def on(server: Neo4jAddress, data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir, **server.product_settings())


async def tell(memory: Memory, body: str, source: str, relation: str, target: str, **fact: object) -> dict[str, str]:
    named = [{"name": source, "type": "Person"}, {"name": target}]
    facts = [{"source": source, "relation": relation, "target": target, "fact": body, **fact}]
    request = AddMemory.model_validate({"episode_body": body, "entities": named, "facts": facts})
    stored = await memory.services[WRITING].add_memory(LOCAL, request)
    return {one.name: one.uuid for one in stored.entities}


async def begin(memory: Memory) -> dict[str, str]:
    """Notes, an end, a flag, a project with an entry; the uuids of Anna and of somebody."""
    uuids = await tell(memory, "Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await tell(memory, "Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", replaces="current")
    uuids |= await tell(memory, f"Anna works with {HIDDEN}.", "Anna", "WORKS_WITH", HIDDEN)
    await memory.services[REVIEWS].flag_for_review(LOCAL, FlagForReview(entity_uuid=uuids["Anna"], reason="Look."))
    await memory.services[PROJECTS].create_project(LOCAL, CreateProject(name="Heron", description="A bird."))
    entry = CreateEntry.model_validate({"content": "Anna drew a heron.", "project_id": "Heron"})
    await memory.services[ENTRIES].create_entry(LOCAL, entry)
    return uuids


async def facts_of(memory: Memory, uuid: str, group: str | None = None) -> list[str]:
    request = GetEntityConnections(entity_uuid=uuid, group_ids=group)
    page = await memory.services[EXPLORING].get_entity_connections(LOCAL, request)
    return sorted(f"{one.fact} {one.status}" for one in page.facts)


async def without_jobs(memory: Memory) -> None:
    """Work through what waits, so that two states can be compared."""
    while await memory.jobs.run_once():
        pass


async def test_a_restored_group_equals_what_it_was_and_a_rebuild_gives_the_same(tmp_path: Path) -> None:
    """Every table of the embedded graph, with all numbers of all vectors; no job runs but those that are called."""
    data_dir = tmp_path / "data"
    async with open_memory(Settings(data_dir=data_dir), replays=False) as memory:
        await memory.reembedding.agree()
        await memory.reembedding.agree_on_graph()
        await begin(memory)
        await tell(memory, "Tom likes tea.", "Tom", "LIKES", "tea")
        await without_jobs(memory)
        before = dump(data_dir)
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        await tell(memory, "Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", replaces="current")
        await without_jobs(memory)
        assert differences(before, dump(data_dir)) != []
        await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        await without_jobs(memory)
        assert differences(before, dump(data_dir)) == []
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(data_dir)) == []


async def test_the_group_of_a_snapshot_comes_back_on_each_database(place: Place) -> None:
    async with open_memory(place("data")) as memory:
        uuids = await begin(memory)
        facts = await facts_of(memory, uuids["Anna"])
        assert len(facts) == 3
        taken = await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        at = datetime.now(UTC)
        await tell(memory, "Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", replaces="current")
        changed = await facts_of(memory, uuids["Anna"])
        assert changed != facts
        done = await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        assert done.after == taken.size
        assert await facts_of(memory, uuids["Anna"]) == facts
        flagged = await memory.services[REVIEWS].list_flagged(LOCAL, ListFlagged())
        assert [one.name for one in flagged.flagged] == ["Anna"]
        await memory.services[SNAPSHOTS].restore(LOCAL, None, str(done.safety), confirm=True)
        assert await facts_of(memory, uuids["Anna"]) == changed
        back = await memory.services[SNAPSHOTS].rollback(LOCAL, None, at, confirm=True)
        assert back.after == taken.size
        assert await facts_of(memory, uuids["Anna"]) == facts
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await facts_of(memory, uuids["Anna"]) == facts


async def test_an_earlier_state_is_whole_after_a_deletion_and_a_rebuild_gives_the_same(place: Place) -> None:
    """No fact without an episode that tells it, no saga with an end that is not there, no gap in its chain."""
    async with open_memory(place("data")) as memory:
        told = [await a_note(memory, word) for word in ("chess", "tea", "go", "jazz")]
        at = datetime.now(UTC)
        await a_note(memory, "chess", fact="Anna likes chess.")
        for gone in (told.pop(0), told.pop(1)):
            await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=gone.episode_uuid))
        uuid = next(one.uuid for one in told[0].entities if one.name == "Anna")
        episodes = [one.episode_uuid for one in told]

        async def is_whole() -> None:
            (saga,) = await memory.context.graph.sagas.listed("default", Window(limit=10))
            assert [saga.first_episode_uuid, saga.last_episode_uuid] == episodes
            assert await memory.context.graph.sagas.links_around(episodes) == [tuple(episodes)]
            assert await facts_of(memory, uuid) == ["Anna likes jazz. current", "Anna likes tea. current"]

        await memory.services[SNAPSHOTS].rollback(LOCAL, None, at, confirm=True)
        await is_whole()
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        await is_whole()


async def a_note(memory: Memory, word: str, **fact: object) -> AddMemoryResponse:
    """One of a saga."""
    body = f"Anna likes {word}."
    facts = [{"source": "Anna", "relation": "LIKES", "target": word, "fact": body, **fact}]
    named = [{"name": "Anna", "type": "Person"}, {"name": word}]
    given = {"episode_body": body, "entities": named, "facts": facts, "saga": "Likes"}
    return await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(given))


async def test_a_snapshot_moves_between_the_databases_both_ways(tmp_path: Path, neo4j_server: Neo4jAddress) -> None:
    empty(neo4j_server)
    home, away = Settings(data_dir=tmp_path / "home"), on(neo4j_server, tmp_path / "away")
    async with open_memory(home) as memory:
        uuids = await begin(memory)
        facts = await facts_of(memory, uuids["Anna"])
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
    file = home.data_dir / "snapshots" / "default" / "one.snapshot"
    async with open_memory(away) as memory:
        await memory.services[SNAPSHOTS].restore(LOCAL, None, str(file), confirm=True)
        assert await facts_of(memory, uuids["Anna"]) == facts
        found = await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="who works with somebody"))
        assert "Anna" in {one.name for one in found.nodes}
        await tell(memory, "Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", replaces="current")
        later = await facts_of(memory, uuids["Anna"])
        await memory.services[SNAPSHOTS].take(LOCAL, None, "two")
    file = away.data_dir / "snapshots" / "default" / "two.snapshot"
    async with open_memory(home) as memory:
        await memory.services[SNAPSHOTS].restore(LOCAL, None, str(file), confirm=True)
        assert await facts_of(memory, uuids["Anna"]) == later


async def test_a_copy_in_staging_is_in_no_answer_of_the_group_and_can_be_read_by_name(place: Place) -> None:
    settings = place("data")
    async with open_memory(settings) as memory:
        uuids = await begin(memory)
        facts = await facts_of(memory, uuids["Anna"])
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        file = str(settings.data_dir / "snapshots" / "default" / "one.snapshot")
        await memory.services[SNAPSHOTS].restore(LOCAL, "default_staging", file, confirm=True)
        nodes = await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="Anna", names=["Anna"]))
        assert {one.group_id for one in nodes.nodes} == {"default"}
        assert await facts_of(memory, uuids["Anna"]) == facts
        staged = await memory.services[SEARCHING].search_nodes(
            LOCAL, SearchNodes(names=["Anna"], group_ids="default_staging")
        )
        (anna,) = staged.nodes
        assert anna.uuid != uuids["Anna"]
        assert await facts_of(memory, anna.uuid) == facts


async def test_forgotten_words_leave_every_file_of_the_data_directory(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with open_memory(Settings(data_dir=data_dir)) as memory:
        uuids = await begin(memory)
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        assert len([path for path in files_with(data_dir, HIDDEN) if str(path).endswith(".snapshot")]) == 2
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=uuids[HIDDEN]))
        done = await memory.services[FORGETTING].forget(
            LOCAL, Forget(entity_uuid=uuids[HIDDEN], confirm=preview.confirm)
        )
        assert "made anew without it: before-restore-" in done.message
        assert done.status == "forgotten"
        after = await facts_of(memory, uuids["Anna"])
        await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        assert await facts_of(memory, uuids["Anna"]) == after
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await facts_of(memory, uuids["Anna"]) == after
    assert files_with(data_dir, HIDDEN) == []


async def test_a_backup_with_the_writes_of_a_restore_is_whole(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path / "data")) as memory:
        uuids = await begin(memory)
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        facts = await facts_of(memory, uuids["Anna"])
        await memory.journal.backup(tmp_path / "backup")
    async with open_memory(Settings(data_dir=tmp_path / "elsewhere"), replays=False) as memory:
        await memory.recovery.rebuilding.restore_backup(tmp_path / "backup", lambda _done, _total: None)
        assert await facts_of(memory, uuids["Anna"]) == facts


async def test_a_killed_process_leaves_no_half_snapshot(tmp_path: Path) -> None:
    """What it left is removed by the next snapshot of the group, and is no snapshot."""
    async with open_memory(Settings(data_dir=tmp_path / "data")) as memory:
        await begin(memory)
        directory = tmp_path / "data" / "snapshots" / "default"
        directory.mkdir(parents=True)
        left = directory / ".one.snapshot.1-0123abcd.partial"
        await asyncio.to_thread(left.write_text, HIDDEN)
        assert (await memory.services[SNAPSHOTS].listed(LOCAL, None)).snapshots == ()
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        assert [path.name for path in directory.iterdir()] == ["one.snapshot"]


@pytest.mark.parametrize(
    ("how", "named"),
    [("rollback", "words"), ("rollback", "entity"), ("restore", "words"), ("restore", "entity"), ("move", "words")],
)
async def test_forgetting_reaches_what_was_taken_out_of_the_group_before(place: Place, how: str, named: str) -> None:
    """The graph no longer has the note; journal and snapshots do, and would bring it back."""
    settings = place("data")
    async with open_memory(settings) as memory:
        uuids = await tell(memory, f"Anna knows {HIDDEN}.", "Anna", "KNOWS", HIDDEN)
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        since = datetime.now(UTC)
        await tell(memory, f"{HIDDEN} likes tea. It rains.", "Tom", "LIKES", "tea")
        await tell(memory, "Tom likes rain.", "Tom", "LIKES", "rain")
        if how == "rollback":
            await memory.services[SNAPSHOTS].rollback(LOCAL, None, since, confirm=True)
        elif how == "restore":
            await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        else:
            await memory.services[SNAPSHOTS].take(LOCAL, None, "two")
            move = Migration(source="default", target="default_archive", has_facts=True, has_episodes=True, moves=True)
            await memory.services[MIGRATING].migrate(LOCAL, move)
            await forget(memory, query=HIDDEN, group_id="default_archive")
        given = {"query": HIDDEN} if named == "words" else {"entity_uuid": uuids[HIDDEN]}
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(**given))
        assert any("only the journal and snapshots still have" in line for line in preview.ask_user or ())
        await forget(memory, **given)
        left = set[str]()
        for snapshot in (await memory.services[SNAPSHOTS].listed(LOCAL, None)).snapshots:
            await memory.services[SNAPSHOTS].restore(LOCAL, None, snapshot.tag, confirm=True)
            notes = await memory.context.graph.episodes.recent_episodes(
                EpisodeFilter(group_ids=("default",)), Window(limit=10)
            )
            assert not any(HIDDEN in one.content for one in notes.episodes)
            left |= {one.content for one in notes.episodes}
        assert "Tom likes rain." in left, "what says nothing of it comes back"
        assert (await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))).status == "nothing"
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    assert files_with(settings.data_dir, HIDDEN) == []


async def forget(memory: Memory, **what: str) -> None:
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(what))
    await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**what, "confirm": preview.confirm}))
