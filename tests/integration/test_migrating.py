"""Copies and moves between groups on both databases: with projects, entries, reviews, vectors, and after a rebuild."""

from pathlib import Path

import pytest
from tests.integration import test_documents as documents
from tests.integration.test_snapshots import Place, begin, facts_of, place, tell, without_jobs
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.requests import ListFlagged
from graphiti_pkm.capabilities.curation.tools import REVIEWS
from graphiti_pkm.capabilities.projects.requests import (
    CreateProject,
    GetProjectMemories,
    ListProjects,
    SearchEntriesSemantic,
)
from graphiti_pkm.capabilities.projects.tools import ENTRY_SEARCH, MEMORIES, PROJECTS
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.capabilities.staging.migrating import Migration
from graphiti_pkm.capabilities.staging.models import Attached
from graphiti_pkm.capabilities.staging.tools import COMPARING, MIGRATING
from graphiti_pkm.core.facts.saga_plan import find_saga
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(180)

__all__ = ["place"]  # the fixture of both databases

ALL = Migration(source="default", target="work", has_facts=True, has_episodes=True)
"""``begin`` writes to the default group."""


async def named(memory: Memory, name: str, group: str) -> str:
    found = await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(names=[name], group_ids=group))
    (node,) = [one for one in found.nodes if one.name == name]
    return node.uuid


async def test_everything_of_a_group_is_in_the_other_and_is_found_there(place: Place) -> None:
    async with open_memory(place("data")) as memory:
        uuids = await begin(memory)
        await tell(memory, "Anna likes chess.", "Anna", "LIKES", "chess")
        here = await facts_of(memory, uuids["Anna"])
        done = await memory.services[MIGRATING].migrate(LOCAL, ALL)
        assert done.held_back_total == done.left_total == 0
        anna = await named(memory, "Anna", "work")
        assert anna != uuids["Anna"]
        assert await facts_of(memory, anna) == here
        same = await memory.services[COMPARING].diff(LOCAL, "default", "work", 10)
        assert (same.only_source.entities, same.only_source.facts) == ((), ())
        assert (same.only_target.entities, same.only_target.facts) == ((), ())
        await _is_found(memory)
        again = await memory.services[MIGRATING].migrate(LOCAL, ALL)
        assert (again.copied, again.joined) == (again.removed, again.removed)
        assert (again.known.facts, again.verified) == (done.copied.facts, done.verified)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await facts_of(memory, anna) == here
        await _is_found(memory)


async def _is_found(memory: Memory) -> None:
    """By meaning, by project, and with its review."""
    facts = await memory.services[SEARCHING].search_memory_facts(
        LOCAL, SearchMemoryFacts(query="which game does somebody like", group_ids="work", max_facts=1)
    )
    assert [one.fact for one in facts.facts] == ["Anna likes chess."]
    projects = await memory.services[PROJECTS].list_projects(LOCAL, ListProjects(group_ids="work"))
    assert [one.name for one in projects.projects] == ["Heron"]
    entries = await memory.services[ENTRY_SEARCH].search_entries_semantic(
        LOCAL, SearchEntriesSemantic(query="Anna drew a heron", project_id="Heron", group_id="work")
    )
    assert [one.content for one in entries.entries] == ["Anna drew a heron."]
    memories = await memory.services[MEMORIES].get_project_memories(
        LOCAL, GetProjectMemories(project_id="Heron", group_id="work")
    )
    assert "Anna" in str(memories)
    flagged = await memory.services[REVIEWS].list_flagged(LOCAL, ListFlagged(group_ids="work"))
    assert [one.name for one in flagged.flagged] == ["Anna"]


async def test_sagas_documents_and_quotes_are_in_the_other_group_and_leave_with_a_move(
    place: Place, tmp_path: Path
) -> None:
    async with open_memory(place("data")) as memory:
        tom = (await _begin_attached(memory, tmp_path / "texts"))["Tom"]
        here = [_said(one) for one in await documents.sources(memory, tom)]
        assert len(here) == 3
        moving = ALL.model_copy(update={"moves": True})
        done = await memory.services[MIGRATING].migrate(LOCAL, moving)
        assert done.attached == Attached(documents=1, quotes=3, sagas=1)
        assert (done.removed, done.kept, done.not_copied.quotes) == (done.copied, 0, 0)
        for is_rebuilt in (False, True):
            if is_rebuilt:
                await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            there = await documents.sources(memory, await named(memory, "Tom", "work"))
            assert [_said(one) for one in there] == here
            saga = await find_saga(memory.context.graph, "work", "Games")
            assert saga is not None
            told = await memory.context.graph.sagas.episodes_of_saga(saga.uuid, None, 9)
            assert sorted(one.content for one in told) == ["Tom came home.", "Tom played chess."]
            (link,) = await memory.context.graph.sagas.links_around([one.uuid for one in told])
            contents = {one.uuid: one.content for one in told}
            assert [contents[one] for one in link] == ["Tom played chess.", "Tom came home."]
            assert await find_saga(memory.context.graph, "default", "Games") is None
            assert await memory.context.graph.documents.present("default", "guide") is None


