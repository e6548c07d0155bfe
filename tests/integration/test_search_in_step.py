"""What search reads of the records is in step with them after any writes: as if it were made anew from nothing."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from tests.builders import GROUP, a_write, an_episode
from tests.fakes import FakeEmbedder
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, _assemble, open_memory
from graphiti_pkm.capabilities.forget.requests import ClearGraph, DeleteEntityEdge, DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import CLEARING, DELETING, FORGETTING
from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.capabilities.history.tools import UPDATING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.model.stems import text_stems
from graphiti_pkm.errors import PkmError
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.queries.search import searchable_with_parts
from graphiti_pkm.storage.graph.sqlite import core_parts, words
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

pytestmark = pytest.mark.timeout(600)

OPERATIONS = 500
SEED = 1
SEARCHED = ("episode_stems", "search_text", "passage", "vector")
NAMES = ("Anna", "Tom Reeve", "Zéphyrin", "Lake House", "Dr. Ortiz", "Budget")
WORDS = [
    *("walked", "fire-works", "Haushaltsplanung", "東京都", "meetings", "café", "the", "river", "planned", "planning"),
    *("12", "gardens", "well-being", "told", "boats", "boating", "Straße", "naïve", "letters", "ies", "s-s", "being"),
]


class Writes:
    """A memory and operations on it, drawn by chance; the same with the same seed."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self._memory = memory
        self._draw = random.Random(seed)  # noqa: S311 no secret
        self._embedder = memory.context.embedder
        self._models = 1
        self.done: dict[str, int] = {}
        self.kinds: dict[Callable[[], Awaitable[object]], int] = {
            self._add: 60,
            self._forget_word: 8,
            self._forget_episode: 4,
            self._forget_entity: 3,
            self._delete_episode: 6,
            self._delete_fact: 3,
            self._rename: 6,
            self._job: 8,
            self._change_model: 1,
            self._rebuild: 1,
            self._restore: 1,
            self._clear: 1,
        }

    @classmethod
    async def over(cls, memory: Memory, seed: int) -> Self:
        embedder = FakeEmbedder(dimension=8)
        context = replace(memory.context, embedder=embedder)
        graph = memory.context.graph
        assert isinstance(graph, SqliteGraph)
        assembled = _assemble(context, graph, embedder, memory.database, memory.journal, memory.usage, None, None)
        await assembled.reembedding.agree()
        return cls(assembled, seed)

    async def one(self) -> None:
        """An operation that the memory takes; what it refuses is drawn again."""
        while True:
            (operation,) = self._draw.choices(list(self.kinds), list(self.kinds.values()))
            try:
                await operation()
            except PkmError:
                continue
            self.done[operation.__name__] = self.done.get(operation.__name__, 0) + 1
            return

    async def finish_jobs(self) -> None:
        while await self._memory.jobs.run_once():
            pass

    async def rebuild(self) -> None:
        await self._memory.recovery.rebuilding.rebuild(lambda _done, _total: None)

    def _text(self) -> str:
        sentences = [
            " ".join(self._draw.choices([*WORDS, *NAMES], k=self._draw.randint(1, 9))).capitalize() + "."
            for _ in range(self._draw.randint(1, 5))
        ]
        return self._draw.choice((" ", "\n\n")).join(sentences)

    async def _add(self) -> None:
        first, second = self._draw.sample(NAMES, 2)
        told: dict[str, Any] = {"episode_body": self._text(), "group_id": self._draw.choice(("default", "work"))}
        if self._draw.random() < 0.5:
            told["entities"] = [{"name": first, "aliases": [f"{first} {self._draw.randint(1, 9)}"]}, {"name": second}]
            told["facts"] = [{"source": first, "relation": "KNOWS", "target": second, "fact": self._text()[:200]}]
        if self._draw.random() < 0.3:
            told |= {"source": "message", "episode_body": f"{first}: {told['episode_body']}"}
        if self._draw.random() < 0.2:
            told["name"] = self._text()[:60]
        await self._memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(told))

    async def _forget(self, **asked: Any) -> None:
        forgetting = self._memory.services[FORGETTING]
        preview = await forgetting.forget(LOCAL, Forget(**asked))
        await forgetting.forget(LOCAL, Forget(**asked, confirm=preview.confirm))

    async def _forget_word(self) -> None:
        mode: Any = self._draw.choice(("redact", "redact", "delete"))
        await self._forget(
            query=self._draw.choice(WORDS), episodes=mode, group_id=self._draw.choice(("default", "work"))
        )

    async def _forget_episode(self) -> None:
        await self._forget(episode_uuid=self._any("episode"))

    async def _forget_entity(self) -> None:
        await self._forget(entity_uuid=self._any("entity"))

    async def _delete_episode(self) -> None:
        await self._memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=self._any("episode")))

    async def _delete_fact(self) -> None:
        await self._memory.services[DELETING].delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=self._any("fact")))

    async def _rename(self) -> None:
        asked = UpdateEntity(entity_uuid=self._any("entity"), name=f"{self._draw.choice(NAMES)} {self._draw.random()}")
        await self._memory.services[UPDATING].update_entity(LOCAL, asked)

    async def _job(self) -> None:
        await self._memory.jobs.run_once()

    async def _change_model(self) -> None:
        self._models += 1
        embedder = self._embedder
        assert isinstance(embedder, FakeEmbedder)
        embedder.model = f"fake {self._models}"
        await self._memory.reembedding.change()

    async def _rebuild(self) -> None:
        await self.rebuild()

    async def _restore(self) -> None:
        copy = self._memory.context.settings.data_dir / f"copy-{sum(self.done.values())}"
        await self._memory.journal.backup(copy)
        await self._add()
        await self._memory.recovery.rebuilding.restore_backup(copy, lambda _done, _total: None, replace=True)

    async def _clear(self) -> None:
        clearing = self._memory.services[CLEARING]
        preview = await clearing.clear_graph(LOCAL, ClearGraph(group_ids=["work"]))
        await clearing.clear_graph(LOCAL, ClearGraph(group_ids=["work"], confirm=preview.confirm))

    def _any(self, table: str) -> str:
        with closing(sqlite3.connect(self._memory.context.settings.data_dir / MEMORY)) as db:
            found = [row[0] for row in db.execute(f"SELECT uuid FROM {table} ORDER BY rowid")]  # noqa: S608 of ours
        return str(self._draw.choice(found)) if found else "none"


