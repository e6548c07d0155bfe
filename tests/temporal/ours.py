"""The adapter for graphiti-pkm: the real server on the embedded database, asked by an MCP client."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

from mcp.client import Client
from tests.fakes import FakeClock, FakeEmbedder
from tests.integration.rows_support import in_one_task
from tests.neo4j_server import Neo4jAddress, empty, given_address, started
from tests.protocol.support import text
from tests.temporal.adapter import Adapter, Capability, ChangeAnswer, FactAnswer, ParsedRequest, ReadingAnswer, Refused
from tests.temporal.scenario import Changes, Episode, Held, Known, Of, Period, Series, Update

from graphiti_pkm.bootstrap import Memory, _assemble, _brought_together, open_memory
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

_MOST_CHANGES = 50
_ROWS = 500
_DOUBTS = frozenset({"ambiguous_replacement", "possible_conflict", "empty_interval", "proposed_ending", "shared_name"})


class GraphitiPkm(Adapter):
    """One data directory for the whole suite, one server for each time zone, one group for each scenario."""

    name: ClassVar[str] = "graphiti-pkm, embedded"
    capabilities: ClassVar[frozenset[str]] = frozenset(get_args(Capability))

    def __init__(self) -> None:
        self._database: dict[str, Any] = {}
        self._clock = FakeClock()
        self._stack = AsyncExitStack()
        self._clients: dict[str, Client] = {}
        self._begun = 0
        self._group = ""
        self._client: Client

    async def __aenter__(self) -> Self:
        self._directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pkm-time-")))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def begin(self, scenario: str, zone: str) -> None:
        if zone not in self._clients:
            self._clients[zone] = await self._stack.enter_async_context(in_one_task(self._serve(zone)))
        self._begun += 1
        self._client, self._group = self._clients[zone], f"{scenario}-{self._begun}"

    @asynccontextmanager
    async def _serve(self, zone: str) -> AsyncIterator[Client]:
        settings = Settings(data_dir=self._directory, timezone=zone, **self._database)
        # Without the background work: it would write at chance instants of a clock that stands still, so that the next
        # note is recorded later than it should be, and take a graph that ``rebuild`` emptied for one that lost data.
        async with open_memory(settings, replays=False, now=self._clock) as memory:
            await _brought_together(memory)
            self._memory = memory

            @asynccontextmanager
            async def services() -> AsyncIterator[Services]:
                yield self._services(memory)

            async with Client(build_server(settings, services)) as client:
                yield client

    def _services(self, memory: Memory) -> Services:
        return memory.services

    async def set_clock(self, now: datetime) -> None:
        self._clock.instant = now

    async def tell(self, episode: Episode, said: str) -> ParsedRequest:
        facts = [fact.model_dump(exclude={"ref"}, exclude_none=True) for fact in episode.facts]
        answer = await self._call(
            "add_memory",
            name=episode.name,
            episode_body=episode.body,
            reference_time=said,
            group_id=self._group,
            entities=[entity.model_dump(exclude_none=True) for entity in episode.entities],
            facts=facts,
        )
        asks = any(one["what"] in _DOUBTS for one in answer["needs_attention"])
        rests = [
            _beginning(fact)
            for one in answer["needs_attention"]
            if one["what"] == "still_rests"
            for fact in one["candidates"]
        ]
        return ParsedRequest(answer["episode_uuid"], [fact["uuid"] for fact in answer["facts"]], asks, rests)

    async def delete_fact(self, fact: str) -> None:
        await self._call("delete_entity_edge", uuid=fact)

    async def delete_episode(self, episode: str) -> None:
        await self._call("delete_episode", uuid=episode)

    async def retire(self, fact: str, reason: str, invalid_at: str | None, replaced_by: str | None) -> None:
        await self._call("retire_fact", fact_uuid=fact, reason=reason, invalid_at=invalid_at, replaced_by=replaced_by)

    async def restore(self, fact: str, reason: str) -> None:
        await self._call("restore_fact", fact_uuid=fact, reason=reason)

    async def update(self, wanted: Update, episodes: dict[str, str]) -> None:
        given = wanted.model_dump(exclude_none=True, exclude={"entity", "not_same_as"})
        for field in ("unlink_episodes", "link_episodes"):
            if field in given:
                given[field] = [episodes[name] for name in given[field]]
        other = None if wanted.not_same_as is None else await self._entity(wanted.not_same_as)
        uuid = await self._entity(wanted.entity)
        await self._call("update_entity", entity_uuid=uuid, not_same_as=other, **given)

    async def undo(self, entity: str) -> None:
        await self._call("restore_fact", fact_uuid=await self._entity(entity), reason="That was a mistake.")

    async def rebuild(self) -> None:
        """Make the graph anew, of this scenario's notes alone: those of earlier ones are not asked for again."""
        await self._memory.context.graph.clear()
        after = 0
        while rows := await self._memory.context.journal.rows(after, _ROWS):
            for row in rows:
                if row.intent.group_id == self._group:
                    await self._memory.context.graph.writer.apply(row.intent, row.vectors)
            after = rows[-1].seq

    async def entity(self, known: Known) -> dict[str, object]:
        uuid = await self._entity(known.entity)
        page = await self._call("get_entity_connections", entity_uuid=uuid, known_at=known.known_at)
        (node,) = (await self._call("search_nodes", names=[known.entity], group_ids=self._group))["nodes"]
        now = {"name": node["name"], "type": (node["labels"][1:] or [None])[0], "summary": node["summary"]}
        was = page.get("known_as") or now
        assert page["entity"] == was["name"]
        return {**was, "type": was.get("type"), "sentences": sorted(fact["fact"] for fact in page["facts"])}

    async def alike(self, name: str, alias: str) -> bool:
        entities = [{"name": name, "aliases": [alias]}]
        answer = await self._call("add_memory", episode_body="A note.", group_id=self._group, entities=entities)
        return any(one["what"] == "alias_taken" for one in answer["needs_attention"])

    async def changes(self, period: Changes) -> list[ChangeAnswer]:
        page = await self._call("what_changed", **period.model_dump(), group_ids=self._group, limit=_MOST_CHANGES)
        assert not page["truncated"]
        return [
            ChangeAnswer(
                datetime.fromisoformat((period.told_since and one.get("told_at")) or one["at"]),
                one["change"],
                one.get("fact_uuid") or one["entity"],
                one.get("reason") or "",
            )
            for one in page["changes"]
        ]

    async def held(self, question: Held) -> list[FactAnswer]:
        """As both tools that list facts say it: they must agree."""
        asked = {"as_of": question.as_of, "known_at": question.known_at}
        is_now = question.as_of is None
        facts = await self._facts(question, **asked, include_invalidated=False if is_now else None)
        listed = await self._listed(question, **asked, status="current" if is_now else None)
        if sorted(map(str, facts)) != sorted(map(str, listed)):
            raise AssertionError(f"get_entity_connections says {facts}, search_memory_facts {listed}")
        return facts

    async def planned(self, question: Held) -> list[FactAnswer]:
        return await self._listed(question, as_of=question.as_of, known_at=question.known_at, status="planned")

    async def open(self, question: Held) -> list[FactAnswer]:
        return await self._listed(question, as_of=question.as_of, known_at=question.known_at, status="open")

    async def history(self, of: Of) -> list[FactAnswer]:
        return [fact for fact in await self._facts(of) if fact.status != "voided"]

    async def series(self, of: Series) -> list[ReadingAnswer]:
        uuid = await self._entity(of.source)
        page = await self._call("search_memory_facts", query=f"readings of {of.measure}", **self._all) if uuid else {}
        return [
            ReadingAnswer(datetime.fromisoformat(fact["valid_at"]), fact["value"])
            for fact in page.get("facts", [])
            if fact["source_node_uuid"] == uuid and fact["measure"] == of.measure and fact["status"] == "reading"
        ]

    async def episodes(self, period: Period) -> list[str]:
        uuid = await self._entity(period.entity)
        filters = {"valid_after": period.valid_after, "valid_before": period.valid_before}
        found = await self._call("get_entity_timeline", entity_uuid=uuid, **filters) if uuid else {"episodes": []}
        return [episode["uuid"] for episode in found["episodes"]]

    async def months(self, entity: str) -> dict[str, int]:
        uuid = await self._entity(entity)
        counts = (await self._call("get_entity_timeline", entity_uuid=uuid))["mentions_per_month"] if uuid else {}
        return dict(counts)

    async def standing(self, status: str) -> list[str]:
        found = await self._call("search_nodes", status=status, group_ids=self._group)
        return [node["name"] for node in found["nodes"]]

    async def _facts(self, of: Of, **filters: Any) -> list[FactAnswer]:
        uuid = await self._entity(of.entity)
        if uuid is None:
            return []
        direction = "out" if of.source else "in"
        if of.relation is not None:
            filters["relation"] = of.relation
        page = await self._call(
            "get_entity_connections", entity_uuid=uuid, direction=direction, max_connections=100, **filters
        )
        assert not page["truncated"]
        return [_answer(fact, direction) for fact in page["facts"]]

    async def _listed(self, of: Of, **filters: Any) -> list[FactAnswer]:
        uuid = await self._entity(of.entity)
        if uuid is None:
            return []
        relations = [of.relation] if of.relation else None
        page = await self._call("search_memory_facts", entity_uuid=uuid, edge_types=relations, **self._all, **filters)
        assert not page["truncated"]
        end, direction = ("source_node_uuid", "out") if of.source else ("target_node_uuid", "in")
        return [_answer(fact, direction) for fact in page["facts"] if fact[end] == uuid]

    @property
    def _all(self) -> dict[str, Any]:
        return {"group_ids": self._group, "max_facts": 50}

    async def _entity(self, name: str) -> str | None:
        found = await self._call("search_nodes", names=[name], group_ids=self._group)
        return next((node["uuid"] for node in found["nodes"]), None)

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        given = {key: value for key, value in arguments.items() if value is not None}
        result = await self._client.call_tool(tool, given)
        if result.is_error:
            raise Refused(text(result))
        assert result.structured_content is not None
        return dict(result.structured_content)


