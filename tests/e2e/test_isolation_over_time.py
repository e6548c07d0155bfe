"""What others write changes no answer: not a total, not a page, not what a note is told to look like."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.isolation_attacks import arguments_of, exact
from tests.e2e.isolation_target import Target, attacked
from tests.e2e.isolation_world import COMMON, VERAS
from tests.e2e.support import call

NOTES: list[dict[str, Any]] = [
    {
        "episode_body": "Tom Sandvik runs the Heron project. My mood was 6.",
        "reference_time": "2026-02-01T10:00:00Z",
        "saga": "Moonbase",
        "facts": [
            {"source": "Tom Sandvik", "relation": "LEADS", "target": "Heron project", "fact": "Tom runs Heron."},
            {"source": "me", "relation": "FELT", "kind": "reading", "measure": "mood", "value": "6"},
        ],
    },
    {
        "episode_body": "Tom Sandvick heads the Herron project. My moods were 7.",
        "reference_time": "2026-02-02T10:00:00Z",
        "facts": [
            {"source": "Tom Sandvick", "relation": "LEAD", "target": "Herron project", "fact": "Tom heads it."},
            {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "moods", "value": "7"},
            {
                "source": "Tom Sandvik",
                "relation": "LEADS",
                "target": "Osprey",
                "fact": "Now Osprey.",
                "replaces": "current",
            },
        ],
    },
]
"""Full of what is compared with what is known: spellings, relations, measures, what a fact replaces."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{8}\b")
_RECORDED = re.compile(r"(?<=_at)[\\\": ]+20[0-9T:.Z+-]+")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("time") / "data") as found:
        yield found


async def told(client: Client, name: str, group: str | None = None) -> list[str]:
    """What the notes are answered, without uuids, times and the name of the one who tells them."""
    given = {"group_id": group} if group else {}
    answers = [await client.call_tool("add_memory", {**note, **given, "wait_seconds": 40}) for note in NOTES]
    assert not [one for one in answers if one.is_error]
    return [_RECORDED.sub("TIME", _UUID.sub("UUID", exact(one, [name]))) for one in answers]


async def noise(target: Target) -> None:
    """All that others could do: the same words and names, in groups of the same names."""
    for name in ("vera", "local"):
        async with target.as_(name) as client:
            for group in (VERAS, COMMON, None):
                await told(client, name, group)
            found = await call(client, "search_memory_facts", query="Heron", group_ids=COMMON)
            await call(client, "retire_fact", fact_uuid=found["facts"][0]["uuid"], reason="noise")
            await call(client, "delete_entity_edge", uuid=found["facts"][-1]["uuid"])


async def test_what_is_read_stays_the_same_while_others_write(target: Target) -> None:
    async with target.as_("eve") as client:
        await told(client, "eve", COMMON)
        tools = [one for one in (await client.list_tools()).tools if one.annotations.read_only_hint]
        own = target.story.own["eve"]
        await call(client, "add_node", graph="another", label="Tom")
        calls = [(one.name, arguments_of(one.name, own)) for one in tools if one.name != "compare_graphs"]
        # With one of one's own, where attacks name another's; first, as list_graphs tells which was used last.
        calls.insert(0, ("compare_graphs", {"other": "another"}))
        for name, arguments in list(calls):
            cursor = (await call(client, name, **arguments)).get("next_cursor")
            calls += [(name, {**arguments, "cursor": cursor})] if cursor else []
        assert len(calls) > len(tools) + 3
        before = [exact(await client.call_tool(name, arguments), []) for name, arguments in calls]
        await noise(target)
        after = [exact(await client.call_tool(name, arguments), []) for name, arguments in calls]
        for (name, _), then, now in zip(calls, before, after, strict=True):
            assert then == now, name


async def test_what_a_note_is_told_to_look_like_is_of_ones_own_notes_alone(target: Target) -> None:
    async with target.as_("carl") as client:
        before = await told(client, "carl")
    await noise(target)
    async with target.as_("dora") as client:
        assert await told(client, "dora") == before
    assert any("similar" in one for one in before)
