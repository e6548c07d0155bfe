"""No answer fills a context window: every read tool over real data, at its defaults and at its limits.

``dense`` is the catalogue's F1, 600 entities with 6,000 facts. In ``endless`` names, facts and episodes are as long as
they may be, in characters that JSON writes twice; in ``parallel`` two entities share thousands of facts.
"""

import random
from array import array
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import pytest
import pytest_asyncio
from tests.builders import (
    DAY_ONE,
    GROUP,
    a_change,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
)
from tests.corpus import dense, fixed_uuid
from tests.integration.rows_support import World, a_world, in_one_task
from tests.protocol.support import answered, text, told

from graphiti_pkm.core.model.records import Vector, Vectors, WriteIntent
from graphiti_pkm.storage.commit import Committer

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

Group: TypeAlias = Literal["t1", "endless"]

TOKENS = {"defaults": 15_000, "maxima": 40_000}
CHARS = {"defaults": 24_000, "maxima": 80_000}
LISTS = ("facts", "nodes", "episodes", "entities", "changes")

LONG = 'He said: "so be it", and\nshe said: "no\\never". '
HUB = an_entity(
    f'The "endless" project {LONG * 3}', group_id="endless", summary=LONG * 200, attributes={"x": LONG * 99}
)
PARTS = [an_entity(f'Part {i:03d} of "endless" {LONG * 3}', group_id="endless", summary=LONG * 40) for i in range(300)]
LONG_FACTS = [
    a_fact(
        *((HUB, part) if number % 2 else (part, HUB)),
        "WORKS_WITH",
        text=f"Endless matter {number}: {LONG * 60}",
        quote=LONG * 60,
        value=LONG * 9,
        valid_at=DAY_ONE + timedelta(days=number),
        episodes=tuple(fixed_uuid(f"source {i}") for i in range(40)),
        attributes={f"{LONG} {i}": LONG * 9 for i in range(30)},
    )
    for number, part in enumerate(PARTS)
]
LONG_EPISODES = [
    an_episode(
        f'The "endless" project, day {day}. {LONG * 450}',
        group_id="endless",
        name=f"Day {day} {LONG * 9}",
        source_description=LONG * 20,
        valid_at=DAY_ONE + timedelta(days=day * 40),
    )
    for day in range(120)
]
HARBOUR, CRANE = (an_entity(name, group_id="parallel") for name in ("Harbour", "Crane"))
PARALLEL_FACTS = 3_000

DENSE_ENTITY = fixed_uuid("entity N000")
OF_THE_HUB = {"entity_uuid": HUB.uuid}

ASKED: dict[str, dict[Group, dict[str, Any]]] = {
    "search_nodes": {"t1": {"query": "northern station archive"}, "endless": {"query": "endless part"}},
    "search_memory_facts": {"t1": {"query": "N000 discovers"}, "endless": {"query": "endless matter"}},
    "search_episodes": {"t1": {"query": "N000"}, "endless": {"query": "endless project"}},
    "get_entity_connections": {"t1": {"entity_uuid": DENSE_ENTITY}, "endless": OF_THE_HUB},
    "get_entity_timeline": {"t1": {"entity_uuid": DENSE_ENTITY}, "endless": OF_THE_HUB},
    "get_episodes": {"t1": {}, "endless": {}},
    "get_episode_entities": {"endless": {"episode_uuids": [episode.uuid for episode in LONG_EPISODES[:100]]}},
    "get_entity_edge": {
        "t1": {"uuid": fixed_uuid("dense fact 0 1")},
        "endless": {"uuid": LONG_FACTS[0].uuid},
    },
    "get_status": {"t1": {}},
    "what_changed": {"t1": {"since": "2020", "group_ids": ["t1"]}, "endless": {"since": "2020", **OF_THE_HUB}},
}
MAXIMA: dict[str, dict[str, int]] = {
    "search_nodes": {"max_nodes": 50},
    "search_memory_facts": {"max_facts": 200},
    "search_episodes": {"max_episodes": 100},
    "get_entity_connections": {"max_connections": 200},
    "get_entity_timeline": {"max_episodes": 100, "max_content_chars": 20_000},
    "get_episodes": {"max_episodes": 100, "max_content_chars": 20_000},
    "get_episode_entities": {"max_entities": 200},
    "get_entity_edge": {},
    "get_status": {},
    "what_changed": {"limit": 100},
}
CASES = [(tool, group) for tool, groups in ASKED.items() for group in groups]
PAGED = [(tool, group) for tool, group in CASES if MAXIMA[tool]]