class WithoutModel(GraphitiPkm):
    """The same with an embedder that needs no model: no rule of time asks for a meaning, and it is ten times faster."""

    def _services(self, memory: Memory) -> Services:
        context = replace(memory.context, embedder=FakeEmbedder(dimension=memory.context.embedder.dimension))
        return _assemble(
            context, memory.context.graph, context.embedder, memory.database, memory.journal, memory.usage, None, None
        ).services


class OnNeo4j(WithoutModel):
    """The same with its graph in a Neo4j, emptied first."""

    name = "graphiti-pkm, Neo4j"

    def __init__(self, address: Neo4jAddress | None = None) -> None:
        """``address``: by default that of the environment, or one of its own."""
        super().__init__()
        self._address = address

    async def __aenter__(self) -> Self:
        address = self._address or given_address() or self._stack.enter_context(started())
        empty(address)
        self._database = address.product_settings()
        return await super().__aenter__()


def _answer(fact: dict[str, Any], direction: str) -> FactAnswer:
    target = fact["value"] or fact["target_node_name"]
    return FactAnswer(
        says=target if direction == "out" else fact["source_node_name"],
        status=fact["status"],
        valid_at=_moment(fact["valid_at"]),
        invalid_at=_moment(fact["invalid_at"]),
        because_of=fact["because_of"],
        outcome=fact["outcome"],
    )


def _beginning(line: str) -> str:
    """The first characters of the uuid of a listed fact."""
    return line.split(" ", 1)[0]


def _moment(given: str | None) -> datetime | None:
    return None if given is None else datetime.fromisoformat(given)
