"""What is stored while the embedding model is away, or is another, gets its vectors later."""

import pytest
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.search.assembly import FLAGS, NEIGHBOURS
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.records import NewVectors
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.embedding.recorded import RecordedEmbedder
from graphiti_pkm.errors import ModelUnavailable, Unavailable
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.jobs import Jobs
from graphiti_pkm.storage.missing_vectors import TEXTS, MissingVectors

FACT = {"source": "Sarah", "relation": "KNOWS", "target": "Tom", "fact": "Sarah knows Tom."}
OTHER = "another-model"


@pytest.fixture
async def world() -> WritingWorld:
    """A memory that has a model."""
    world = WritingWorld()
    world.journal.now = world.clock
    await world.journal.record_embedding(world.embedder.model, world.embedder.dimension)
    return world


def jobs_of(world: WritingWorld) -> Jobs:
    return Jobs(world.context, Committer(world.context))


async def queued(world: WritingWorld) -> int:
    return (await world.journal.counts())["jobs_queued"]


async def texts_without_vector(world: WritingWorld) -> int:
    return (await world.graph.embeddings.embedding_size(only_missing=True)).texts


async def test_with_the_service_away_all_is_stored_and_what_follows_is_said(world: WritingWorld) -> None:
    world.embedder.is_away = True
    answer = await world.tell("Sarah knows Tom. They met in Bonn.", FACT)
    assert "embedding: pending" in answer.message
    assert len(world.facts) == 1
    assert await texts_without_vector(world) == 5
    await world.tell("Ada naps.")
    assert await queued(world) == 1


async def test_the_vectors_follow_once_it_answers_again_and_a_long_absence_costs_no_attempt(
    world: WritingWorld,
) -> None:
    world.embedder.is_away = True
    await world.tell("Sarah knows Tom. They met in Bonn.", FACT)
    jobs = jobs_of(world)
    for _ in range(20):
        await jobs.run_once()
        world.clock.advance(seconds=300)
    assert await texts_without_vector(world) == 5
    world.embedder.is_away = False
    while await jobs.run_once():
        pass
    assert await texts_without_vector(world) == 0
    assert await queued(world) == 0
    stored = [row for row in await world.journal.rows(0, 10) if row.intent.new_vectors]
    assert [len(row.vectors) for row in stored] == [5]
    same = await world.embedder.embed(["Sarah knows Tom."])
    assert world.graph.tables.vectors[world.facts[0].uuid] == same[0]


async def test_the_first_vectors_record_their_model(world: WritingWorld) -> None:
    """After a restore of a memory that had none, beside a running server."""
    world.journal.recorded = None
    await world.tell("Sarah knows Tom.")
    recorded = await world.journal.embedding()
    assert recorded == RecordedEmbedding(model=world.embedder.model, dimension=world.embedder.dimension)


async def test_without_a_recorded_model_nothing_waits(world: WritingWorld) -> None:
    world.journal.recorded = None
    world.embedder.is_away = True
    await world.tell("Sarah naps.")
    assert await queued(world) == 0