def endless() -> Iterator[WriteIntent]:
    entities = [HUB, *PARTS]
    aliases = [a_name(HUB, f"alias {i} {LONG * 4}") for i in range(30)]
    yield a_write(*entities, *map(a_name, entities), *aliases)
    for begin in range(0, len(LONG_FACTS), 100):
        yield a_write(*LONG_FACTS[begin : begin + 100])
    yield a_write(
        *(a_change(old, LONG_EPISODES[0], replaced_by=new.uuid, reason=LONG * 9) for old, new in pairwise(LONG_FACTS)),
        group_id="endless",
    )
    for number, episode in enumerate(LONG_EPISODES):
        mentions = [a_mention(episode, entity) for entity in (entities if number == 0 else [HUB])]
        yield a_write(episode, a_passage(episode, 0, 400), *mentions)


def parallel() -> Iterator[WriteIntent]:
    yield a_write(HARBOUR, CRANE, a_name(HARBOUR), a_name(CRANE))
    for begin in range(0, PARALLEL_FACTS, 500):
        yield a_write(
            *(
                a_fact(HARBOUR, CRANE, f"MOVES_{number % 7}", valid_at=DAY_ONE + timedelta(hours=number))
                for number in range(begin, begin + 500)
            )
        )


def any_vectors(write: WriteIntent, directions: list[Vector]) -> Vectors:
    """Of the right dimension; embedding the texts would take minutes and change no size."""
    uuids = (
        [one.uuid for one in write.entities] + [one.uuid for one in write.facts] + [one.uuid for one in write.passages]
    )
    return {uuid: directions[number % len(directions)] for number, uuid in enumerate(uuids)}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as world:
        draw = random.Random(1)  # noqa: S311 the same directions in every run
        dimension = world.memory.context.embedder.dimension
        directions = [array("f", [draw.gauss(0, 1) for _ in range(dimension)]) for _ in range(16)]
        committer = Committer(world.memory.context)
        for write in (*dense(), *endless(), *parallel()):
            await committer.commit(write, any_vectors(write, directions))
        yield world


def arguments(tool: str, group: Group, limits: str) -> dict[str, Any]:
    searched = {"group_ids": [group]} if tool.startswith("search_") or tool == "get_episodes" else {}
    return {**ASKED[tool][group], **searched, **(MAXIMA[tool] if limits == "maxima" else {})}


