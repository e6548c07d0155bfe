"""A memory changes to vectors of another model: wholly, once, and wherever it is stopped in between."""

import contextlib
from itertools import count
from pathlib import Path

import pytest
from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.embedding.recorded import RecordedEmbedder
from graphiti_pkm.embedding.reembedding import Reembedding
from graphiti_pkm.errors import EmbeddingMismatch, ModelUnavailable, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.jobs import Jobs
from graphiti_pkm.storage.recovery import Recovery

FACT = {"source": "Sarah", "relation": "KNOWS", "target": "Tom", "fact": "Sarah knows Tom."}


class Killed(BaseException):
    """The process ends here."""


class Life:
    """How many steps are left; None is for ever."""

    def __init__(self) -> None:
        self.left: int | None = None

    def step(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed


class MortalGraph(FakeGraph):
    def __init__(self, life: Life) -> None:
        super().__init__()
        self.life = life

    async def _db(self):  # type: ignore[no-untyped-def]
        self.life.step()
        return await super()._db()


class MortalJournal(FakeJournal):
    def __init__(self, life: Life) -> None:
        super().__init__()
        self.life = life

    def _check(self) -> None:
        self.life.step()
        super()._check()


class Another(FakeEmbedder):
    """Another model."""

    model = "another-bag-of-words"


class Server:
    """A process with one embedder on a memory."""

    def __init__(self, embedder: FakeEmbedder, beside: "Server | None" = None) -> None:
        self.life = beside.life if beside else Life()
        self.graph = beside.graph if beside else MortalGraph(self.life)
        self.journal = beside.journal if beside else MortalJournal(self.life)
        self.embedder = embedder
        self.clock = FakeClock()
        self.context = Context(
            graph=self.graph,
            journal=self.journal,
            embedder=RecordedEmbedder(embedder, self.journal),
            locks=FakeLocks(),
            settings=Settings(data_dir=Path("unused")),
            now=self.clock,
        )
        self.committer = Committer(self.context)
        self.reembedding = Reembedding(self.context, self.committer, embedder)
        self.writing = Writing(self.context, Groups(self.graph, self.context.settings), self.committer)

    async def tell(self, body: str, group: str = "default") -> None:
        request = AddMemory.model_validate({"episode_body": body, "facts": [FACT], "group_id": group})
        await self.writing.add_memory(LOCAL, request)

    async def reembed(self) -> int:
        await self.reembedding.change()
        return await self.reembedding.fill(lambda _done, _total: None)

    async def vectors_fit(self) -> bool:
        """Whether everything has the vector that this embedder makes of it, in the graph and after a rebuild."""
        for _ in range(2):
            db = self.graph.tables
            texts = {one.uuid: one.name for one in db.entities.values()}
            texts |= {one.uuid: one.text for one in db.facts.values()}
            texts |= {
                one.uuid: db.episodes[one.episode_uuid].content[one.start : one.end] for one in db.passages.values()
            }
            if db.vectors != {uuid: self.embedder._vector(text) for uuid, text in texts.items()}:
                return False
            await Recovery(self.context, self.committer).rebuilding.rebuild(lambda _done, _total: None)
        return True


@pytest.fixture
async def old() -> Server:
    """A memory of one model, in two groups."""
    server = Server(FakeEmbedder())
    await server.reembedding.agree()
    await server.tell("Sarah knows Tom. They met in Bonn.")
    await server.tell("Sarah came again.")
    await server.tell("Tom reads.", group="work")
    return server


async def test_the_first_model_is_recorded_in_journal_and_graph_and_agrees_with_itself() -> None:
    server = Server(FakeEmbedder())
    await server.reembedding.agree()
    await server.reembedding.agree()
    await server.reembedding.agree_on_graph()
    own = (server.embedder.model, server.embedder.dimension)
    assert await server.graph.embeddings.embedding() == own
    assert await server.journal.embedding() == RecordedEmbedding(model=own[0], dimension=own[1])


@pytest.mark.parametrize("other", [Another(), FakeEmbedder(48)])
async def test_another_model_or_dimension_does_not_start_and_is_told_the_command(
    old: Server, other: FakeEmbedder
) -> None:
    with pytest.raises(EmbeddingMismatch, match="graphiti-pkm reembed"):
        await Server(other, old).reembedding.agree()
    await old.reembedding.agree()


async def test_an_empty_memory_takes_another_model_by_itself() -> None:
    first = Server(FakeEmbedder())
    await first.reembedding.agree()
    second = Server(Another(48), first)
    await second.reembedding.agree()
    await second.tell("Sarah knows Tom.")
    assert await second.vectors_fit()


async def test_what_one_of_journal_and_graph_lost_is_told_by_the_other(old: Server) -> None:
    old.journal.recorded = None
    await old.reembedding.agree()
    assert old.journal.recorded is not None
    old.graph.tables.embedding = None
    await old.reembedding.agree()
    assert await old.graph.embeddings.embedding() == (old.embedder.model, old.embedder.dimension)


async def test_a_graph_of_other_vectors_than_the_journals_is_noticed_and_made_anew(old: Server) -> None:
    old.graph.tables.embedding = ("older", 3)
    with pytest.raises(EmbeddingMismatch, match="older"):
        await old.reembedding.agree_on_graph()
    await old.reembed()
    await old.reembedding.agree_on_graph()
    assert await old.vectors_fit()


@pytest.mark.parametrize("other", [Another(), FakeEmbedder(48), Another(48)])
async def test_all_vectors_are_made_anew_in_graph_and_journal_and_back_again(old: Server, other: FakeEmbedder) -> None:
    new = Server(other, old)
    size = await new.reembedding.size()
    assert await new.reembed() == size.texts == len(old.graph.tables.vectors)
    assert await new.vectors_fit()
    await new.reembedding.agree()
    assert await new.reembed() == 0
    again = Server(old.embedder, old)
    await again.reembed()
    assert await again.vectors_fit()


async def test_killed_at_any_place_it_goes_on_to_the_same_end() -> None:
    places = 0
    for left in count(1):
        old = Server(FakeEmbedder())
        await old.reembedding.agree()
        await old.tell("Sarah knows Tom. They met in Bonn.")
        await old.tell("Tom reads.", group="work")
        old.life.left = left
        try:
            await Server(Another(48), old).reembed()
        except Killed:
            places += 1
            old.life.left = None
            await Server(Another(48), old).reembed()
            assert await Server(Another(48), old).vectors_fit(), left
        else:
            break
    assert places > 30


async def test_given_up_half_way_for_the_old_model_it_goes_back_whole(old: Server) -> None:
    for left in range(1, 40, 3):
        old.life.left = left
        with pytest.raises(Killed):
            await Server(Another(48), old).reembed()
        old.life.left = None
        await Server(old.embedder, old).reembed()
        assert await Server(old.embedder, old).vectors_fit()


async def test_killed_while_it_embeds_any_server_goes_on_by_itself(old: Server) -> None:
    new = Server(Another(48), old)
    await new.reembedding.change()
    again = Server(Another(48), old)
    await again.reembedding.agree()
    jobs = Jobs(again.context, again.committer)
    while await jobs.run_once():
        pass
    assert await again.vectors_fit()


async def test_killed_at_any_place_a_server_that_starts_or_runs_finishes_the_change() -> None:
    """Whatever it embeds with: the change takes vectors away, and jobs bring the new ones."""
    places = 0
    for left in range(1, 60, 2):
        old = Server(FakeEmbedder())
        await old.reembedding.agree()
        await old.tell("Sarah knows Tom.")
        old.life.left = left
        with contextlib.suppress(Killed):
            await Server(Another(48), old).reembedding.change()
        old.life.left = None
        recorded = await old.journal.embedding()
        if recorded is None or not recorded.is_changing:
            continue
        places += 1
        finishing = old if places % 2 else Server(Another(48), old)
        if finishing is not old:
            await finishing.reembedding.agree()
        assert await finishing.reembedding.finish_change()
        new = Server(Another(48), old)
        await new.reembedding.agree()
        jobs = Jobs(new.context, new.committer)
        while await jobs.run_once():
            pass
        assert await new.vectors_fit(), left
    assert places > 5


async def test_a_change_that_is_at_work_is_left_to_its_process(old: Server) -> None:
    await old.journal.begin_change("another", 48)
    async with old.context.locks.hold_all():
        assert not await old.reembedding.finish_change()


async def test_a_change_that_was_stopped_lets_nobody_start_with_other_vectors(old: Server) -> None:
    new = Server(Another(48), old)
    await old.journal.begin_change(new.embedder.model, 48)
    with pytest.raises(EmbeddingMismatch, match="reembed"):
        await old.reembedding.agree()
    await Server(Another(48), old).reembedding.agree()


async def test_a_server_of_the_old_model_writes_by_words_and_its_texts_are_embedded_by_the_new_one(old: Server) -> None:
    new = Server(Another(48), old)
    await new.reembed()
    await old.tell("Sarah moved to Rome.")
    (row,) = [row for row in old.journal.table.values() if "Rome" in str(row.intent.episodes)]
    assert row.vectors == {}
    assert EmbedMissingJob() in row.intent.jobs
    jobs = Jobs(new.context, new.committer)
    while await jobs.run_once():
        pass
    assert await new.vectors_fit()


async def test_a_model_that_does_not_answer_changes_nothing(old: Server) -> None:
    other = Another()
    other.is_away = True
    before = dict(old.graph.tables.vectors)
    with pytest.raises(Unavailable):
        await Server(other, old).reembed()
    assert old.graph.tables.vectors == before
    await old.reembedding.agree()
    assert await old.vectors_fit()


async def test_a_model_that_stops_answering_keeps_what_is_done(old: Server) -> None:
    other = Another()
    new = Server(other, old)
    await new.reembedding.change()

    def stop(_done: int, _total: int) -> None:
        other.is_away = True

    with pytest.raises(ModelUnavailable):
        await new.reembedding.fill(stop)
    kept = len(old.graph.tables.vectors)
    assert 0 < kept < (await new.reembedding.size()).texts + kept
    other.is_away = False
    await new.reembed()
    assert await new.vectors_fit()


async def test_a_database_that_does_not_keep_its_file_ends_the_change_before_the_journal_loses_vectors(
    old: Server,
) -> None:
    old.graph.is_durable = False
    with pytest.raises(Unavailable, match="reembed"):
        await Server(Another(), old).reembed()
    assert any(row.vectors for row in old.journal.table.values())
    old.graph.is_durable = True
    await Server(old.embedder, old).reembed()
    assert await Server(old.embedder, old).vectors_fit()


async def test_a_memory_that_never_had_a_model_gets_one_and_says_so() -> None:
    server = Server(FakeEmbedder())
    server.embedder.is_available = False
    await server.reembedding.agree()
    await server.tell("Sarah knows Tom.")
    assert await server.journal.embedding() is None
    server.embedder.is_available = True
    assert await server.reembed() == 4
    own = (server.embedder.model, server.embedder.dimension)
    assert await server.journal.embedding() == RecordedEmbedding(model=own[0], dimension=own[1])
    assert await server.graph.embeddings.embedding() == own
    assert await server.vectors_fit()
