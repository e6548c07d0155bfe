"""An adapter for Graphiti itself, with a model that always understands: its own pipeline and rules, no LLM.

``add_episode`` asks its model what a text says; here the facts of the scenario are the answers, as a model that follows
Graphiti's prompts would give them (present tense and plans: valid from the episode on; what is replaced, corrected or a
status before: contradicted). What the score shows is the store and its rules of time at their best. Events, plans and
readings are facts like any other there. What held at an instant the adapter reads off the intervals of all edges, as
the search of the upstream server is ranked and may leave some out.
"""

import ast
import asyncio
import os
import re
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from tests.fakes import FakeEmbedder
from tests.neo4j_server import Neo4jAddress, empty, given_address, started
from tests.temporal.adapter import Adapter, FactAnswer, ParsedRequest
from tests.temporal.scenario import Episode, FactTold, Held, Of, Period

_LISTED = re.compile(r"<(?:EXISTING FACTS|FACT INVALIDATION CANDIDATES)>\n(\[.*?\])\n</", re.DOTALL)
_NEW = re.compile(r"<NEW FACT>\n(.*?)\n</NEW FACT>", re.DOTALL)
_DATES = {4: "-01-01", 7: "-01"}


class GraphitiCore(Adapter):
    """One Neo4j for the whole suite, emptied first; a group for each scenario."""

    name: ClassVar[str] = "graphiti-core 0.31.1 with a model that always understands"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"clock", "as_of", "history", "delete_fact", "delete_episode", "episodes", "months"}
    )

    def __init__(self, address: Neo4jAddress | None = None) -> None:
        """``address``: of the Neo4j to empty and use; by default that of the environment, or one of its own."""
        self._address = address
        self._begun = 0
        self._stack = ExitStack()
        self._now = datetime.now(UTC)

    async def __aenter__(self) -> Self:
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        address = self._address or given_address() or self._stack.enter_context(started())
        empty(address)
        self._driver = Neo4jDriver(address.uri, address.username, address.password)
        assert self._driver._init_task is not None
        self._driver._init_task.cancel()  # it would build side by side with the next line
        self._others = await self._indexes()
        await self._driver.build_indices_and_constraints()
        return self

    async def _indexes(self) -> set[str]:
        return {row["name"] for row in (await self._driver.execute_query("SHOW INDEXES YIELD name")).records}

    async def __aexit__(self, *_: object) -> None:
        for name in await self._indexes() - self._others:
            await self._driver.execute_query(f"DROP INDEX {name}")
        await self._driver.close()
        self._stack.close()

    async def begin(self, scenario: str, zone: str) -> None:
        self._begun += 1
        self._group = f"{scenario}-{self._begun}-{zone}".replace("-", "_").replace("/", "_")
        self._model = _Understanding()
        self._graphiti = Graphiti(
            graph_driver=self._driver, llm_client=self._model, embedder=_Embedder(), cross_encoder=_Unranked()
        )

    async def set_clock(self, now: datetime) -> None:
        """Only what is current now depends on it; the record has the time of the machine."""
        self._now = now

    async def tell(self, episode: Episode, said: str) -> ParsedRequest:
        told_at = _instant(said)
        self._model.hear(episode, told_at)
        result = await self._graphiti.add_episode(
            name=episode.name,
            episode_body=episode.body,
            source_description="a note",
            reference_time=told_at,
            source=EpisodeType.text,
            group_id=self._group,
        )
        by_text = {edge.fact: edge.uuid for edge in result.edges}
        facts = [by_text.get(_text(fact), "") for fact in episode.facts]
        self._model.remember(dict(zip(facts, episode.facts, strict=True)))
        return ParsedRequest(result.episode.uuid, facts)

    async def delete_fact(self, fact: str) -> None:
        await (await EntityEdge.get_by_uuid(self._driver, fact)).delete(self._driver)

    async def delete_episode(self, episode: str) -> None:
        await self._graphiti.remove_episode(episode)

    async def held(self, question: Held) -> list[FactAnswer]:
        at = _instant(question.as_of) if question.as_of else self._now
        return [
            fact
            for fact in await self.history(question)
            if (fact.valid_at is None or fact.valid_at <= at) and (fact.invalid_at is None or fact.invalid_at > at)
        ]

    async def history(self, of: Of) -> list[FactAnswer]:
        nodes = {node.uuid: node for node in await EntityNode.get_by_group_ids(self._driver, [self._group])}
        try:
            edges = await EntityEdge.get_by_group_ids(self._driver, [self._group])
        except GroupsEdgesNotFoundError:
            return []
        found = []
        for edge in edges:
            source, target = nodes[edge.source_node_uuid].name, nodes[edge.target_node_uuid].name
            asked, says = (source, target) if of.source else (target, source)
            if asked == of.entity and of.relation in {None, edge.name}:
                found.append(FactAnswer(says, self._status(edge), edge.valid_at, edge.invalid_at))
        return found

    def _status(self, edge: EntityEdge) -> str:
        if edge.invalid_at is not None and edge.invalid_at <= self._now:
            return "ended"
        return "future" if edge.valid_at is not None and edge.valid_at > self._now else "current"

    async def episodes(self, period: Period) -> list[str]:
        found = await self._mentioning(period.entity)
        first = _instant(period.valid_after) if period.valid_after else None
        last = _instant(period.valid_before) if period.valid_before else None
        return [
            one.uuid
            for one in found
            if (first is None or one.valid_at >= first) and (last is None or one.valid_at < last)
        ]

    async def months(self, entity: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for episode in await self._mentioning(entity):
            month = f"{episode.valid_at.year:04d}-{episode.valid_at.month:02d}"
            counts[month] = counts.get(month, 0) + 1
        return counts

    async def _mentioning(self, entity: str) -> list[EpisodicNode]:
        nodes = await EntityNode.get_by_group_ids(self._driver, [self._group])
        uuid = next((node.uuid for node in nodes if node.name == entity), None)
        found = await EpisodicNode.get_by_entity_node_uuid(self._driver, uuid) if uuid else []
        return sorted(found, key=lambda one: (one.valid_at, one.created_at))


class _Understanding(LLMClient):
    """Answers Graphiti's questions about a text from the facts of the scenario."""

    def __init__(self) -> None:
        super().__init__(None)
        self._episode = Episode(body="")
        self._told_at = datetime.now(UTC)
        self._names: set[str] = set()
        self._known: dict[str, list[FactTold]] = {}
        self._by_id: dict[str, str] = {}

    def hear(self, episode: Episode, told_at: datetime) -> None:
        self._episode, self._told_at = episode, told_at
        for fact in episode.facts:
            self._known.setdefault(_text(fact), []).append(fact)

    def remember(self, facts: dict[str, FactTold]) -> None:
        self._by_id.update({uuid: _text(fact) for uuid, fact in facts.items()})

    async def _generate_response(
        self, messages: list[Any], response_model: type[Any] | None = None, *_: Any, **__: Any
    ) -> dict[str, Any]:
        await asyncio.sleep(0)
        answers = {
            "ExtractedEntities": self._entities,
            "ExtractedEdges": self._edges,
            "EdgeDuplicate": lambda: self._compared(messages[-1].content),
            "NodeResolutions": lambda: {"entity_resolutions": []},
            "SummarizedEntities": lambda: {"summaries": []},
            "EdgeTimestamps": lambda: {"valid_at": None, "invalid_at": None},
            "BatchEdgeTimestamps": lambda: {"timestamps": []},
        }
        assert response_model is not None
        return answers[response_model.__name__]()

    def _entities(self) -> dict[str, Any]:
        named = {name for fact in self._episode.facts for name in (fact.source, _target(fact))}
        named |= {name for name in self._names if name in self._episode.body}
        self._names |= named
        entities = [{"name": name, "entity_type_id": 0, "episode_indices": [0]} for name in sorted(named)]
        return {"extracted_entities": entities}

    def _edges(self) -> dict[str, Any]:
        return {"edges": [self._edge(fact) for fact in self._episode.facts]}

    def _edge(self, fact: FactTold) -> dict[str, Any]:
        start = fact.valid_at and _instant(fact.valid_at)
        if fact.kind == "plan" or (start is None and fact.invalid_at is None):
            start = self._told_at
        return {
            "source_entity_name": fact.source,
            "target_entity_name": _target(fact),
            "relation_type": fact.relation,
            "fact": _text(fact),
            "valid_at": start.isoformat() if start else None,
            "invalid_at": _instant(fact.invalid_at).isoformat() if fact.invalid_at else None,
            "episode_indices": [0],
        }

    def _compared(self, prompt: str) -> dict[str, Any]:
        """Which of the listed facts the new one repeats or contradicts."""
        new_text = _NEW.search(prompt)
        listed = [one for part in _LISTED.findall(prompt) for one in ast.literal_eval(part)]
        new = next((fact for fact in self._episode.facts if new_text and _text(fact) == new_text[1]), None)
        if new is None:
            return {"duplicate_facts": [], "contradicted_facts": []}
        ended = [
            one["idx"] for one in listed if any(self._ends(new, old, one["fact"]) for old in self._said(one["fact"]))
        ]
        return {"duplicate_facts": [], "contradicted_facts": ended}

    def _said(self, text: str) -> list[FactTold]:
        return [fact for fact in self._known.get(text, []) if fact not in self._episode.facts]

    def _ends(self, new: FactTold, old: FactTold, text: str) -> bool:
        """Whether a model that understands would say that the new fact makes the old one false."""
        if new.kind == "plan" != old.kind or new.kind == "reading":
            return False
        wanted = [new.replaces] if isinstance(new.replaces, str) else list(new.replaces or ())
        if any(self._by_id.get(want) == text for want in wanted):
            return True
        if old.relation != new.relation:
            return False
        is_own = old.source == new.source
        if is_own and _target(old) == _target(new):
            return new.invalid_at is not None and old.invalid_at is None
        if any(want in ({_target(old)} if is_own else {old.source}) for want in wanted):
            return True
        is_current_meant = "current" in wanted or new.change == "corrected" or new.relation == "HAS_STATUS"
        return is_own and is_current_meant and (new.relation == "HAS_STATUS" or self._is_only_one(old))

    def _is_only_one(self, fact: FactTold) -> bool:
        """Of several that hold, a model that understands ends none."""
        same = {
            _target(old)
            for text in self._known
            for old in self._said(text)
            if (old.source, old.relation) == (fact.source, fact.relation)
        }
        return len(same) == 1


class _Embedder(EmbedderClient):
    """Texts that share words are near."""

    def __init__(self) -> None:
        self._embedder = FakeEmbedder(dimension=1024)

    async def create(self, input_data: Any) -> list[float]:
        given = input_data if isinstance(input_data, str) else next(iter(input_data))
        return list((await self._embedder.embed([str(given)]))[0])

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [list(vector) for vector in await self._embedder.embed(input_data_list)]


class _Unranked(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        return [(passage, float(query == passage)) for passage in passages]


def _target(fact: FactTold) -> str:
    return fact.value or fact.target or fact.measure or fact.relation.lower()


def _text(fact: FactTold) -> str:
    said = fact.fact or f"{fact.source} {fact.relation.replace('_', ' ').lower()} {_target(fact)}"
    said += f" since {fact.valid_at}" if fact.valid_at else ""
    said += f" until {fact.invalid_at}" if fact.invalid_at else ""
    return f"Planned: {said}" if fact.kind == "plan" else said


def _instant(given: str) -> datetime:
    moment = datetime.fromisoformat(given + _DATES.get(len(given), ""))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