def items(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return next(answer[name] for name in LISTS if name in answer)


def uuid_of(item: dict[str, Any]) -> str:
    """Of a change: that of its fact."""
    return str(item["uuid"] if "uuid" in item else item["fact_uuid"])


def what(item: dict[str, Any]) -> tuple[str, str | None]:
    return uuid_of(item), item.get("change")


def tells(item: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a line of the text is of a record, or of the fact that this one replaced."""
    return any(uuid_of(whole).startswith(uuid) for uuid in (uuid_of(item), item.get("replaced_by")) if uuid)


def check_page(answer: dict[str, Any], shown: dict[str, Any]) -> None:
    """The text tells the whole page: nothing was cut after the cursor was made."""
    assert "omitted" not in shown
    assert answer["returned"] == len(items(answer))
    listed = items(shown) if answer["returned"] else []
    if "changes" in answer:  # by note, and what replaced a fact in the line of that fact
        lines = [line for note in listed for line in note["facts"]]
        listed = [next(line for line in lines if tells(line, one)) for one in items(answer)]
    assert shown["returned"] == answer["returned"] == len(listed)
    assert answer["truncated"] is (answer["next_cursor"] is not None)
    assert shown.get("next_cursor") == answer["next_cursor"]
    for item, whole in zip(listed, items(answer), strict=True):
        assert tells(item, whole)


@pytest.mark.parametrize("limits", ["defaults", "maxima"])
@pytest.mark.parametrize(("tool", "group"), CASES)
async def test_every_read_tool_stays_within_the_budget(world: World, tool: str, group: Group, limits: str) -> None:
    result = await world.client.call_tool(tool, arguments(tool, group, limits))
    answer = answered(result)
    assert len(text(result)) <= CHARS[limits]
    assert len(text(result)) / 4 <= TOKENS[limits]
    if "returned" in answer:
        check_page(answer, told(result))
        assert answer["returned"] > 0 or tool in {"search_episodes", "get_entity_timeline", "get_episodes"}


@pytest.mark.parametrize(("tool", "group"), PAGED)
async def test_what_a_bounded_page_leaves_out_comes_on_the_next_ones(world: World, tool: str, group: Group) -> None:
    asked = arguments(tool, group, "maxima")
    seen: list[tuple[str, str | None]] = []
    cursor: str | None = None
    while True:
        result = await world.client.call_tool(tool, {**asked, "cursor": cursor})
        answer = answered(result)
        assert len(text(result)) <= CHARS["maxima"]
        check_page(answer, told(result))
        seen += [what(item) for item in items(answer)]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert answer["total"] in (None, len(seen))  # none for a query


@pytest.mark.parametrize(("tool", "group"), PAGED)
async def test_pages_at_default_limits_follow_each_other(world: World, tool: str, group: Group) -> None:
    asked = arguments(tool, group, "defaults")
    first = await world.call(tool, **asked)
    if first["next_cursor"] is None:
        assert first["total"] in (None, first["returned"])
        return
    second = await world.client.call_tool(tool, {**asked, "cursor": first["next_cursor"]})
    assert len(text(second)) <= CHARS["defaults"]
    check_page(answered(second), told(second))
    both = [what(item) for page in (first, answered(second)) for item in items(page)]
    assert len(both) == len(set(both)) > first["returned"]


async def test_ordinary_answers_hold_as_many_items_as_the_catalogues_limits_promise(world: World) -> None:
    crane = {"entity_uuid": CRANE.uuid}
    for tool, asked, count in (
        ("search_nodes", {"query": "northern station archive", "group_ids": GROUP}, 10),
        ("search_memory_facts", {"query": "N000 discovers", "group_ids": GROUP}, 10),
        ("get_entity_connections", crane, 50),
        ("get_entity_connections", {**crane, "max_connections": 200}, 200),
    ):
        assert (await world.call(tool, **asked))["returned"] == count


@pytest.mark.parametrize("kind", ["entity", "episode"])
async def test_resources_stay_within_the_budget_of_the_largest_answers(world: World, kind: str) -> None:
    uuid = HUB.uuid if kind == "entity" else LONG_EPISODES[0].uuid
    read = (await world.client.read_resource(f"pkm://{kind}/{uuid}")).contents[0].model_dump()
    assert len(read["text"]) <= CHARS["maxima"]


async def test_thousands_of_parallel_facts_are_capped_newest_first_with_their_total(world: World) -> None:
    page = await world.call("get_entity_connections", entity_uuid=HARBOUR.uuid, max_connections=200)
    assert (page["total"], page["returned"], page["truncated"]) == (PARALLEL_FACTS, 200, True)
    starts = [fact["valid_at"] for fact in page["facts"]]
    assert starts == sorted(starts, reverse=True)
    assert starts[0] == (DAY_ONE + timedelta(hours=PARALLEL_FACTS - 1)).isoformat()
    assert [(one["uuid"], one["facts"]) for one in page["neighbours"]] == [(CRANE.uuid, PARALLEL_FACTS)]

    found = await world.call("search_nodes", names=["Harbour", "Crane"], group_ids="parallel")
    assert [len(node["facts"]) for node in found["nodes"]] == [3, 3]
    assert found["nodes"][0]["facts"] == found["nodes"][1]["facts"]

    ranked = await world.client.call_tool(
        "search_memory_facts", {"query": "harbour moves crane", "group_ids": "parallel", "max_facts": 200}
    )
    assert answered(ranked)["returned"] == 200
    assert len(text(ranked)) <= CHARS["maxima"]
