"""What was forgotten is in no file of the data directory; whatever was cut short is finished by the next start."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import Dump, differences, dump

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
from graphiti_pkm.storage.graph.parts.writing import Writer
from graphiti_pkm.storage.journal.connection import MEMORY
from graphiti_pkm.storage.journal.redaction import FORMER

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zéphyrin-Quolltext"
KEPT = "Tom runs every morning with Sarah."


def opened(data_dir: Path, **settings: object) -> AbstractAsyncContextManager[Memory]:
    return open_memory(Settings(data_dir=data_dir, **settings))


async def until(condition: Callable[[], object]) -> None:
    """Wait for what a task does to a file; the test's own time limit ends it."""
    while not condition():  # noqa: ASYNC110 no event tells
        await asyncio.sleep(0)


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


async def whole(memory: Memory) -> Dump:
    """Once a job has embedded what forgetting gave other words."""
    while (await memory.context.graph.embeddings.embedding_size(only_missing=True)).texts:  # noqa: ASYNC110 same
        await asyncio.sleep(0)
    return dump(memory.context.settings.data_dir)


async def test_the_words_leave_every_file_and_those_beside_them_stay(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory)
        assert files_with(tmp_path, HIDDEN) == [f"{MEMORY}-wal"]
        answer = await forget(memory, told)
        assert answer.status == "forgotten"
        assert files_with(tmp_path, HIDDEN) == []
        assert MEMORY in files_with(tmp_path, KEPT)
        assert await memory.journal.open_erasures() == []
    assert files_with(tmp_path, HIDDEN) == []


async def test_notes_with_the_first_name_alone_go_too_and_a_shared_surname_is_asked_about(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
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
        assert files_with(tmp_path, "Tobias") == []
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


async def test_words_that_no_sentence_holds_leave_every_file_with_another_server_connected(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory, opened(tmp_path) as other:
        told = await tell_in_passing(memory)
        found = await other.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="Ingrid"))
        assert HIDDEN in str(found)
        answer = await forget(other, told)
        assert answer.status == "forgotten"
        assert answer.removed.keys() >= {"sentences", "titles", "facts", "summaries", "aliases", "reasons", "journal"}
        assert len(answer.found_afterwards or []) == 1
        await until(lambda: not files_with(tmp_path, HIDDEN))
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
        before = await whole(memory)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        assert files_with(tmp_path, HIDDEN) == []


async def test_the_words_of_a_query_leave_every_file_though_no_sentence_holds_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell_in_passing(memory)
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))
        answer = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
        assert answer.status == "forgotten"
        assert files_with(tmp_path, HIDDEN) == []
        assert (await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))).status == "nothing"


async def test_what_only_a_deleted_episode_gave_leaves_every_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        tom = {"name": "Tom", "summary": f"Owes money to {HIDDEN}.", "aliases": [f"{HIDDEN} man"]}
        told = await add(memory, episode_body="Tom came by.", entities=[tom])
        await add(memory, episode_body="Tom is fine.", entities=[{"name": "Tom", "summary": "A gardener."}])
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        assert files_with(tmp_path, HIDDEN) == []
        (found,) = (await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(names=["Tom"], max_nodes=1))).nodes
        assert (found.summary, found.aliases) == ("A gardener.", None)


async def test_the_words_of_a_deleted_episode_leave_every_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory)
        answer = await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        assert "gone from the database's and the journal's files" in answer.message
        assert files_with(tmp_path, KEPT) == []


async def test_a_rebuild_gives_the_redacted_graph(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory)
        await tell(memory)
        await forget(memory, told)
        before = await whole(memory)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        assert files_with(tmp_path, HIDDEN) == []


async def test_a_rebuild_after_a_deleted_episode_tells_the_same_changes(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory)
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
        before = await whole(memory)
        assert before.of("change")
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []


