"""No answer is larger than what clients take: the SDK's gives up on an event of more than 1 MiB."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, Mode, World, error_of, text

from graphiti_pkm.settings.loader import Settings

LARGEST_EVENT = 1024 * 1024
WIDE = "\N{GRINNING FACE}" * 1_900
FACTS, EACH = 240, 20


def settings(directory: Path) -> Settings:
    return EVERYTHING.model_copy(update={"transport": "http", "data_dir": directory, "call_seconds": 600})


def size(result: CallToolResult) -> int:
    return len(result.model_dump_json(by_alias=True).encode())


def skills(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {"source": "Ada", "relation": "HAS_SKILL", "target": f"Skill {n}", "fact": f"Ada has Skill {n} {WIDE}"}
        for n in range(first, first + count)
    ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_largest_write_is_answered_with_what_was_left_out_of_the_answer(mode: Mode, tmp_path: Path) -> None:
    world = World(settings(tmp_path), writes_really=True)
    async with served(world.settings, world.start) as url, connected(f"{url}/mcp", mode) as client:
        for first in range(0, FACTS, 80):
            told = await client.call_tool("add_memory", {"episode_body": "Skills.", "facts": skills(first, 80)})
            assert not told.is_error, text(told)
        replacing = [
            {
                "source": "Ada",
                "relation": "HAS_SKILL",
                "target": f"Other {first}",
                "replaces": [f"Skill {n}" for n in range(first, first + EACH)],
            }
            for first in range(0, FACTS, EACH)
        ]
        result = await client.call_tool("add_memory", {"episode_body": "All new.", "facts": replacing})
        assert not result.is_error, text(result)
        answer = result.structured_content
        assert answer is not None
        assert f"old facts: {FACTS} retired" in answer["message"]
        assert answer["omitted"]["retired"] == FACTS - len(answer["retired"]) > 0
        assert len(answer["facts"]) == len(replacing)
        in_text = json.loads(text(result))
        assert in_text["omitted"]["retired"] == FACTS - len(in_text["retired"])
        assert LARGEST_EVENT / 2 < size(result) < LARGEST_EVENT
        assert not (await client.call_tool("get_status", {})).is_error


@pytest.mark.parametrize("filler", ["\N{GRINNING FACE}", '"', "\\", "\x01"])
async def test_a_whole_text_that_no_client_takes_is_refused_with_what_to_ask_instead(
    filler: str, tmp_path: Path
) -> None:
    world = World(settings(tmp_path))
    nodes = [{"label": f"N{n}", "properties": {"text": filler * 950}} for n in range(150)]
    async with served(world.settings, world.start) as url, connected(f"{url}/mcp", "auto") as client:
        assert not (await client.call_tool("add_nodes", {"nodes": nodes})).is_error
        for form in ("json", "graphml", "dot"):
            result = await client.call_tool("export_graph", {"format": form, "max_chars": 200_000})
            assert size(result) < LARGEST_EVENT
            if result.is_error:
                assert "nodes" in error_of(result)
            one = await client.call_tool("export_graph", {"format": form, "nodes": ["N1"]})
            assert not one.is_error, text(one)
