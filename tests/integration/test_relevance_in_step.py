"""What is kept of the entities of projects is in step with the other tables after any writes."""

import random
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import pytest
from tests.builders import (
    GROUP,
    RECORDED,
    a_fact,
    a_mention,
    a_name,
    a_project,
    a_write,
    an_entity,
    an_entry,
    an_episode,
    an_intent,
    an_update,
)

from graphiti_pkm.capabilities.projects.assembly import PROJECTS
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Entity, Episode, Fact, Forgetting, Project, WriteIntent
from graphiti_pkm.core.model.relevance import RelevanceFilter, RelevanceParts
from graphiti_pkm.storage.graph.sqlite import file, relevance, schema
from graphiti_pkm.storage.graph.sqlite.relevance_schema import RELEVANCE
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

OPERATIONS = 400
_T = TypeVar("_T")
_DAY = timedelta(days=1)


class Writes:
    """A graph, and writes to it that are drawn by chance; the same with the same seed."""

    def __init__(self, graph: SqliteGraph, seed: int) -> None:
        self.graph = graph
        self.done: set[str] = set()
        self.clock = RECORDED
        self._draw = random.Random(seed)  # noqa: S311 no secret
        self._count = 0
        self.projects: list[Project] = []
        self.episodes: list[Episode] = []
        self.entities: list[Entity] = []
        self._facts: list[Fact] = []
        self._kinds: list[Callable[[], WriteIntent]] = [
            *([self._entry] * 8 + [self._fact] * 8 + [self._mention] * 4 + [self._update] * 4),
            *([self._move_entry] * 3 + [self._move_episode] * 2 + [self._rename] * 3 + [self._name_of_value] * 2),
            *(self._entity, self._project, self._delete_entity, self._delete_episode, self._delete_fact),
            *(self._lose_mention, self._forget_fact, self._of_another_kind),
        ]

    async def one(self) -> None:
        self.clock += timedelta(hours=1)
        draw = self._draw.choice(self._kinds)
        self.done.add(draw.__name__)
        await self.graph.writer.apply(draw().model_copy(update={"recorded_at": self.clock}), {})

    async def begin(self) -> None:
        for draw in (self._project, self._project, *[self._entity] * 12):
            await self.graph.writer.apply(draw(), {})

    def _uuid(self) -> str:
        self._count += 1
        return f"{self._draw.getrandbits(32):08x}-{self._count:04}"

    def _entity(self) -> WriteIntent:
        entity = an_entity(f"E{self._count}", uuid=self._uuid())
        self.entities.append(entity)
        names = [a_name(entity, is_linkable=self._draw.random() < 0.7)] if self._draw.random() < 0.8 else []
        return a_write(entity, *names)

    def _project(self) -> WriteIntent:
        entity = an_entity(f"P{self._count}", uuid=self._uuid(), label="Project")
        self.entities.append(entity)
        self.projects.append(a_project(entity))
        return a_write(entity, a_name(entity), self.projects[-1])

    def _entry(self) -> WriteIntent:
        at = self.clock + self._draw.randint(-90, 3) * _DAY
        episode = an_episode(uuid=self._uuid(), valid_at=at, created_at=self.clock)
        self.episodes.append(episode)
        entries = [an_entry(episode, self._draw.choice(self.projects))] if self._draw.random() < 0.8 else []
        seen = self._draw.sample(self.entities, min(3, len(self.entities)))
        return a_write(episode, *entries, *(a_mention(episode, one, uuid=self._uuid()) for one in seen))

    def _mention(self) -> WriteIntent:
        episode = self._draw.choice(self.episodes or [an_episode()])
        mention = a_mention(episode, self._draw.choice(self.entities), uuid=self._uuid(), created_at=self.clock)
        return a_write(mention, group_id=GROUP)

    def _span(self) -> dict[str, datetime | None]:
        """Unknown, past or future ends."""
        places = [None, None, None, *(self._draw.randint(-60, 60) for _ in range(2))]
        start, end = (self._draw.choice(places) for _ in range(2))
        return {
            "valid_at": None if start is None else self.clock + start * _DAY,
            "invalid_at": None if end is None else self.clock + end * _DAY,
        }

    def _fact(self) -> WriteIntent:
        ends = self._draw.choices(self.entities, k=2)
        fact = a_fact(
            *ends, uuid=self._uuid(), created_at=self.clock, kind=self._draw.choice(["state"] * 5 + ["plan"])
        ).model_copy(update=self._span())
        self._facts.append(fact)
        return a_write(fact)

    def _update(self) -> WriteIntent:
        if not self._facts:
            return self._fact()
        fields: dict[str, Any] = {
            **self._span(),
            "expired_at": self._draw.choice([None, None, self.clock]),
            "voided": self._draw.random() < 0.2,
        }
        return a_write(an_update(self._draw.choice(self._facts), **fields), group_id=GROUP)

    def _of_another_kind(self) -> WriteIntent:
        fact = self._draw.choice(self._facts or [a_fact(*self.entities[:2])])
        return a_write(fact.model_copy(update={"kind": self._draw.choice(["plan", "state"])}))

    def _move_entry(self) -> WriteIntent:
        episode = self._draw.choice(self.episodes or [an_episode()])
        return a_write(an_entry(episode, self._draw.choice([None, *self.projects])))

    def _move_episode(self) -> WriteIntent:
        episode = self._draw.choice(self.episodes or [an_episode()])
        return a_write(episode.model_copy(update={"valid_at": self.clock + self._draw.randint(-90, 3) * _DAY}))

    def _rename(self) -> WriteIntent:
        """All names go."""
        left = {"entity_uuid": self._draw.choice(self.entities).uuid, "names": ()}
        return an_intent(forgets=Forgetting.model_validate({"names": (left,)}))

    def _name_of_value(self) -> WriteIntent:
        entity = self._draw.choice(self.entities)
        return a_write(a_name(entity, is_linkable=self._draw.random() < 0.5))

    def _delete_entity(self) -> WriteIntent:
        if len(self.entities) < 9:
            return self._entity()
        entity = self.entities.pop(self._draw.randrange(len(self.entities)))
        if len(self.projects) > 1 or entity.label is None:
            self.projects = [one for one in self.projects if one.uuid != entity.uuid]
        return a_write(deletions=Deletions(entities=(entity.uuid,)), group_id=GROUP)

    def _delete_episode(self) -> WriteIntent:
        gone = self._draw.choice(self.episodes or [an_episode()])
        return a_write(deletions=Deletions(episodes=(gone.uuid,)), group_id=GROUP)

    def _delete_fact(self) -> WriteIntent:
        gone = self._draw.choice(self._facts or [a_fact(*self.entities[:2])])
        return a_write(deletions=Deletions(facts=(gone.uuid,)), group_id=GROUP)

    def _lose_mention(self) -> WriteIntent:
        pairs = [(episode.uuid, entity.uuid) for episode in self.episodes[-5:] for entity in self.entities]
        return an_intent(forgets=Forgetting(mentions=tuple(pairs)))

    def _forget_fact(self) -> WriteIntent:
        gone = self._draw.choice(self._facts or [a_fact(*self.entities[:2])])
        return an_intent(forgets=Forgetting(facts=(gone.uuid,)))


