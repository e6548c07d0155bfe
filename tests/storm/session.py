"""Recorded sessions: real servers, a real client and commands on one data directory, and what was acknowledged when."""

import asyncio
import itertools
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_stdio, run
from tests.storm.tape import SAY, Record, answers, recorder, recording, records

GROUPS = tuple(f"crash-{number}" for number in range(4))
FIRST_BACKUP, SECOND_BACKUP = "backup-1", "backup-2"
_HIDDEN = {0: "Ostrander", 1: "Quillfeather"}
"""Words of the notes that are forgotten; they stand in nothing else."""
_NEVER = sys.maxsize
_SENTENCES = 2


@dataclass(frozen=True)
class Note:
    """One write with three facts; what is in the graph of it can be told from what is of others."""

    number: int
    uuid: str
    group: str
    hidden: str = ""
    """A word that is to be forgotten, and with it all of this that says it."""

    @property
    def people(self) -> tuple[str, str]:
        first = f"Wilhelmina {self.hidden}" if self.hidden else f"Ann {self.number % 9}"
        return first, f"Tom {self.number % 7}"

    @property
    def body(self) -> str:
        return f"{self.people[0]} met {self.people[1]} (note-{self.number}). {self.people[1]} then went home."

    @property
    def facts(self) -> list[dict[str, str]]:
        one, other = self.people
        project = f"Project {self.number % 5}"
        return [
            {"source": one, "relation": "MET", "target": other, "kind": "event", "fact": f"{self.number}: they met."},
            {"source": one, "relation": "LEADS", "target": project, "fact": f"{self.number}: {one} leads {project}."},
            {"source": other, "relation": "KNOWS", "target": project, "fact": f"{self.number}: {other} knows it."},
        ]

    @property
    def names(self) -> list[str]:
        return sorted({end for fact in self.facts for end in (fact["source"], fact["target"])})

    @property
    def parts(self) -> "Counter[str]":
        """What of it is in the graph, and how often."""
        return Counter([*self.names, *(fact["fact"] for fact in self.facts), *["sentence"] * _SENTENCES])

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "uuid": self.uuid,
            "name": f"Note {self.number}",
            "episode_body": self.body,
            "group_id": self.group,
            "entities": [{"name": name} for name in self.names],
            "facts": self.facts,
        }