async def test_a_crash_after_the_journal_s_commit_is_finished_by_the_next_start(
    tmp_path: Path, neo4j_server: Neo4jAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the graph has a transaction of its own."""
    empty(neo4j_server)
    server = {"neo4j_uri": neo4j_server.uri, "neo4j_username": neo4j_server.username}
    settings = {**server, "neo4j_password": neo4j_server.password}

    async def die(*_: object) -> None:
        raise Unavailable("dead")

    async def content(memory: Memory) -> str:
        records = memory.context.graph.records
        (episode,) = await records.get_episodes([told.episode_uuid], await records.groups())
        return episode.content

    async with opened(tmp_path, **settings) as memory:
        told = await tell(memory)
        monkeypatch.setattr(Writer, "apply", die)
        with pytest.raises(WritePending):
            await forget(memory, told)
        assert HIDDEN in await content(memory)
    monkeypatch.undo()
    async with opened(tmp_path, **settings) as memory:
        await until(lambda: not files_with(tmp_path, HIDDEN))
        assert await content(memory) == f"[forgotten] {KEPT}"


async def test_a_crash_before_the_file_is_made_anew_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(_: Erasing) -> bool:
        return False

    async with opened(tmp_path / "data") as memory:
        told = await tell(memory)
        monkeypatch.setattr(Erasing, "erase", die)
        assert (await forget(memory, told)).status == "pending"
        shutil.copytree(tmp_path / "data", tmp_path / "crashed")  # as a process that is killed leaves it
    monkeypatch.undo()
    assert files_with(tmp_path / "crashed", HIDDEN) != []
    async with opened(tmp_path / "crashed") as memory:
        await until(lambda: not files_with(tmp_path / "crashed", HIDDEN))
        while await memory.journal.open_erasures():  # noqa: ASYNC110 it is closed by a task of its own
            await asyncio.sleep(0)


async def test_copies_that_the_server_kept_go_and_a_backup_of_the_user_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory)
        mine = tmp_path / "mine.sqlite3"
        await memory.journal.backup(mine)
        (tmp_path / FORMER).mkdir()
        for copy in (
            "memory-version-1.sqlite3",
            "journal-before-restore-1.sqlite3",
            "memory.sqlite3.damaged-1",
            "etilqs_left",
        ):
            shutil.copy(mine, tmp_path / copy)
        shutil.copy(mine, tmp_path / FORMER / "journal.sqlite3")
        await forget(memory, told)
        assert files_with(tmp_path, HIDDEN) == ["mine.sqlite3"]


async def test_a_name_in_a_relation_a_measure_and_a_type_leaves_every_file(tmp_path: Path) -> None:
    name = "Cunigund"
    async with opened(tmp_path) as memory:
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
        assert sorted(preview.entities) == [name, f"{name}'s days"], (
            "a measure that only readings name is nothing else's name"
        )
        assert done.removed.items() >= {"relations": 1, "types": 1, "entities": 2, "facts": 1}.items()
        found = (
            await memory.services[SEARCHING].search_memory_facts(LOCAL, SearchMemoryFacts(query="Henrik asked"))
        ).facts
        assert [fact.name for fact in found] == ["ASKED"]
        assert [path for form in (name, name.upper()) for path in files_with(tmp_path, form)] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process can list its open files")
def test_rewriting_the_file_takes_its_disk_and_not_the_memory_of_the_machine(tmp_path: Path) -> None:
    """In a process of its own, as SQLite has one directory for temporary files in each."""
    script = """
        import asyncio, json, os, sys
        from pathlib import Path
        from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
        from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

        NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
        FILLER = f"CREATE TABLE IF NOT EXISTS filler AS {NUMBERS} SELECT randomblob(999) FROM n"

        def links():
            for name in os.listdir("/proc/self/fd"):
                try:
                    yield os.readlink(f"/proc/self/fd/{name}")
                except OSError:
                    continue

        async def main(directory):
            graph = SqliteGraph(JournalFile(directory, name=MEMORY))
            file, opened = graph._opened.file, set()
            await file.write(lambda db: db.execute(FILLER))
            await file.outside(lambda db: db.set_progress_handler(lambda: opened.update(links()), 5_000))
            assert await graph.erase()
            print(json.dumps(sorted(opened)))
            await graph.close()

        asyncio.run(main(Path(sys.argv[1])))
    """
    environment = {name: value for name, value in os.environ.items() if name != "SQLITE_TMPDIR"}
    directory = tmp_path / "it's here"
    for given, expected in (({}, directory), ({"SQLITE_TMPDIR": str(tmp_path)}, tmp_path)):
        command = [sys.executable, "-c", textwrap.dedent(script), str(directory)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment | given)
        temporary = [path for path in map(Path, json.loads(done.stdout)) if path.name.endswith(" (deleted)")]
        assert {path.parent for path in temporary} == {expected}, temporary
        assert [path.name for path in directory.iterdir()] == [MEMORY]