async def _written(graph: SqliteGraph, act: Callable[[sqlite3.Connection], _T]) -> _T:
    return await graph._opened.file.write(act)


async def _relevant(writes: Writes, project: str, now: datetime, pins: tuple[str, ...]) -> RelevanceParts:
    wanted = RelevanceFilter(project_uuid=project, group_id=GROUP, now=now, threshold=300_000, pins=pins)
    archived = tuple(one.uuid for one in writes.projects[:1] if one.uuid != project)
    wanted = wanted.model_copy(update={"archived": archived})
    return await writes.graph.part(PROJECTS).relevant(wanted, Window(limit=50), Window(limit=50))


async def _differences(writes: Writes) -> list[str]:
    """Between what is kept and what is counted anew, for today and for later days."""
    found = []
    pins = tuple(one.uuid for one in writes.entities[:2])
    for project in writes.projects:
        for now in (writes.clock, writes.clock + 20 * _DAY, writes.clock + 50 * _DAY):
            kept = await _relevant(writes, project.uuid, now, pins)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(relevance, "_LATER", "SELECT 1")
                anew = await _relevant(writes, project.uuid, now, pins)
            if kept != anew:
                found.append(f"{project.uuid} {now}: {kept} instead of {anew}")
    return found


def _kept(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    return [
        sorted(tuple(row) for row in db.execute(f"SELECT * FROM {table}"))  # noqa: S608 names of ours
        for table in ("relevant_to", "relevant_link")
    ]


def _made_anew(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    """What the migration makes of the other tables."""
    names = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'relevant_%'"
    for (name,) in db.execute(names).fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for table in ("relevant_link", "relevant_to"):
        db.execute(f"DROP TABLE {table}")
    for statement in schema._statements(RELEVANCE):
        db.execute(statement)
    return _kept(db)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_after_random_writes_what_is_kept_is_what_would_be_counted_anew(
    sqlite_graph: SqliteGraph, seed: int
) -> None:
    writes = Writes(sqlite_graph, seed)
    await writes.begin()
    shown = 0
    for number in range(OPERATIONS):
        await writes.one()
        if number % 10 == 0:
            assert await _differences(writes) == []
            for project in writes.projects:
                parts = await _relevant(writes, project.uuid, writes.clock, ())
                shown += len(parts.primary.entities) + len(parts.secondary.entities)
    assert shown > OPERATIONS
    assert writes.done == {kind.__name__ for kind in writes._kinds}
    before = await sqlite_graph._opened.file.read(_kept)
    assert all(before)
    assert await _written(sqlite_graph, _made_anew) == before
    everything = [*(one.uuid for one in writes.entities)]
    await sqlite_graph.writer.apply(a_write(deletions=Deletions(entities=tuple(everything)), group_id=GROUP), {})
    assert await sqlite_graph.part(PROJECTS).projects_of(everything, GROUP) == {uuid: [] for uuid in everything}
    await sqlite_graph.writer.apply(a_write(deletions=Deletions(groups=(GROUP,))), {})
    assert await sqlite_graph._opened.file.read(_kept) == [[], []]


async def test_a_page_after_a_write_is_as_of_page_one(sqlite_graph: SqliteGraph) -> None:
    writes = Writes(sqlite_graph, seed=4)
    await writes.begin()
    for _ in range(60):
        await writes.one()
    project = writes.projects[0].uuid
    wanted = RelevanceFilter(
        project_uuid=project, group_id=GROUP, now=writes.clock, recorded_until=writes.clock, threshold=0
    )
    stored = sqlite_graph.part(PROJECTS)
    first = await stored.relevant(wanted, Window(limit=50), Window(limit=50))
    late = an_episode(created_at=writes.clock + _DAY, valid_at=writes.clock + _DAY)
    seen = [a_mention(late, one) for one in writes.entities]
    await sqlite_graph.writer.apply(
        a_write(late, an_entry(late, writes.projects[0]), *seen, recorded_at=late.created_at), {}
    )
    assert await stored.relevant(wanted, Window(limit=50), Window(limit=50)) == first
    later = wanted.model_copy(update={"now": late.created_at, "recorded_until": None})
    assert await stored.relevant(later, Window(limit=50), Window(limit=50)) != first


@pytest.mark.parametrize(("name", "arguments"), [("ln", (7.5,)), ("ln", (1,)), ("pow", (0.5, 2.25)), ("pow", (0.5, 0))])
def test_what_stands_in_for_functions_of_sqlite_gives_the_same(name: str, arguments: tuple[float, ...]) -> None:
    """So a build of SQLite without them ranks alike."""
    (own,) = (function for known, _, function in file.FUNCTIONS if known == name)
    db = sqlite3.connect(":memory:")
    marks = ", ".join("?" * len(arguments))
    (found,) = db.execute(f"SELECT {name}({marks})", arguments).fetchone()
    db.close()
    assert own(*arguments) == pytest.approx(found)
