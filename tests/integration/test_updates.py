"""An entity that was updated, in a memory as people have it: rebuilt, forgotten, and made by an older version."""

import asyncio
import sqlite3
from contextlib import AbstractAsyncContextManager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.integration.planted import files_with
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.history.requests import RestoreFact, UpdateEntity, WhatChanged
from graphiti_pkm.capabilities.history.tools import CHANGES, RETIRING, UPDATING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.sqlite import episode_stems
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zephyrine Quolltext"


def opened(data_dir: Path) -> AbstractAsyncContextManager[Memory]:
    return open_memory(Settings(data_dir=data_dir))


async def tell(memory: Memory, body: str, **more: Any) -> AddMemoryResponse:
    return await memory.services[WRITING].add_memory(LOCAL, AddMemory(episode_body=body, **more))


async def update(memory: Memory, uuid: str, **given: Any) -> None:
    assert (await memory.services[UPDATING].update_entity(LOCAL, UpdateEntity(entity_uuid=uuid, **given))).changed


async def rebuilt(memory: Memory) -> list[str]:
    """What a rebuild changes, once a job has embedded what forgetting gave other words."""
    while (await memory.context.graph.embeddings.embedding_size(only_missing=True)).texts:  # noqa: ASYNC110 no event tells
        await asyncio.sleep(0)
    before = dump(memory.context.settings.data_dir)
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    return differences(before, dump(memory.context.settings.data_dir))


async def story(memory: Memory, name: str) -> tuple[str, str]:
    """A person who is called so at first; uuids of the person and of an episode that means another."""
    facts = [{"source": name, "relation": "WORKS_AT", "target": "Acme"}]
    told = await tell(memory, "She works at Acme.", facts=facts)
    cat = await tell(memory, "The cat is called Minka.", entities=[{"name": "Minka"}])
    (uuid,) = [entity.uuid for entity in told.entities if entity.name == name]
    (minka,) = [entity.uuid for entity in cat.entities if entity.name == "Minka"]
    await update(memory, uuid, name="Petra Berg", summary=f"Formerly {name}.", add_aliases=[f"Frau {name}"])
    await update(memory, uuid, summary="A founder.", not_same_as=minka, link_episodes=[cat.episode_uuid])
    await update(memory, uuid, unlink_episodes=[cat.episode_uuid])
    return uuid, cat.episode_uuid


async def test_a_rebuild_gives_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        uuid, _ = await story(memory, "Petra")
        assert await rebuilt(memory) == []
        for _ in range(3):
            undone = await memory.services[RETIRING].restore_fact(LOCAL, RestoreFact(fact_uuid=uuid, reason="No."))
            assert undone.changed
        assert undone.node is not None
        assert undone.node.name == "Petra"
        assert await rebuilt(memory) == []


async def test_a_former_name_and_summary_are_forgotten_in_every_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        uuid, _ = await story(memory, HIDDEN)
        await update(memory, uuid, remove_aliases=[f"Frau {HIDDEN}"])
        assert files_with(tmp_path, HIDDEN)
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))
        answer = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
        assert answer.status == "forgotten"
        assert files_with(tmp_path, HIDDEN) == []
        page = await memory.services[CHANGES].what_changed(LOCAL, WhatChanged(since="2000", kinds=["updated"]))
        assert page.total == 4
        assert {one.entity for one in page.changes} == {"Petra Berg"}
        assert await rebuilt(memory) == []
        assert files_with(tmp_path, HIDDEN) == []


async def test_what_stands_under_the_present_name_stays_when_a_former_one_is_forgotten(tmp_path: Path) -> None:
    """Its sentence was composed with the former name; the words go, what was told does not."""
    async with opened(tmp_path) as memory:
        uuid, _ = await story(memory, HIDDEN)
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN))
        assert (preview.facts, preview.stays) == (None, ["Petra Berg works at Acme - said so now; its former words go"])
        await memory.services[FORGETTING].forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
        group = memory.context.settings.default_group
        wanted = FactFilter(group_ids=(group,), now=datetime.now(tz=UTC))
        page = await memory.context.graph.facts.connections(uuid, wanted, Window(limit=9))
        assert [fact.text for fact in page.facts] == ["Petra Berg works at Acme"]
        assert files_with(tmp_path, HIDDEN) == []
        assert await rebuilt(memory) == []


async def test_a_sentence_with_a_former_name_says_whose_it_is_before_its_facts_go(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = {"source": "Mia Stern", "relation": "LIVES_IN", "target": "Bern"}
        told = await tell(memory, "Mia Stern moved to Bern.", entities=[{"name": "Mia Stern"}], facts=[fact])
        uuid = told.entities[0].uuid
        assert (await memory.services[FORGETTING].forget(LOCAL, Forget(query="Mia Stern"))).ask_user is None
        await update(memory, uuid, name="Mia Roth")
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(query="mia stern"))
        assert preview.facts is not None
        assert preview.facts[0].startswith("Mia Roth lives in Bern")
        call = f'update_entity {{"entity_uuid": "{uuid[:8]}", "remove_aliases": ["Mia Stern"]}}'
        goes = "Mia Stern is another name of Mia Roth: what these sentences say of Mia Roth goes too."
        assert preview.ask_user == [f"{goes} To take away only the name: {call}"]
        await update(memory, uuid, remove_aliases=["Mia Stern"])
        again = await memory.services[FORGETTING].forget(LOCAL, Forget(query="mia stern"))
        assert again.ask_user is None


