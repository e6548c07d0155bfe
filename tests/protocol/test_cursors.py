"""Cursors through the tools: what the server did not sign is refused, clearly, whatever it looks like."""

import base64
import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from mcp.client import Client
from tests.builders import (
    a_change,
    a_document,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_project,
    a_quality,
    a_write,
    an_entity,
    an_entry,
    an_episode,
    an_instance,
    at,
)
from tests.protocol.support import EVERYTHING, World, answered, definitions

from graphiti_pkm.core.reading.paging import encode_cursor
from graphiti_pkm.core.signing import Signer

ROWS = 4
REFUSED = "This cursor is damaged or belongs to a call with other arguments."


async def calls_in(world: World) -> dict[str, dict[str, Any]]:
    """A call of each tool that answers in pages, of which there is more than one."""
    group = "default"
    anna = an_entity("Anna", group_id=group)
    others = [an_entity(f"Heron {i}", group_id=group) for i in range(ROWS)]
    notes = [an_episode(f"Anna met Heron {i}.", group_id=group, valid_at=at(2025, 1, i + 1)) for i in range(ROWS)]
    works = [an_entity(f"Work {i}", group_id=group, label="Project") for i in range(ROWS)]
    facts = [a_fact(anna, one, "MET", episodes=tuple(note.uuid for note in notes), valid_at=at(2025)) for one in others]
    parts = list(map(a_passage, notes))
    document, sections = a_document(*notes)
    (vector,) = await world.embedder.embed([works[0].name])
    await world.graph.writer.apply(
        a_write(
            *(anna, *others, *notes, *facts, a_name(anna), *map(a_name, others)),
            *(a_mention(note, one) for note in notes for one in (anna, *others)),
            *parts,
            *(a_change(fact, notes[0]) for fact in facts),
            *(*works, *map(a_project, works), *map(a_name, works)),
            *(an_entry(note, a_project(works[0])) for note in notes),
            *(a_quality(one, flag_reason="Odd.", flagged_at=at(2025)) for one in others),
            *(document, *sections),
            *(an_instance(anna, document, part) for part in parts),
        ),
        {one.uuid: vector for one in works},
    )
    return {
        "search_nodes": {"query": "heron", "max_nodes": 1},
        "search_memory_facts": {"query": "heron", "max_facts": 1},
        "search_episodes": {"query": "heron", "max_episodes": 1},
        "get_entity_connections": {"entity_uuid": anna.uuid, "max_connections": 1},
        "get_entity_timeline": {"entity_uuid": anna.uuid, "max_episodes": 1},
        "get_episodes": {"max_episodes": 1},
        "get_episode_entities": {"episode_uuids": [notes[0].uuid], "max_entities": 1},
        "get_fact_sources": {"fact_uuid": facts[0].uuid, "limit": 1},
        "what_changed": {"since": "2020", "limit": 1},
        "list_projects": {"limit": 1},
        "get_entry_context": {"entity_name": "Anna", "limit": 1},
        "get_project_memories": {"project_id": "Work 0", "relevance_threshold": 0, "limit": 1},
        "list_flagged": {"limit": 1},
        "flag_similar_entities": {"limit": 1, "threshold": 0.1},
        "get_entity_sources": {"entity_uuid": anna.uuid, "limit": 1},
        "list_nodes": {"limit": 1},
        "find_edges": {"limit": 1},
        "get_neighbors": {"node": "hub", "limit": 1},
    }