async def test_many_texts_are_done_in_writes_of_some_each(world: WritingWorld) -> None:
    world.embedder.is_away = True
    for number in range(TEXTS // 40 + 1):
        await world.tell(" ".join(f"Sentence {number} {place} tells something new." for place in range(40)))
    world.embedder.is_away = False
    missing = MissingVectors(world.context, Committer(world.context))
    given = [await missing.embed_some("default") for _ in range(3)]
    assert given == [TEXTS, 40 * (TEXTS // 40 + 1) - TEXTS, None]


async def test_what_was_deleted_or_embedded_meanwhile_is_left_alone(world: WritingWorld) -> None:
    world.embedder.is_away = True
    answer = await world.tell("Sarah naps.", entities=[{"name": "Sarah"}])
    world.embedder.is_away = False
    embed = world.embedder.embed
    sarah = answer.entities[0].uuid

    async def embed_while_another_does(texts: list[str], patience: float | None = None) -> object:
        vectors = await embed(texts, patience)
        world.graph.tables.vectors[sarah] = vectors[0]
        world.graph.tables.passages.clear()
        return vectors

    world.embedder.embed = embed_while_another_does  # type: ignore[method-assign,assignment]
    missing = MissingVectors(world.context, Committer(world.context))
    assert await missing.embed_some("default") == 0
    assert await missing.embed_some("default") is None
    assert not any(isinstance(row.intent.new_vectors, NewVectors) for row in await world.journal.rows(0, 10))


async def test_a_model_that_is_away_and_a_database_that_is_are_told_apart(world: WritingWorld) -> None:
    world.embedder.is_away = True
    await world.tell("Sarah naps.")
    missing = MissingVectors(world.context, Committer(world.context))
    with pytest.raises(ModelUnavailable):
        await missing.embed_some("default")
    world.embedder.is_away = False
    world.graph.fail_next_apply()
    with pytest.raises(Unavailable):
        await missing.embed_some("default")


async def test_vectors_of_a_model_that_is_no_longer_the_memorys_are_not_stored(world: WritingWorld) -> None:
    embed = world.embedder.embed

    async def embed_while_it_changes(texts: list[str], patience: float | None = None) -> object:
        vectors = await embed(texts, patience)
        await world.journal.begin_change(OTHER, 8)
        return vectors

    world.embedder.embed = embed_while_it_changes  # type: ignore[method-assign,assignment]
    await world.tell("Sarah knows Tom.", FACT)
    assert world.graph.tables.vectors == {}
    (row,) = world.journal.table.values()
    assert (row.vectors, row.intent.jobs) == ({}, (EmbedMissingJob(),))


async def test_a_server_of_another_model_searches_by_words_and_says_why(world: WritingWorld) -> None:
    embedder = RecordedEmbedder(world.embedder, world.journal)
    await world.tell("Sarah knows Tom.", FACT)
    assert await embedder.available()
    assert await embedder.problem() is None
    await world.journal.begin_change(world.embedder.model, world.embedder.dimension)
    assert "until that is done, words are searched" in (await embedder.problem() or "")
    await world.journal.begin_change(OTHER, 8)
    await world.journal.end_change()
    assert not await embedder.available()
    assert f"{OTHER} (8 dimensions)" in (await embedder.problem() or "")
    with pytest.raises(Unavailable, match="reembed"):
        await embedder.embed(["tea"])
    context = type(world.context)(**{**vars(world.context), "embedder": embedder})
    searching = Searching(
        context, Groups(world.graph, context.settings), world.graph.part(NEIGHBOURS), world.graph.part(FLAGS)
    )
    found = await searching.search_nodes(LOCAL, SearchNodes(query="Sarah"))
    assert [node.name for node in found.nodes] == ["Sarah"]
    assert "full text only" in str(found.scope)


async def test_the_embedder_of_a_memory_tells_what_failed_until_it_works_again(world: WritingWorld) -> None:
    embedder = RecordedEmbedder(world.embedder, world.journal)
    world.embedder.is_away = True
    with pytest.raises(Unavailable):
        await embedder.embed(["tea"])
    assert await embedder.problem() == "The embedding service does not answer."
    world.embedder.is_away = False
    await embedder.embed(["tea"])
    assert await embedder.problem() is None
    world.embedder.is_available = False
    assert await embedder.problem() == "The embedding model has no weights."


async def test_a_journal_that_is_away_does_not_stop_searches(world: WritingWorld) -> None:
    embedder = RecordedEmbedder(world.embedder, world.journal)
    world.journal.is_down = True
    assert len(await embedder.embed(["tea"])) == 1


async def test_a_text_that_the_service_refuses_holds_up_no_other(world: WritingWorld) -> None:
    world.embedder.refused = "poison"
    await world.tell("Sarah naps. This is poison. Tom reads.", FACT)
    assert await texts_without_vector(world) == 6
    jobs = jobs_of(world)
    while await jobs.run_once():
        pass
    assert await texts_without_vector(world) == 0
    (nothing,) = await world.embedder.embed(["."])
    stored = list(world.graph.tables.vectors.values())
    assert [vector == nothing for vector in stored].count(True) == 1