async def test_what_was_copied_comes_back_to_what_it_was_copied_from(place: Place, tmp_path: Path) -> None:
    back = ALL.model_copy(update={"source": "work", "target": "default"})
    async with open_memory(place("data")) as memory:
        tom = (await _begin_attached(memory, tmp_path / "texts"))["Tom"]
        migrating = memory.services[MIGRATING]
        there = await migrating.migrate(LOCAL, ALL)
        before = [(await memory.context.graph.records.group_sizes(["default"])), await documents.sources(memory, tom)]
        done = await migrating.migrate(LOCAL, back)
        assert (done.copied, done.joined, done.known) == (done.removed, there.copied, done.removed)
        assert (done.attached, done.attached_known) == (Attached(), there.attached)
        after = [(await memory.context.graph.records.group_sizes(["default"])), await documents.sources(memory, tom)]
        assert after == before


async def test_what_both_groups_know_loses_nothing_by_a_move(place: Place) -> None:
    """A project that only one of them has comes to the other, and facts in other words come beside what is there."""
    back = ALL.model_copy(update={"source": "work", "target": "default", "moves": True})
    async with open_memory(place("data")) as memory:
        await tell(memory, "Anna helps with Momento.", "Anna", "HELPS_WITH", "Momento")
        migrating = memory.services[MIGRATING]
        await migrating.migrate(LOCAL, ALL)
        made = CreateProject(name="Momento", description="Big plan.", metadata={"k": 1}, group_id="work")
        await memory.services[PROJECTS].create_project(LOCAL, made)
        for what in ("money", "love"):
            body = f"Anna helps with Momento, for {what}."
            fact = {"source": "Anna", "relation": "HELPS_WITH", "target": "Momento", "fact": body}
            given = {"episode_body": body, "facts": [fact], "group_id": "work"}
            await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(given))
        done = await migrating.migrate(LOCAL, back)
        assert (done.differing, done.kept, done.copied.facts) == ((), 0, 3)  # with the status of the project
        for is_rebuilt in (False, True):
            if is_rebuilt:
                await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            found = await memory.services[PROJECTS].list_projects(LOCAL, ListProjects(group_ids=["default", "work"]))
            assert [(one.name, one.description, one.metadata) for one in found.projects] == [
                ("Momento", "Big plan.", {"k": 1})
            ]
            told = await facts_of(memory, await named(memory, "Anna", "default"))
            assert len(told) == 3
            left = await memory.services[COMPARING].stats(LOCAL, "work")
            assert (left.episodes, left.entities, left.facts) == (0, 0, 0)


async def _begin_attached(memory: Memory, root: Path) -> dict[str, str]:
    """A document with three quotes about Tom, and a saga of two notes."""
    uuids = await documents.begin(memory, root)
    for body in ("Tom played chess.", "Tom came home."):
        await memory.services[WRITING].add_memory(LOCAL, AddMemory(episode_body=body, saga="Games"))
    return uuids


def _said(source: documents.EvidenceView) -> dict[str, object]:
    """A quote with its place in the document, whatever its uuids and the time of its copy."""
    return {
        name: value
        for name, value in source.model_dump().items()
        if not name.endswith("uuid") and name not in ("group_id", "created_at", "recorded_at")
    }


async def test_a_move_leaves_nothing_behind_and_a_rebuild_brings_nothing_back(place: Place) -> None:
    async with open_memory(place("data")) as memory:
        uuids = await begin(memory)
        here = await facts_of(memory, uuids["Anna"])
        done = await memory.services[MIGRATING].migrate(LOCAL, ALL.model_copy(update={"moves": True}))
        assert (done.removed, done.kept) == (done.copied, 0)
        for is_rebuilt in (False, True):
            if is_rebuilt:
                await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            left = await memory.services[COMPARING].stats(LOCAL, "default")
            assert (left.episodes, left.entities, left.facts) == (0, 0, 0)
            assert await facts_of(memory, await named(memory, "Anna", "work")) == here


async def test_a_rebuild_gives_the_copies_in_every_table_and_a_backup_has_them(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    async with open_memory(Settings(data_dir=data_dir), replays=False) as memory:
        await memory.reembedding.agree()
        await memory.reembedding.agree_on_graph()
        await begin(memory)
        await _begin_attached(memory, tmp_path / "texts")
        done = await memory.services[MIGRATING].migrate(LOCAL, ALL)
        assert done.attached == Attached(documents=1, quotes=3, sagas=1)
        await without_jobs(memory)
        before = dump(data_dir)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(data_dir)) == []
        await memory.journal.backup(tmp_path / "backup")
    async with open_memory(Settings(data_dir=tmp_path / "elsewhere"), replays=False) as memory:
        await memory.recovery.rebuilding.restore_backup(tmp_path / "backup", lambda _done, _total: None)
        assert differences(before, dump(tmp_path / "elsewhere")) == []