async def test_after_random_writes_search_has_what_it_would_have_if_it_were_made_anew(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path), replays=False) as memory:
        writes = await Writes.over(memory, SEED)
        for number in range(OPERATIONS):
            await writes.one()
            if number % 50 == 0:
                assert out_of_step(tmp_path) == []
        await writes.finish_jobs()
        assert out_of_step(tmp_path) == []
        assert writes.done.keys() == {operation.__name__ for operation in writes.kinds}
        before = dump(tmp_path)
        assert before.of("episode_stems")
        assert before.of("vector")
        await writes.rebuild()
        after = dump(tmp_path)
        others = [name for name in before.tables if name not in SEARCHED]
        assert differences(before.without(*others), after.without(*others)) == []
        await both_find_the_same(memory.context.graph, tmp_path)


async def both_find_the_same(graph: Any, data_dir: Path) -> None:
    """A store that followed the writes, and one that reads the file anew."""
    fresh = SqliteGraph(JournalFile(data_dir, name=MEMORY))
    for text in WORDS:
        (vector,) = await FakeEmbedder(dimension=8).embed([text])
        for group in ("default", "work"):
            wanted = EpisodeFilter(group_ids=(group,))
            found = await graph.search.nearest_episodes(vector, wanted, 20)
            assert found == await fresh.search.nearest_episodes(vector, wanted, 20)
    await fresh.close()


def out_of_step(data_dir: Path) -> list[str]:
    """What of the words and stems of episodes is not that of their texts."""
    with closing(sqlite3.connect(data_dir / MEMORY)) as db:
        db.row_factory = sqlite3.Row
        return [*_stems(db), *_words(db), *_index(db)]


def _stems(db: sqlite3.Connection) -> Iterator[str]:
    kept = {row["episode_uuid"]: row for row in db.execute("SELECT * FROM episode_stems")}
    for episode in db.execute("SELECT * FROM episode"):
        counted = text_stems(f"{episode['name']} {episode['content']}")
        row = kept.pop(episode["uuid"], None)
        read = None if row is None else {word: int(often) for word, often in map(_pair, row["stems"].split())}
        if row is None or read != counted or row["length"] != counted.total():
            yield f"stems of {episode['content']}"
    yield from (f"stems of no episode: {uuid}" for uuid in kept)


