"""What a model reads to answer questions: calls and tokens of scripted questions over the example memories.

Run alone, ``python -m tests.benchmarks.answering``, on two versions: the text of an answer is what is compared.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp.client import Client
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent
from tests.benchmarks.measuring import Figure
from tests.benchmarks.world import client_of, memory

from graphiti_pkm.cli.examples import read_examples

COACHING, DECISIONS = "coaching-journal", "architecture-decisions"
_BYTES_OF_A_TOKEN = 4
"""As the token budget of the tools counts them."""

Ask: TypeAlias = Callable[..., Awaitable[dict[str, Any]]]
Script: TypeAlias = Callable[[Ask], Awaitable[object]]


@dataclass(frozen=True)
class Read:
    """What the answers to one question cost."""

    calls: int
    tokens: int


def _one(tool: str, **arguments: object) -> Script:
    return lambda ask: ask(tool, **arguments)


def _of(name: str, group: str, tool: str, **arguments: object) -> Script:
    """Find an entity, then ask about it."""

    async def script(ask: Ask) -> object:
        found = await ask("search_nodes", names=[name], group_ids=group, max_nodes=1)
        return await ask(tool, entity_uuid=found["nodes"][0]["uuid"], **arguments)

    return script


QUESTIONS: Mapping[str, Script] = {
    "When is Heron due, and how did its date move?": _one(
        "search_memory_facts", query="when is Heron due", group_ids=COACHING
    ),
    "Who is my manager, and who was before?": _one(
        "get_entity_connections", entity_uuid="me", group_ids=COACHING, relation="REPORTS_TO"
    ),
    "How has my sleep developed?": _one(
        "search_memory_facts", query="sleep", kind="reading", group_ids=COACHING, max_facts=20
    ),
    "What do you know about Ines?": _of("Ines Okafor", COACHING, "get_entity_connections"),
    "What do you know about me?": _one("get_entity_connections", entity_uuid="me", group_ids=COACHING),
    "What did I say about coffee?": _one("search_episodes", query="coffee", group_ids=COACHING),
    "What held of me on 1 February?": _one(
        "get_entity_connections", entity_uuid="me", group_ids=COACHING, as_of="2026-02-01"
    ),
    "What changed in my notes?": _one("what_changed", since="2020", group_ids=COACHING),
    "Which plans are open?": _one("search_memory_facts", status="planned", group_ids=COACHING),
    "How often was stress mentioned?": _of("stress", COACHING, "get_entity_timeline", max_content_chars=0),
    "Which database does the booking module use?": _of("booking module", DECISIONS, "get_entity_connections"),
    "What would dropping PostgreSQL affect?": _one("search_memory_facts", query="PostgreSQL", group_ids=DECISIONS),
    "Which decisions were superseded?": _one("search_memory_facts", edge_types=["SUPERSEDES"], group_ids=DECISIONS),
    "Which decision is about Redis?": _one("search_nodes", query="Redis", group_ids=DECISIONS),
    "Why were sessions moved?": _one("search_episodes", query="why were sessions moved", group_ids=DECISIONS),
}


async def lines() -> list[Figure]:
    """One for each question, then all together."""
    found = await read()
    total = Read(sum(one.calls for one in found.values()), sum(one.tokens for one in found.values()))
    rows = {**found, f"all {len(found)} questions": total}
    return [
        Figure(f"tokens of answers: {name}", f"{one.tokens:,}", f"{one.calls} call(s)", one.tokens / one.calls, None)
        for name, one in rows.items()
    ]


async def read() -> dict[str, Read]:
    """By question."""
    async with memory() as opened, client_of(opened) as client:
        for note in read_examples(None):
            await _answer(client, "add_memory", note.arguments)
        return {question: await _read(client, script) for question, script in QUESTIONS.items()}


async def _read(client: Client, script: Script) -> Read:
    texts: list[str] = []

    async def ask(tool: str, **arguments: object) -> dict[str, Any]:
        data, text = await _answer(client, tool, arguments)
        texts.append(text)
        return data

    await script(ask)
    return Read(len(texts), sum(len(text.encode()) for text in texts) // _BYTES_OF_A_TOKEN)


async def _answer(client: Client, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
    result = await client.session.send_request(request, CallToolResult)
    (content,) = result.content
    if result.is_error or not isinstance(content, TextContent) or not isinstance(result.structured_content, dict):
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content, content.text


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    for figure in asyncio.run(lines()):
        print(f"{figure.ours:>8}  {figure.against:>10}  {figure.what}")  # noqa: T201 a command line speaks
