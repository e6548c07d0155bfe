"""Repeats, failures and races: kept or not kept, never half."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import a_write, an_episode, at, new_uuid
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.records import Deletions
from graphiti_pkm.errors import ConflictingContent, WriteFailed, WritePending

UUID = "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10"
FACT = {"source": "Sarah", "relation": "KNOWS", "target": "Tom"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


async def test_a_repeated_uuid_with_the_same_content_gives_the_first_answer(world: WritingWorld) -> None:
    first = await world.tell("x", FACT, uuid=UUID)
    world.clock.advance(days=1)
    again = await world.tell("x", FACT, uuid=UUID.upper())
    assert again == first.model_copy(update={"status": "already_stored"})
    assert (first.status, first.episode_uuid) == ("stored", UUID)
    assert len(world.graph.tables.episodes) == 1


@pytest.mark.parametrize(
    "change", [{"name": "n"}, {"group_id": "work"}, {"reference_time": "2026"}, {"source": "json"}]
)
async def test_a_repeated_uuid_with_other_content_is_an_error(world: WritingWorld, change: dict[str, Any]) -> None:
    await world.tell("x", FACT, uuid=UUID)
    with pytest.raises(ConflictingContent, match=UUID):
        await world.tell("x", FACT, uuid=UUID, **change)
    with pytest.raises(ConflictingContent):
        await world.tell("y", FACT, uuid=UUID)
    assert len(world.graph.attempts) == 1


async def test_the_same_uuid_sent_twice_at_once_is_stored_once(world: WritingWorld) -> None:
    answers = await asyncio.gather(*(world.tell("x", FACT, uuid=UUID) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == ["already_stored"] * 4 + ["stored"]
    assert len(world.graph.tables.episodes) == 1


async def test_an_episode_from_elsewhere_is_not_overwritten(world: WritingWorld) -> None:
    await world.graph.writer.apply(a_write(an_episode(uuid=UUID, group_id="elsewhere")), {})
    with pytest.raises(ConflictingContent, match="is there already"):
        await world.tell("x", uuid=UUID)


async def test_the_same_new_name_told_at_once_is_one_entity(world: WritingWorld) -> None:
    answers = await asyncio.gather(*(world.tell(f"x{i}", FACT) for i in range(5)))
    assert len({answer.entities[0].uuid for answer in answers}) == 1
    assert len(world.graph.tables.entities) == 2
    assert [answer.facts[0].outcome for answer in answers].count("created") == 1


async def test_a_database_that_is_down_keeps_nothing(world: WritingWorld) -> None:
    world.graph.is_down = True
    with pytest.raises(WriteFailed, match="Nothing was stored"):
        await world.tell("x", FACT)
    assert await world.journal.rows(0, 10) == []


async def test_a_write_that_the_database_refuses_is_withdrawn_and_its_names_forgotten(world: WritingWorld) -> None:
    world.graph.fail_next_apply(WriteFailed("refused"))
    with pytest.raises(WriteFailed):
        await world.tell("x", FACT, uuid=UUID)
    again = await world.tell("Sarah came.", FACT, uuid=UUID)
    assert [one.outcome for one in again.entities] == ["created", "created"]


@pytest.mark.parametrize("when", ["before", "halfway", "after"])
async def test_a_write_that_the_database_missed_is_finished_by_the_next_one(world: WritingWorld, when: str) -> None:
    world.graph.fail_next_apply(when=when)  # type: ignore[arg-type]
    with pytest.raises(WritePending, match=UUID):
        await world.tell("x", FACT, uuid=UUID)
    assert (await world.tell("x", FACT, uuid=UUID)).status == "already_stored"
    answer = await world.tell("Sarah came.", FACT)
    assert [one.outcome for one in answer.entities] == ["matched", "matched"]
    assert answer.facts[0].outcome == "duplicate"
    assert len(world.graph.tables.episodes) == 2


async def test_without_a_model_everything_but_the_vectors_is_stored(world: WritingWorld) -> None:
    world.embedder.is_available = False
    answer = await world.tell("Sarah knows Tom.", FACT)
    assert "found by words only" in answer.message
    assert world.graph.tables.vectors == {}
    assert len(world.facts) == 1
    assert await world.journal.claim_job("test", 60) is None


async def test_a_name_deleted_while_it_was_not_embedded_is_embedded_after_all(world: WritingWorld) -> None:
    first = await world.tell("x", entities=[{"name": "Sarah"}])
    deletion = a_write(uuid=new_uuid(), group_id="default").model_copy(
        update={"deletions": Deletions(entities=(first.entities[0].uuid,))}
    )
    embed = world.embedder.embed

    async def embed_and_delete(texts: list[str], patience: float | None = None) -> object:
        vectors = await embed(texts, patience)
        await world.graph.writer.apply(deletion, {})
        return vectors

    world.embedder.embed = embed_and_delete  # type: ignore[method-assign,assignment]
    answer = await world.tell("x", entities=[{"name": "Sarah"}])
    assert answer.entities[0].outcome == "created"
    assert answer.entities[0].uuid in world.graph.tables.vectors


async def test_embedding_happens_before_the_lock_and_known_names_are_not_embedded_again(world: WritingWorld) -> None:
    await world.tell("Sarah knows Tom.", FACT)
    await world.tell("Again.", {**FACT, "relation": "LIKES"})
    assert world.embedder.calls[1] == ["Again.", "Sarah likes Tom"]


async def test_a_call_without_a_date_counts_from_when_it_is_stored_not_from_when_it_began_to_wait(
    world: WritingWorld,
) -> None:
    world.clock.tick = timedelta(seconds=1)
    await world.tell("one", {**FACT, "replaces": "current"})
    (episode,) = world.graph.tables.episodes.values()
    assert episode.valid_at == episode.created_at
    await world.tell("two", {**FACT, "target": "Ann", "replaces": "current"})
    assert world.lines() == ["Sarah KNOWS Ann"]
