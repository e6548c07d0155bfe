"""What was forgotten is in no file of the data directory; whatever was cut short is finished by the next start."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import redis
from tests.integration.embedded_support import end_database, endpoint, until
from tests.integration.planted import files_with
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.explore.requests import GetEpisodes
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.history.requests import RetireFact
from graphiti_pkm.capabilities.history.tools import RETIRING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import Unavailable, WritePending
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.graph.embedded.aof import DIRECTORY
from graphiti_pkm.storage.graph.parts.writing import Writer

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zéphyrin-Quolltext"
KEPT = "Tom runs every morning with Sarah."


@pytest.fixture
async def data_dir(short_directory: Path) -> AsyncIterator[Path]:
    """Gone in the end with its database."""
    yield short_directory
    await end_database(short_directory)


def opened(data_dir: Path) -> AbstractAsyncContextManager[Memory]:
    return open_memory(Settings(data_dir=data_dir, idle_seconds=0.3))


def uncompressed(data_dir: Path) -> None:
    """From now on the database writes texts as they are, so that their bytes can be looked for."""
    with redis.Redis(unix_socket_path=endpoint(data_dir).socket) as client:
        client.config_set("rdbcompression", "no")


async def tell(memory: Memory) -> AddMemoryResponse:
    request = AddMemory.model_validate(
        {
            "episode_body": f"Maria told me of {HIDDEN} yesterday. {KEPT}",
            "entities": [{"name": "Maria", "summary": f"Knows {HIDDEN}"}, {"name": "Tom"}, {"name": "Sarah"}],
            "facts": [
                {"source": "Maria", "relation": "TOLD", "value": HIDDEN, "quote": HIDDEN},
                {"source": "Tom", "relation": "RUNS_WITH", "target": "Sarah", "quote": KEPT},
            ],
        }
    )
    told = await memory.services[WRITING].add_memory(LOCAL, request)
    assert await memory.context.graph.writer.wait_durable()
    return told


async def add(memory: Memory, **told: object) -> AddMemoryResponse:
    return await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(told))


async def forget(memory: Memory, told: AddMemoryResponse) -> ForgetResponse:
    (maria,) = [entity.uuid for entity in told.entities if entity.name == "Maria"]
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=maria))
    return await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=maria, confirm=preview.confirm))


def places(data_dir: Path, text: str) -> set[str]:
    return {path.split("/")[0] for path in files_with(data_dir, text)}


async def test_the_words_leave_every_file_and_those_beside_them_stay(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        told = await tell(memory)
        assert places(data_dir, HIDDEN) == {DIRECTORY, "journal.sqlite3-wal"}
        answer = await forget(memory, told)
        assert answer.status == "forgotten"
        assert files_with(data_dir, HIDDEN) == []
        assert places(data_dir, KEPT) == {DIRECTORY, "journal.sqlite3"}
        assert await memory.journal.open_erasures() == []
    await end_database(data_dir)
    assert files_with(data_dir, HIDDEN) == []


async def test_notes_with_the_first_name_alone_go_too_and_a_shared_surname_is_asked_about(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        people = [{"name": "Tobias Wenger", "type": "Person"}, {"name": "Ida Wenger", "type": "Person"}]
        await add(memory, episode_body="Tobias Wenger moved in. So did Ida Wenger.", entities=people)
        for body in ("Tobias's car broke down. Henrik helped.", "Again TOBIAS was late.", "The Wenger family left."):
            await add(memory, episode_body=body)
        took = {"source": "Henrik", "relation": "TOOK", "target": "night rota", "fact": "Henrik took it from Tobias"}
        await add(memory, episode_body="Rota changed.", facts=[took])
        (tobias,) = (await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(names=["Tobias Wenger"]))).nodes
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=tobias.uuid))
        assert preview.removed == {"sentences": 3, "facts": 1, "entities": 1, "mentions": 1}
        assert [line.split("] ")[1] for line in preview.ask_user or []] == ["The Wenger family left."]
        done = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=tobias.uuid, confirm=preview.confirm))
        assert done.found_afterwards is not None
        assert [line.split(": ")[1] for line in done.found_afterwards] == ["may still speak of it"]
        assert files_with(data_dir, "Tobias") == []
        contents = [
            one.content for one in (await memory.services[EXPLORING].get_episodes(LOCAL, GetEpisodes())).episodes
        ]
        assert sorted(contents) == [
            "Rota changed.",
            "The Wenger family left.",
            "[forgotten]",
            "[forgotten] Henrik helped.",
            "[forgotten] So did Ida Wenger.",
        ]


async def tell_in_passing(memory: Memory) -> AddMemoryResponse:
    """The same secret wherever words may stand that no sentence holds."""
    told = await add(
        memory,
        episode_body=f"Maria whispered {HIDDEN} to Tom. Later Tom slept well.",
        entities=[{"name": "Maria"}, {"name": "Tom", "summary": f"Heard {HIDDEN}."}],
        facts=[{"source": "Tom", "relation": "HEARD", "value": HIDDEN}],
    )
    ingrid = {"name": "Ingrid", "summary": f"Was told {HIDDEN}.", "aliases": [f"keeper of {HIDDEN}", "Inge"]}
    rests = {"source": "Ingrid", "relation": "RESTS_IN", "target": "Rome"}
    visit = await add(memory, episode_body="Ingrid rests in Rome.", entities=[ingrid], facts=[rests])
    await add(memory, episode_body="Ingrid is fine.", entities=[{"name": "Ingrid", "summary": "A gardener."}])
    await add(
        memory, name=f"Maria on {HIDDEN}", source_description=f"Maria's mail on {HIDDEN}", episode_body="It rained."
    )
    fact = visit.facts[0].uuid
    await memory.services[RETIRING].retire_fact(LOCAL, RetireFact(fact_uuid=fact, reason=f"as {HIDDEN} shows"))
    hid = {"source": "Ingrid", "relation": "HID", "value": HIDDEN}
    hidden = await add(memory, episode_body="Ingrid came again.", facts=[hid])
    await memory.services[DELETING].delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=hidden.facts[0].uuid))
    return told


async def test_words_that_no_sentence_holds_leave_every_file_with_another_server_connected(data_dir: Path) -> None:
    async with opened(data_dir) as memory, opened(data_dir) as other:
        uncompressed(data_dir)
        told = await tell_in_passing(memory)
        found = await other.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="Ingrid"))
        assert HIDDEN in str(found)
        answer = await forget(other, told)
        assert answer.status == "forgotten"
        assert answer.removed.keys() >= {"sentences", "titles", "facts", "summaries", "aliases", "reasons", "journal"}
        assert len(answer.found_afterwards or []) == 1
        await until(lambda: not files_with(data_dir, HIDDEN))
        found = await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="keeper Ingrid Tom"))
        assert {node.name: (node.summary, node.aliases) for node in found.nodes if node.name in {"Ingrid", "Tom"}} == {
            "Ingrid": ("A gardener.", ["Inge"]),
            "Tom": ("", None),
        }
        contents = [
            one.content for one in (await memory.services[EXPLORING].get_episodes(LOCAL, GetEpisodes())).episodes
        ]
        assert sorted(contents) == [
            "Ingrid came again.",
            "Ingrid is fine.",
            "Ingrid rests in Rome.",
            "It rained.",
            "[forgotten] Later Tom slept well.",
        ]
        socket = Path(endpoint(data_dir).socket)
        before = dump(socket)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(socket)) == []
        assert files_with(data_dir, HIDDEN) == []


async def test_the_words_of_a_query_leave_every_file_though_no_sentence_holds_them(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        await tell_in_passing(memory)
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))
        answer = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
        assert answer.status == "forgotten"
        assert files_with(data_dir, HIDDEN) == []
        assert (await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))).status == "nothing"


async def test_what_only_a_deleted_episode_gave_leaves_every_file(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        tom = {"name": "Tom", "summary": f"Owes money to {HIDDEN}.", "aliases": [f"{HIDDEN} man"]}
        told = await add(memory, episode_body="Tom came by.", entities=[tom])
        await add(memory, episode_body="Tom is fine.", entities=[{"name": "Tom", "summary": "A gardener."}])
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        assert files_with(data_dir, HIDDEN) == []
        (found,) = (await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(names=["Tom"], max_nodes=1))).nodes
        assert (found.summary, found.aliases) == ("A gardener.", None)


async def test_the_words_of_a_deleted_episode_leave_every_file(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        told = await tell(memory)
        answer = await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        assert "gone from the database's and the journal's files" in answer.message
        assert files_with(data_dir, KEPT) == []


async def test_a_rebuild_gives_the_redacted_graph(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        told = await tell(memory)
        await tell(memory)
        await forget(memory, told)
        socket = Path(endpoint(data_dir).socket)
        before = dump(socket)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(socket)) == []
        assert files_with(data_dir, HIDDEN) == []


async def test_a_rebuild_after_a_deleted_episode_tells_the_same_changes(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        told = await tell(memory)
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        socket = Path(endpoint(data_dir).socket)
        before = dump(socket)
        assert before.of("Change")
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(socket)) == []


async def test_a_crash_after_the_journal_s_commit_is_finished_by_the_next_start(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object) -> None:
        raise Unavailable("dead")

    async with opened(data_dir) as memory:
        told = await tell(memory)
        monkeypatch.setattr(Writer, "apply", die)
        with pytest.raises(WritePending):
            await forget(memory, told)
        os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    monkeypatch.undo()
    assert DIRECTORY in places(data_dir, HIDDEN)
    async with opened(data_dir) as memory:
        await until(lambda: not files_with(data_dir, HIDDEN))
        (episode,) = await memory.context.graph.records.get_episodes(
            [told.episode_uuid], await memory.context.graph.records.groups()
        )
        assert episode.content == f"[forgotten] {KEPT}"


async def test_a_crash_before_the_file_is_made_anew_is_finished_by_the_next_start(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(_: Erasing) -> bool:
        return False

    async with opened(data_dir) as memory:
        told = await tell(memory)
        monkeypatch.setattr(Erasing, "erase", die)
        assert (await forget(memory, told)).status == "pending"
        os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    monkeypatch.undo()
    assert DIRECTORY in places(data_dir, HIDDEN)
    async with opened(data_dir) as memory:
        await until(lambda: not files_with(data_dir, HIDDEN))
        while await memory.journal.open_erasures():  # noqa: ASYNC110 it is closed by a task of its own
            await asyncio.sleep(0)


async def test_copies_that_the_server_kept_go_and_a_backup_of_the_user_stays(data_dir: Path) -> None:
    async with opened(data_dir) as memory:
        told = await tell(memory)
        shutil.copytree(data_dir / DIRECTORY, data_dir / f"{DIRECTORY}-damaged-20260101T000000000Z")
        await memory.journal.backup(data_dir / "mine.sqlite3")
        for copy in ("journal-version-1.sqlite3", "journal-before-restore-1.sqlite3", "journal.sqlite3.damaged-1"):
            shutil.copy(data_dir / "mine.sqlite3", data_dir / copy)
        shutil.copy(data_dir / "mine.sqlite3", data_dir / "temp-rewriteaof-bg-4194999.aof")
        await forget(memory, told)
        assert files_with(data_dir, HIDDEN) == ["mine.sqlite3"]


async def test_a_name_in_a_relation_a_measure_and_a_type_leaves_every_file(data_dir: Path) -> None:
    """The database lists every type that there ever was: the answer says so, and what takes it out."""
    name = "Cunigund"
    async with opened(data_dir) as memory:
        uncompressed(data_dir)
        told = await add(memory, episode_body=f"{name} came.", entities=[{"name": name, "type": "Person"}])
        facts = [
            {"source": "Henrik", "relation": f"ASKED_{name.upper()}", "target": "Rome", "fact": "Henrik asked in Rome"},
            {"source": "Rome", "relation": "HAS", "measure": f"{name}'s days", "value": "3", "fact": "Rome has days"},
        ]
        spoon = {"name": "Spoon", "type": f"{name}Thing"}
        await add(memory, episode_body="Henrik asked in Rome. A spoon lay there.", facts=facts, entities=[spoon])
        forgetting, uuid = memory.services[FORGETTING], told.entities[0].uuid
        preview = await forgetting.forget(LOCAL, Forget(entity_uuid=uuid))
        done = await forgetting.forget(LOCAL, Forget(entity_uuid=uuid, confirm=preview.confirm))
        assert done.removed.items() >= {"relations": 1, "types": 1}.items()
        called, listed, *_ = done.found_afterwards or []
        assert "1 name and 1 fact hold" in called, "the measure is an entity with a name of its own"
        assert f"may still list the type '{name}Thing'" in listed
        query = called.split("query=")[1].split('"')[1]
        preview = await forgetting.forget(LOCAL, Forget(query=query))
        await forgetting.forget(LOCAL, Forget(query=query, confirm=preview.confirm))
        found = (
            await memory.services[SEARCHING].search_memory_facts(LOCAL, SearchMemoryFacts(query="Henrik asked"))
        ).facts
        assert [fact.name for fact in found] == ["ASKED"]
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await memory.context.graph.erase()
        assert [path for form in (name, name.upper()) for path in files_with(data_dir, form)] == []
