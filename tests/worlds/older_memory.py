"""What the memory in ``tests/data/memory_of_0_2.tar.gz`` was told, call by call; another version can be told the same.

How the file was made: ``python -m tests.worlds.older_memory data OLD/mcp_server``, where OLD is a work tree of the
commit that the test names: its server runs, over stdio. Then ``tar czf`` of what is left in ``data``, but for locks.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.embedding_service import EmbeddingService

Call = Callable[..., Awaitable[dict[str, Any]]]
"""A tool's name and its arguments; gives the structured answer."""

DIMENSION = 8
"""Small, because the file holds every vector twice."""


def embedding_of(service: EmbeddingService) -> dict[str, Any]:
    """Settings with which the memory was made, and under which it opens."""
    return {
        "embedding_mode": "api",
        "embedding_model": "of-the-tests",
        "embedding_dimension": DIMENSION,
        "embedding_base_url": service.url,
    }


def _note(at: str, body: str, *facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"reference_time": f"2025-{at}:00+00:00", "episode_body": body, "facts": list(facts), **more}


def _fact(source: str, relation: str, target: str | None = None, **more: Any) -> dict[str, Any]:
    return {"source": source, "relation": relation, **({"target": target} if target else {}), **more}


def _status(of: str, word: str) -> dict[str, Any]:
    return _fact(of, "HAS_STATUS", value=word)


def _reading(measure: str, value: str, *, source: str = "me", **more: Any) -> dict[str, Any]:
    return _fact(source, "MEASURED", kind="reading", measure=measure, value=value, **more)