async def first_pages(client: Client, calls: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The cursor of each call."""
    edges = [{"source": "hub", "target": f"spoke {i}", "relation": "HAS"} for i in range(ROWS)]
    answered(await client.call_tool("add_edges", {"edges": edges, "create_missing": True}))
    return {tool: answered(await client.call_tool(tool, calls[tool]))["next_cursor"] for tool in calls}


def mutations(cursor: str, draw: random.Random) -> Iterator[str]:
    """Near misses: a character changed, lost, added or swapped, bits of the bytes flipped, cut, doubled, padded."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place in range(len(cursor)):
        other = draw.choice([letter for letter in letters if letter != cursor[place]])
        yield cursor[:place] + other + cursor[place + 1 :]
    for letter in letters:  # of the last character some bits stand for nothing
        if letter != cursor[-1]:
            yield cursor[:-1] + letter
    packed = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    for bit in draw.sample(range(len(packed) * 8), 60):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        yield base64.urlsafe_b64encode(flipped).decode().rstrip("=")
    for length in (0, 1, 5, 6, 8, 9, 10, 11, 12, len(cursor) // 2, len(cursor) - 1):
        yield cursor[:length] or "-"
    yield from (cursor * 2, f"{cursor}A", f"{cursor}==", f"A{cursor}", cursor[::-1], cursor.swapcase(), f"{cursor}\n.")
    # What is invisible, or says null, counts as left out: see test_left_out.
    yield from ("ü", "[]", "{}", "0", "A" * 1_900, cursor + "A" * 1_700)


def forgeries() -> Iterator[str]:
    """What a cursor of an earlier version was, which anybody could make: a digest without a key before the key."""
    for body in (b"[]", b"{}", b"null", b'["2026-01-01T00:00:00+00:00"]', b'["2026-01-01T00:00:00+00:00",[],{}]', b"1"):
        for filters in (b"{}", b""):
            for size in (6, 8):
                digest = hashlib.blake2s(body + b"\0" + filters, digest_size=size).digest()
                yield base64.urlsafe_b64encode(digest + body).decode().rstrip("=")
    for key in (b"", bytes(32), b"graphiti-pkm"):
        for after in ((), ("",), ("x",), (1, "x"), ("2026-01-01T00:00:00+00:00", str(UUID(int=1)))):
            yield encode_cursor(Signer(key), after, {"tool": "get_episodes"}, at(2026))


@pytest.mark.timeout(120)
async def test_nothing_but_the_servers_own_cursor_of_the_same_call_goes_on() -> None:
    world, draw = World(EVERYTHING), random.Random(15)  # noqa: S311 (not for secrets)
    calls = await calls_in(world)
    paged = {tool.name for tool in await definitions(EVERYTHING) if "cursor" in tool.input_schema["properties"]}
    assert paged == calls.keys(), "a tool that answers in pages is tried here"
    async with world.connect() as client:
        cursors = await first_pages(client, calls)
        for tool, arguments in calls.items():
            others = [cursor for other, cursor in cursors.items() if other != tool]
            for wrong in (*others, *mutations(cursors[tool], draw), *forgeries()):
                result = await client.call_tool(tool, {**arguments, "cursor": wrong})
                assert result.is_error, (tool, wrong, cursors[tool])
                assert result.structured_content is not None
                assert REFUSED in result.structured_content["error"], (tool, wrong, result.structured_content)
            answered(await client.call_tool(tool, {**arguments, "cursor": f" {cursors[tool]} "}))


async def test_other_filters_end_a_cursor() -> None:
    world = World(EVERYTHING)
    calls = await calls_in(world)
    changed: dict[str, dict[str, Any]] = {
        "search_nodes": {"query": "herons"},
        "search_memory_facts": {"kind": "state"},
        "search_episodes": {"valid_after": "2020"},
        "get_entity_connections": {"direction": "out"},
        "get_entity_timeline": {"order": "oldest_first"},
        "get_episodes": {"group_ids": ["work"]},
        "get_fact_sources": {"mode": "paragraph"},
        "what_changed": {"since": "2021"},
        "list_projects": {"status": "active"},
        "get_entry_context": {"project_id": "Work 0"},
        "get_project_memories": {"include_cross_project": False},
        "list_flagged": {"group_ids": ["work"]},
        "flag_similar_entities": {"threshold": 0.2},
        "get_entity_sources": {"mode": "quote"},
        "list_nodes": {"max_out_degree": 9},
        "find_edges": {"relation": "HAS"},
        "get_neighbors": {"direction": "out"},
    }
    async with world.connect() as client:
        cursors = await first_pages(client, calls)
        for tool, other in changed.items():
            result = await client.call_tool(tool, {**calls[tool], **other, "cursor": cursors[tool]})
            assert result.is_error, tool
            assert json.dumps(result.structured_content).count(REFUSED) == 1, (tool, result.structured_content)