def _pair(text: str) -> tuple[str, str]:
    word, _, often = text.rpartition(":")
    return word, often


def _words(db: sqlite3.Connection) -> Iterator[str]:
    for row in db.execute(
        "SELECT e.*, t.words FROM episode e LEFT JOIN search_text t ON t.record_uuid = e.uuid AND t.part = ''"
    ):
        if row["words"] != searchable_with_parts(f"{row['name']} {row['content']}"):
            yield f"words of {row['content']}"
    records = "SELECT uuid FROM episode UNION SELECT uuid FROM entity UNION SELECT uuid FROM fact"
    for row in db.execute(f"SELECT words FROM search_text WHERE record_uuid NOT IN ({records})"):  # noqa: S608 no input
        yield f"words of no record: {row['words']}"


def _index(db: sqlite3.Connection) -> Iterator[str]:
    """The words of the index against those of one that is filled with the same texts."""
    groups = {row["group_id"]: row["id"] for row in db.execute("SELECT * FROM groups")}
    options = "text, content = '', detail = none, tokenize = 'porter ascii'"
    db.execute(f"CREATE VIRTUAL TABLE temp.anew USING fts5 ({options})")
    for kind in ("episode", "entity", "fact"):
        texts = db.execute(
            f"SELECT t.id, t.words, r.group_id FROM search_text t JOIN {kind} r ON r.uuid = t.record_uuid"  # noqa: S608
        )
        for row in texts.fetchall():
            text = words._prefixed(words.prefix(groups[row["group_id"]], kind), row["words"])
            db.execute("INSERT INTO temp.anew (rowid, text) VALUES (?, ?)", (row["id"], text))
    db.execute("CREATE VIRTUAL TABLE temp.had USING fts5vocab (main, word_index, row)")
    db.execute("CREATE VIRTUAL TABLE temp.should USING fts5vocab (temp, anew, row)")
    had, should = ({tuple(row) for row in db.execute(f"SELECT term, doc FROM {name}")} for name in ("had", "should"))  # noqa: S608
    db.rollback()
    yield from (f"index: {term}" for term in had ^ should)


@pytest.fixture
async def earlier(tmp_path: Path) -> AsyncIterator[SqliteGraph]:
    """A memory whose episodes were stored by a version that counted no stems."""
    graph = SqliteGraph(JournalFile(tmp_path, name=MEMORY))
    episodes = [an_episode(f"Sarah saw {number} boats and fire-works.") for number in range(120)]
    await graph.writer.apply(a_write(*episodes), {})
    await graph._opened.file.write(lambda db: db.execute("DELETE FROM episode_stems"))
    yield graph
    await graph.close()


async def test_episodes_of_an_earlier_version_are_ranked_alike_before_and_after_their_stems_are_counted(
    earlier: SqliteGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = list(await earlier.search.search_episodes(["boats"], EpisodeFilter(group_ids=(GROUP,)), 200))
    before = await earlier.search.episode_words(hits, ["boat", "firework", "7"], ["oat"], [GROUP])
    assert len(before) == 120
    assert len(out_of_step(tmp_path)) == 120
    monkeypatch.setattr(core_parts.Indexes, "settle_seconds", 0.0)
    await earlier.vectors.maintain_indexes(asyncio.Event())
    assert out_of_step(tmp_path) == []
    assert await earlier.search.episode_words(hits, ["boat", "firework", "7"], ["oat"], [GROUP]) == before


async def test_a_text_that_another_program_changes_loses_its_stems_and_is_counted_when_it_is_read(
    earlier: SqliteGraph,
) -> None:
    episode = an_episode("A boat.")
    await earlier.writer.apply(a_write(episode), {})
    change = "UPDATE episode SET content = 'Two trains.' WHERE uuid = ?"
    await earlier._opened.file.write(lambda db: db.execute(change, (episode.uuid,)))
    words_of = await earlier.search.episode_words([episode.uuid], ["boat", "train"], [], [GROUP])
    assert words_of[episode.uuid].counts.counts == {"train": 1}