async def test_a_forgotten_entity_takes_its_updates_words_along(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        uuid, _ = await story(memory, HIDDEN)
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=uuid))
        await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=uuid, confirm=preview.confirm))
        assert files_with(tmp_path, HIDDEN) == []
        assert files_with(tmp_path, "Petra Berg") == []
        assert await rebuilt(memory) == []


async def test_a_rebuild_after_an_episode_was_deleted_gives_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        _, episode = await story(memory, "Petra")
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=episode))
        assert await rebuilt(memory) == []


NEW_COLUMNS = ("entity_before", "entity_after", "previous_start_words", "previous_end_words")
LATER_INDEXES = (
    "fact_because_of",
    "fact_measure",
    "change_proposed",
    "entity_label",
    "search_text_source",
    "entity_recorded",
)


async def test_a_memory_from_before_gets_the_tables(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        told = await tell(memory, "Petra works.", entities=[{"name": "Petra"}])
    with closing(sqlite3.connect(tmp_path / MEMORY)) as db:
        kept = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'relevant_%'"
        for statement in (
            *(f"DROP TRIGGER {name}" for (name,) in db.execute(kept).fetchall()),
            *(f"DROP TABLE {name}" for name in ("instance", "section", "document", "quality", "write_origin")),
            *(f"DROP TABLE {name}" for name in ("relevant_link", "relevant_to")),
            *(f"DROP TABLE {name}" for name in ("merge_part", "former_uuid")),
            *(f"DROP TRIGGER {table}_apart" for table in ("episode", "entity")),
            *(f"DROP TRIGGER {name}" for name in ("entity_nameless", "name_given", "name_taken")),
            *(f"DROP TABLE {name}" for name in ("apart", "nameless")),
            *(f"DROP INDEX {name}" for name in LATER_INDEXES),
            *(f"DROP TRIGGER {name}" for name in ("episode_text_stems", "entry_moved")),
            *(f"DROP TABLE {name}" for name in ("episode_stems", "entry", "project")),
            "ALTER TABLE episode DROP COLUMN confidential",
            *(f"ALTER TABLE change DROP COLUMN {column}" for column in NEW_COLUMNS),
            "UPDATE graph_meta SET value = '2' WHERE key = 'schema_version'",
        ):
            db.execute(statement)
        db.commit()
    async with opened(tmp_path) as memory:
        graph = memory.context.graph
        assert isinstance(graph, SqliteGraph)
        assert await graph._opened.file.write(lambda db: episode_stems.fill(db, 10)) == 1
        await update(memory, told.entities[0].uuid, name="Petra Berg", unlink_episodes=[told.episode_uuid])
        # Its journal is of this version, and knows who made the first write.
        assert [one for one in await rebuilt(memory) if not one.startswith("write_origin")] == []


async def test_messages_from_before_get_vectors_with_their_speaker(tmp_path: Path) -> None:
    text = "Anna: The train is late. Who waits for us?"
    async with opened(tmp_path) as memory:
        told = await tell(memory, text, source="message")
        note = await tell(memory, "It rained. We waited.")
        (first, second) = await memory.context.graph.episodes.passages(told.episode_uuid, without_vector=False, limit=9)
        others = await memory.context.graph.episodes.passages(note.episode_uuid, without_vector=False, limit=9)
        uuids = [one.uuid for one in (first, second, *others)]
        wanted = await memory.context.graph.embeddings.vectors_of(uuids, ["default"])
    with closing(sqlite3.connect(tmp_path / MEMORY)) as db:
        old = "UPDATE vector SET data = (SELECT data FROM vector WHERE uuid = ?) WHERE uuid = ?"
        db.execute(old, (first.uuid, second.uuid))
        db.execute("UPDATE graph_meta SET value = '16' WHERE key = 'schema_version'")
        db.commit()
    async with opened(tmp_path) as memory:
        assert await rebuilt(memory) == []
        found = await memory.context.graph.embeddings.vectors_of(uuids, ["default"])
        assert {uuid: list(vector) for uuid, vector in found.items()} == {
            uuid: pytest.approx(list(vector), abs=1e-5) for uuid, vector in wanted.items()
        }
        (spoken,) = await memory.context.embedder.embed(["Anna: Who waits for us?"])
        assert list(found[second.uuid]) == pytest.approx(list(spoken), abs=1e-5)
