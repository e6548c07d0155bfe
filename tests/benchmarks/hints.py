"""What hints cost: tokens and processor time of an answer, with them and without, in turn on one memory."""

import json
from time import process_time
from typing import Any

from mcp.client import Client
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent
from tests.benchmarks.measuring import Figure, Target, ms
from tests.benchmarks.world import client_of, memory

ROUNDS = 200
_PEOPLE = 60
_TOKEN = 4
"""Bytes of one, as the budget counts them."""
_READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_nodes", {"query": "who sings in the choir"}),
    ("get_entity_connections", {"entity_uuid": "me"}),
    ("search_memory_facts", {"query": "who sings in the choir"}),
)


async def figures(*, quick: bool = False) -> list[Figure]:
    """Writes follow a search, as the instructions ask; then one is measured without."""
    rounds = ROUNDS // 20 if quick else ROUNDS
    async with memory() as opened, client_of(opened, hints="off") as off, client_of(opened, hints="advise") as on:
        sides = {"off": off, "on": on}
        for number in range(_PEOPLE):
            await _result(off, "add_memory", _note(number))
        unsearched = [_tokens(await _result(side, "add_memory", _note(-1 - at))) for at, side in enumerate((off, on))]
        found = [_more("add_memory without a search before", *unsearched)]
        await _result(on, "search_nodes", {"query": "choir"})
        for tool, arguments in (*_READS, ("add_memory", None)):
            taken: dict[str, list[float]] = {name: [] for name in sides}
            sizes: dict[str, tuple[float, float]] = {}
            for number in range(rounds):
                for name, side in sorted(sides.items(), reverse=number % 2 == 1):
                    sent = arguments or _note(1_000 + 2 * number + (name == "on"))
                    begun = process_time()
                    result = await _result(side, tool, sent)
                    taken[name].append(1_000 * (process_time() - begun))
                    sizes[name] = _tokens(result)
            before, after = (sorted(taken[name])[int(0.95 * rounds)] for name in ("off", "on"))
            what = f"{tool} with hints against without, p95 of processor time"
            found += [Figure(what, ms(after), ms(before), after / before, Target("<=", 1.02))]
            found += [_more(tool, sizes["off"], sizes["on"])]
        return found


def _note(number: int) -> dict[str, Any]:
    body = f"Person {number} sings in the choir of hall {number % 7}."
    entities = [{"name": f"Person {number}", "type": "Person"}, {"name": f"Hall {number % 7}", "type": "Place"}]
    facts = [
        {"source": f"Person {number}", "relation": "SINGS_IN", "target": f"Hall {number % 7}"},
        {"source": "me", "relation": "KNOWS", "target": f"Person {number}"},
    ]
    return {"episode_body": body, "entities": entities, "facts": facts}


async def _result(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    result = await client.session.send_request(request, CallToolResult)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result


def _tokens(result: CallToolResult) -> tuple[float, float]:
    """Of the text, and of the structured content."""
    text = "".join(one.text for one in result.content if isinstance(one, TextContent))
    data = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) / _TOKEN, len(data.encode()) / _TOKEN


def _more(what: str, off: tuple[float, float], on: tuple[float, float]) -> Figure:
    text, data = (after - before for before, after in zip(off, on, strict=True))
    return Figure(
        f"{what}: tokens that hints add to text and structured content", f"{text:.0f} and {data:.0f}", f"{off[0]:.0f}"
    )
