"""A memory to write into: fakes, and shortcuts to tell and to look."""

import json
from datetime import datetime, timedelta
from typing import Any

from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.history.changes import Changes
from graphiti_pkm.capabilities.history.requests import RetireFact
from graphiti_pkm.capabilities.history.retiring import Retiring
from graphiti_pkm.capabilities.history.updating import Updating
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.rules import is_current
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse, Attention
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.usage import USAGE, UsageQueue

TICK = timedelta(microseconds=1)
"""By this a write is later than the one before it if the clock stands still."""


class WritingWorld:
    """One server over fakes."""

    def __init__(self, now: datetime | None = None, embedder: Embedder | None = None, **settings: Any) -> None:
        self.graph, self.journal, self.embedder = FakeGraph(), FakeJournal(), FakeEmbedder()
        self.usage = UsageQueue(self.journal.usage, self.graph.part(USAGE))
        self.clock = FakeClock(now)
        self.context = Context(
            graph=self.graph,
            journal=self.journal,
            embedder=embedder or self.embedder,
            locks=FakeLocks(),
            settings=Settings(**settings),
            now=self.clock,
            usage=self.usage,
        )
        self.group = "default"
        groups = Groups(self.graph, self.context.settings)
        self.writing = Writing(self.context, groups, Committer(self.context))
        self.changes = Changes(self.context, groups, self.graph.part(CHANGE_LISTS))
        self.updating = Updating(self.context, groups, Committer(self.context))
        self.retiring = Retiring(self.context, groups, Committer(self.context), self.updating)

    async def tell(
        self, body: str = "A note.", *facts: dict[str, Any], caller: Caller = LOCAL, **fields: Any
    ) -> AddMemoryResponse:
        """One add_memory."""
        request = AddMemory.model_validate({"episode_body": body, "facts": facts, **fields})
        return await self.writing.add_memory(caller, request)

    async def send(self, arguments: dict[str, Any]) -> AddMemoryResponse:
        """One add_memory with exactly these arguments."""
        return await self.writing.add_memory(LOCAL, AddMemory.model_validate(arguments))

    async def settle(self, report: Attention, chosen: str = "") -> tuple[int, set[str]]:
        """Send the first call of a report exactly as it stands, or with another candidate in the place of the first.

        How many facts that ended, and what it asks itself.
        """
        places = {tool: report.call.find(f"{tool} {{") for tool in ("add_memory", "retire_fact")}
        tool, place = min(((tool, at) for tool, at in places.items() if at >= 0), key=lambda one: one[1])
        arguments = json.JSONDecoder().raw_decode(report.call[place + len(tool) + 1 :])[0]
        if tool == "add_memory":
            (fact,) = arguments["facts"]
            assert isinstance(fact.get("replaces", []), list)  # as the schema has it
            if chosen:
                fact["replaces"] = [chosen, *fact["replaces"][1:]]
            assert arguments.get("group_id", "default") == self.group
            answer = await self.send(arguments)
            return len(answer.retired), {one.what for one in answer.needs_attention}
        given = arguments | ({"fact_uuid": chosen} if chosen else {})
        return int((await self.retiring.retire_fact(LOCAL, RetireFact(**given))).changed), set()

    @property
    def facts(self) -> list[Fact]:
        db = self.graph.tables
        return [db.named(fact) for fact in db.facts.values()]

    def lines(self, *, now: datetime | None = None) -> list[str]:
        """What holds now, as "source RELATION target" with the value in brackets."""
        at = now or self.clock.instant
        return sorted(line(fact) for fact in self.facts if is_current(fact, at))

    def fact(self, text: str) -> Fact:
        """The one fact with this line."""
        found = [fact for fact in self.facts if line(fact) == text]
        assert len(found) == 1, [line(fact) for fact in self.facts]
        return found[0]

    def entity(self, name: str) -> Entity:
        """The one entity with this name."""
        found = [entity for entity in self.graph.tables.entities.values() if entity.name == name]
        assert len(found) == 1, [entity.name for entity in self.graph.tables.entities.values()]
        return found[0]

    def mentions(self, name: str) -> int:
        """How many episodes mention an entity."""
        return len(self.graph.tables.mentioning(self.entity(name).uuid))


def line(fact: Fact) -> str:
    said = f"{fact.source_name} {fact.relation} {fact.target_name}"
    return f"{said} [{fact.value}]" if fact.value else said


def attention(answer: AddMemoryResponse) -> list[str]:
    """What the answer wants looked at, by kind."""
    return [one.what for one in answer.needs_attention]


def the(answer: AddMemoryResponse, what: str) -> Attention:
    """The one report of a kind."""
    found = [one for one in answer.needs_attention if one.what == what]
    assert len(found) == 1, answer.needs_attention
    return found[0]


def ready_calls(report: Attention) -> list[dict[str, Any]]:
    """The arguments of each add_memory that a report holds, exactly as they stand."""
    decoder = json.JSONDecoder()
    return [decoder.raw_decode(rest)[0] for rest in report.call.split("add_memory ")[1:] if rest.startswith("{")]
