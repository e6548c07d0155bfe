"""A model that reads episodes: what add_memory costs meanwhile, groups side by side, and how many calls it takes.

The model is scripted, behind real HTTP: its latency is set, its answers cost next to nothing.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EpisodeType
from mcp.client import Client
from openai import AsyncOpenAI
from tests.benchmarks.measuring import Figure, Target, in_turn, ms
from tests.benchmarks.world import call, client_of, memory
from tests.scripted_model import ScriptedModel

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.graphiti_adapter import SqliteDriver

ROUNDS = 40
SLOW_MS = 3_000
LATENCY_MS = 300
GROUPS = 8
EACH = 6
"""Episodes of a group."""
_BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
_PEOPLE = ("Anna Berg", "Tom Vance", "Priya Nair", "Jon Baker")
_FIRMS = ("Globex Inc", "Initech", "Acme")
_UUID = "5b0f6f0e-2f51-4c52-9d0c-0e4a1f1f6c11"
_STORY = [
    (source, relation, target, f"{source} {relation} {target}.")
    for source, relation, target in (
        ("Anna Berg", "WORKS_AT", "Globex Inc"),
        ("Anna Berg", "LIVES_IN", "Porto"),
        ("Tom Vance", "WORKS_AT", "Initech"),
        ("Tom Vance", "MARRIED_TO", "Priya Nair"),
        ("Priya Nair", "WORKS_WITH", "Anna Berg"),
        ("Jon Baker", "REPORTS_TO", "Tom Vance"),
    )
]


class _NoReranker(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        raise NotImplementedError("rank fusion needs none")


async def figures() -> list[Figure]:
    """Time of add_memory, throughput, calls."""
    return [await _while_it_reads(), await _side_by_side(), *await _calls()]


@asynccontextmanager
async def _read_by(model: ScriptedModel, **settings: Any) -> AsyncIterator[tuple[Memory, Client]]:
    given = {"llm_model": "scripted", "llm_base_url": model.url, **settings}
    async with memory(**given) as opened, client_of(opened) as client:
        yield opened, client


async def _while_it_reads() -> Figure:
    """Each side has a memory of its own; what was added before is still being read."""
    with ScriptedModel(latency_ms=SLOW_MS) as model:
        async with _read_by(model) as (_, with_model), memory() as plain, client_of(plain) as without:
            numbers = itertools.count()

            async def add(client: Client) -> None:
                await call(client, "add_memory", episode_body=_text(next(numbers)), facts=[_fact(0)])

            sides = {"with": lambda: add(with_model), "without": lambda: add(without)}
            taken = await in_turn(sides, ROUNDS, warm_up=10)
    ours, theirs = taken["with"].p50, taken["without"].p50
    what = f"add_memory through MCP while a model of {SLOW_MS / 1000:g} s a call reads, against no model"
    return Figure(what, ms(ours), ms(theirs), ours / theirs, Target("<=", 1.2))


async def _side_by_side() -> Figure:
    """Episodes a second of many groups and of one, each in a memory of its own."""
    rates = {}
    for groups in (1, GROUPS):
        with ScriptedModel(latency_ms=LATENCY_MS) as model:
            async with _read_by(model, extraction_parallel=GROUPS) as (opened, client):
                begun = perf_counter()
                for number in range(EACH):
                    for group in range(groups):
                        await call(client, "add_memory", episode_body=_text(number), group_id=f"g{group}")
                await _until_read(opened, groups * EACH)
                rates[groups] = groups * EACH / (perf_counter() - begun)
    return Figure(
        f"episodes read a second, {GROUPS} groups against one, a model of {LATENCY_MS} ms a call",
        f"{rates[GROUPS]:.2f}/s",
        f"{rates[1]:.2f}/s",
        rates[GROUPS] / rates[1],
        Target(">=", 6),
    )


async def _calls() -> list[Figure]:
    """Model calls of ours and of plain Graphiti for the last of the same episodes."""
    found = []
    told = [_fact_of(one) for one in _STORY]
    story = " ".join(one[3] for one in _STORY)
    for what, notes in (
        ("an episode of six facts", [_note(story)]),
        ("the same text told again", [_note(story), _note(story, day=1)]),
        ("the same episode sent again with its uuid", [_note(story, uuid=_UUID), _note(story, uuid=_UUID)]),
        ("an episode whose six facts the caller supplied", [_note(story, facts=told)]),
    ):
        ours, plain = await _calls_of_ours(notes), await _calls_of_graphiti(notes)
        found.append(Figure(f"model calls for {what}, against Graphiti's own", str(ours), str(plain), ours / plain))
    return found


async def _calls_of_ours(notes: Sequence[dict[str, Any]]) -> int:
    with ScriptedModel() as model:
        async with _read_by(model, llm_structured_output="json_schema") as (opened, client):
            for note in notes:
                model.forget_counts()
                answer = await call(client, "add_memory", **note)
                await _until_read(opened, 1 if answer["status"] == "already_stored" else 1 + notes.index(note))
        return _asked(model)


async def _calls_of_graphiti(notes: Sequence[dict[str, Any]]) -> int:
    """By the published library with its own searches, which is told no facts; a known uuid is read again."""
    with ScriptedModel() as model, TemporaryDirectory() as directory:
        async with AsyncOpenAI(api_key="k", base_url=model.url) as service:
            graphiti = Graphiti(
                graph_driver=SqliteDriver(Path(directory) / "graphiti.sqlite3"),
                llm_client=OpenAIGenericClient(LLMConfig(api_key="k", model="m", small_model="m"), client=service),
                embedder=OpenAIEmbedder(OpenAIEmbedderConfig(api_key="k", embedding_dim=64), client=service),
                cross_encoder=_NoReranker(),
            )
            await graphiti.build_indices_and_constraints()
            uuid = None
            for note in notes:
                model.forget_counts()
                at = datetime.fromisoformat(note["reference_time"])
                body = note["episode_body"]
                again = uuid if "uuid" in note else None
                done = await graphiti.add_episode("n", body, "", at, source=EpisodeType.text, group_id="g", uuid=again)
                uuid = done.episode.uuid
            await graphiti.close()
        return _asked(model)


def _asked(model: ScriptedModel) -> int:
    return sum(tally.calls for name, tally in model.stats.by_schema.items() if name != "embeddings")


async def _until_read(opened: Memory, count: int) -> None:
    while (sizes := await opened.journal.extractions.sizes(None)).get("done", 0) < count:
        if sizes.get("failed"):
            raise RuntimeError("an episode could not be read")
        await asyncio.sleep(0.05)


def _text(number: int) -> str:
    one, other = _PEOPLE[number % 4], _PEOPLE[(number + 1) % 4]
    day = _BEGIN + timedelta(days=number)
    return f"{one} WORKS_AT {_FIRMS[number % 3]} since {day:%Y-%m-%d}. {one} WORKS_WITH {other}."


def _fact(number: int) -> dict[str, str]:
    one, firm = _PEOPLE[number % 4], _FIRMS[number % 3]
    day = _BEGIN + timedelta(days=number)
    text = f"{one} WORKS_AT {firm} since {day:%Y-%m-%d}."
    return {"source": one, "relation": "WORKS_AT", "target": firm, "fact": text, "valid_at": f"{day:%Y-%m-%d}"}


def _note(body: str, day: int = 0, **more: Any) -> dict[str, Any]:
    return {"episode_body": body, "reference_time": (_BEGIN + timedelta(days=day)).isoformat(), **more}


def _fact_of(told: tuple[str, str, str, str]) -> dict[str, str]:
    source, relation, target, text = told
    return {"source": source, "relation": relation, "target": target, "fact": text}