@dataclass
class Session:
    """What was done in ``root``, and after which records of the tape it was acknowledged."""

    root: Path
    played: list[Record] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)
    """All that were sent, by uuid."""
    dropped: set[str] = field(default_factory=set)
    """Those that the backup lacks which is then restored."""
    acknowledged: dict[str, int] = field(default_factory=dict)
    backups: dict[str, int] = field(default_factory=dict)
    restored: tuple[int, int] = (_NEVER, _NEVER)
    """After which records it may have happened, and was acknowledged."""
    forgotten: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By the word, likewise."""

    @property
    def data_dir(self) -> Path:
        return self.root / "data"

    def expected(self, index: int) -> set[str]:
        """Notes that must be there after that record."""
        told = {uuid for uuid, at in self.acknowledged.items() if at <= index}
        return told - self.dropped if self.restored[0] <= index else told

    def gone(self, index: int) -> set[str]:
        """Notes that must not be there any more."""
        return self.dropped if self.restored[1] <= index else set()

    def stage(self, index: int) -> int:
        """How many of the records that change what is to be expected were before that one."""
        once = (*self.acknowledged.values(), *self.backups.values())
        spans = (self.restored, *self.forgotten.values())
        return sum(at <= index for at in (*once, *itertools.chain(*spans)))

    def since(self, word: str) -> tuple[int, int]:
        """After which records it may have been forgotten, and was acknowledged to be."""
        return self.forgotten.get(word, (_NEVER, _NEVER))

    def client(self) -> AbstractAsyncContextManager[Client]:
        """Of a new server."""
        return over_stdio(self.data_dir, log=self.root.with_suffix(".log"))

    async def tell(self, client: Client, count: int = len(GROUPS)) -> set[str]:
        """Further notes, at the same time, each in a group of its own."""
        told = [self.note(number) for number in range(len(self.notes), len(self.notes) + count)]
        self.notes |= {note.uuid: note for note in told}
        await asyncio.gather(*(call(client, "add_memory", **note.arguments) for note in told))
        return {note.uuid for note in told}

    @staticmethod
    def note(number: int) -> Note:
        return Note(number, str(uuid4()), GROUPS[number % len(GROUPS)], _HIDDEN.get(number, ""))

    async def forget(self, client: Client, number: int) -> None:
        """The person that this note alone names."""
        note = list(self.notes.values())[number]
        (person,) = (await call(client, "search_nodes", names=[note.people[0]], group_ids=[note.group]))["nodes"]
        preview = await call(client, "forget", entity_uuid=person["uuid"])
        await call(client, "forget", entity_uuid=person["uuid"], confirm=preview["confirm"])

    async def command(self, *arguments: str) -> None:
        done = await asyncio.to_thread(run, *arguments, data_dir=self.data_dir)
        assert done.returncode == 0, done.stderr

    async def back_up(self, name: str) -> None:
        await self.command("backup", str(self.root / name))


async def long(session: Session) -> None:
    """Two servers, 64 notes, two forgettings, a backup and a restore beside a server, a rebuild."""
    async with session.client() as client:
        for _ in range(3):
            await session.tell(client)
        await session.forget(client, 1)
        for _ in range(3):
            await session.tell(client)
        await session.back_up(FIRST_BACKUP)
        session.dropped = await session.tell(client)
        await session.command("restore", str(session.root / FIRST_BACKUP), "--replace")
        await session.tell(client)
        await session.forget(client, 0)  # which the copy contains that the restore keeps
        for _ in range(6):
            await session.tell(client)
        await asyncio.gather(session.back_up(SECOND_BACKUP), session.tell(client))
    await session.command("rebuild")
    async with session.client() as client:
        await session.tell(client)


async def short(session: Session) -> None:
    """One server, three notes, a forgetting, and beside it a backup and a rebuild."""
    async with session.client() as client:
        await session.tell(client, 2)
        await session.forget(client, 0)
        await session.back_up(FIRST_BACKUP)
        await session.command("rebuild")
        await session.tell(client, 1)


async def recorded(directory: Path, play: Callable[[Session], Awaitable[None]]) -> Session:
    """A session, played on a disk of its own in ``directory``."""
    session = Session(directory / "disk")
    session.root.mkdir()
    tape = directory / "tape"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in recording(recorder(directory), session.root, tape).items():
            patch.setenv(name, value)
        await play(session)
    session.played = list(records(tape))
    _find_acknowledgements(session)
    assert session.acknowledged.keys() == session.notes.keys()
    return session


def _find_acknowledgements(session: Session) -> None:
    """A call is acknowledged when its answer begins to go out; a command, when it says so."""
    begun, entities = 0, [""]
    for index, answer in answers(session.played):
        if (uuid := answer.get("episode_uuid")) in session.notes:
            session.acknowledged[uuid] = index
        elif (status := answer.get("status")) == "preview":
            begun, entities = index, answer["entities"]
        elif status == "forgotten":
            word = next(word for word in _HIDDEN.values() if word in entities[0])
            session.forgotten[word] = begun, index
    said = [index for index, record in enumerate(session.played) if record.kind == SAY]
    for before, index in itertools.pairwise(said):
        words = session.played[index].data
        if words.startswith(b"Restored"):
            session.restored = before, index
        elif words.startswith(b"Backed up"):
            session.backups[_name(words)] = index


def _name(words: bytes) -> str:
    return next(name for name in (FIRST_BACKUP, SECOND_BACKUP) if name.encode() in words)