NOTES = (
    _note(
        "02-03T19:30",
        "Marguerite Vane leads the observatory on Lantern Hill. Otto Lindqvist coaches me. The dome roof and the "
        "guide book are paused, the star catalogue is in progress. Slept 5 and a half hours.",
        _fact("Marguerite Vane", "LEADS", "Lantern Hill Observatory"),
        _fact("me", "HAS_COACH", "Otto Lindqvist", valid_at="2024-11"),
        _status("Dome roof", "paused"),
        _status("Guide book", "paused"),
        _status("Star catalogue", "in progress"),
        _reading("sleep", "5 and a half hours"),
        entities=[
            {"name": "Marguerite Vane", "type": "Person", "aliases": ["Maggie"]},
            {"name": "Otto Lindqvist", "type": "Person", "summary": "The user's coach."},
            {"name": "Dome roof", "type": "Project"},
            {"name": "Star catalogue", "type": "Project"},
        ],
    ),
    _note(
        "02-10T19:30",
        "Jonas Pell grinds mirrors, my brother Jonas roofs. The telescope loan was accepted, the dome motor is on "
        "hold. Hours of sleep: 6.5. Mood 6/10.",
        _fact("Jonas Pell", "GRINDS", "Quartz mirror"),
        _fact("Jonas Ruud", "WORKS_ON", "Dome roof"),
        _status("Telescope loan", "accepted"),
        _status("Dome motor", "on hold"),
        _reading("hours of sleep", "6.5", unit="hours"),
        _reading("mood", "6/10"),
        entities=[
            {"name": "Jonas Pell", "type": "Person"},
            {"name": "Jonas Ruud", "type": "Person", "aliases": ["my brother Jonas"]},
        ],
    ),
    _note(
        "02-17T19:30",
        "Maggie counted 1.25 million entries in the northern part of the star catalogue. Slept 7 hours on the cot.",
        _reading("entries", "1.25 million", source="Star catalogue", target="Northern sky"),
        _reading("sleep", "7", unit="hours", target="The cot"),
    ),
    _note(
        "03-03T19:30",
        "Visited Brindle Works, who supply the observatory since January. Jonas Pell met Maggie on 1 March. "
        "Decision 1, a slate roof, is accepted. The old mount is done. Slept badly, mood 4/10.",
        _fact("me", "VISITED", "Brindle Works", kind="event"),
        _fact("Jonas Pell", "MET", "Marguerite Vane", kind="event", valid_at="2025-03-01"),
        _fact("Brindle Works", "SUPPLIES", "Lantern Hill Observatory", valid_at="2025-01"),
        _status("Decision 1", "accepted"),
        _status("Old mount", "done"),
        _reading("sleep", "badly"),
        _reading("mood", "4/10"),
        entities=[{"name": "Decision 1", "type": "Decision", "summary": "A slate roof."}],
    ),
    _note(
        "03-10T19:30",
        "I want to visit Sable Point in April, to buy a spectrograph and to hire Wick & Sons. The opening is due on "
        "1 June.",
        _fact("me", "VISITED", "Sable Point", kind="plan", valid_at="2025-04"),
        _fact("me", "BUYS", "Spectrograph", kind="plan"),
        _fact("me", "HIRES", "Wick & Sons", kind="plan"),
        _fact("Lantern Hill Observatory", "HAS_DEADLINE", value="2025-06-01"),
    ),
    _note(
        "04-14T19:30",
        "Was at Sable Point on Saturday. Instead of Wick & Sons we will hire Tarn Brothers. Slept 8 hours.",
        _fact("me", "VISITED", "Sable Point", kind="event", valid_at="2025-04-12", replaces=["Sable Point"]),
        _fact("me", "HIRES", "Tarn Brothers", kind="plan", replaces=["Wick & Sons"]),
        _reading("sleep", "8", unit="h"),
    ),
    _note(
        "05-05T19:30",
        "Decision 2, a copper roof, is accepted and supersedes Decision 1. The dome motor is in progress again.",
        _status("Decision 2", "accepted"),
        _fact("Decision 2", "SUPERSEDES", "Decision 1"),
        _status("Dome motor", "in progress"),
        entities=[{"name": "Decision 2", "type": "Decision", "summary": "A copper roof."}],
    ),
    _note(
        "05-12T19:30",
        "I noted it wrongly: the opening was never due on 1 June but on 15 June. Petra Holm coaches me from now on.",
        _fact("Lantern Hill Observatory", "HAS_DEADLINE", value="2025-06-15", replaces=["current"], change="corrected"),
        _fact("me", "HAS_COACH", "Petra Holm", replaces=["Otto Lindqvist"]),
        entities=[{"name": "Petra Holm", "type": "Person"}],
    ),
    _note(
        "06-02T19:30",
        "The dome roof is postponed until autumn. The star catalogue goes live. Mood 8/10.",
        _status("Dome roof", "postponed"),
        _status("Star catalogue", "live"),
        _reading("mood", "8/10"),
    ),
    _note("06-09T19:30", "My brother Jonas came to see Maggie."),
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("add_memory", note) for note in NOTES),
    ("retire_fact", {"fact": "Spectrograph", "reason": "Too expensive."}),
    ("retire_fact", {"fact": "Quartz mirror", "reason": "A misunderstanding."}),
    ("restore_fact", {"fact": "Quartz mirror", "reason": "It was right."}),
)
"""In their order; ``fact`` names the target of the one that is meant."""


async def tell(call: Call) -> None:
    """All of it, in order."""
    for tool, arguments in CALLS:
        if "fact" not in arguments:
            await call(tool, **arguments)
            continue
        found = await call("search_memory_facts", query=arguments["fact"], max_facts=50)
        (uuid,) = [one["uuid"] for one in found["facts"] if one["target_node_name"] == arguments["fact"]]
        await call(tool, fact_uuid=uuid, reason=arguments["reason"])


async def _told(data_dir: Path, package: Path, service: EmbeddingService) -> None:
    settings = {"data_dir": data_dir, **embedding_of(service)}
    named = {f"GRAPHITI_PKM_{name.upper()}": str(value) for name, value in settings.items()}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "graphiti_pkm.cli.main", "serve"],
        env={**os.environ, **named, "PYTHONPATH": str(package)},
        cwd=tempfile.gettempdir(),
    )
    async with Client(stdio_client(parameters)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            assert result.structured_content is not None
            return result.structured_content

        await tell(call)


if __name__ == "__main__":
    with closing(EmbeddingService(DIMENSION)) as service:
        asyncio.run(_told(*(Path(one).absolute() for one in sys.argv[1:3]), service))
