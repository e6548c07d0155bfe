"""The largest call of every tool holds the event loop for a moment at most, and ends.

CPU time is measured, never the time that passes: a busy machine changes nothing.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from tests.largest.arguments import KINDS, Json, Largest, Text
from tests.largest.meter import Meter, measured
from tests.largest.served import Served, serving
from tests.protocol.support import EVERYTHING, TOGETHER, WITH_MODEL, definitions, text

from graphiti_pkm.capabilities.sources.ingesting import Given, Ingested
from graphiti_pkm.capabilities.sources.tools import INGESTING
from graphiti_pkm.core.model.access import LOCAL

LONGEST_HOLD = 0.1
LONGEST_CALL = 20.0
NAME, RELATION, LABEL = 200, 150, 500
BODY = 120_000
SAID = 230_000
"""Characters of names and sentences; together they may be 250,000."""
LAST = (
    "delete_relations",
    "delete_observations",
    "delete_entities",
    "delete_entity_edge",
    "delete_episode",
    "forget",
    "clear_graph",
    "delete_graph",
)
"""They take out what others need."""
WHOLE = {"alike"}
"""The kinds of text with which every tool is called; the others share the tools out."""
STORM = {"blanks", "marks", "quotes"}
"""The kinds that run with the storm tests; the others run at every change."""
NO_MODEL = {"summarize_saga", "build_communities"}
"""They ask a model, and none is configured."""
MERGES = {"merge_entities", "unmerge_entities"}
"""They need two entities that are one, which these texts do not make."""


@dataclass
class Sweep:
    """Calls tools of one server and notes which of them took too long."""

    client: Client
    meter: Meter
    faults: list[str] = field(default_factory=list)
    called: set[str] = field(default_factory=set)

    async def call(self, tool: str, arguments: Json, what: str = "", *, refused: bool = False) -> Json:
        """The answer; ``refused``: it is an error that does not depend on the arguments."""
        self.meter.reset()
        result: CallToolResult = await self.client.call_tool(tool, arguments)
        held, seconds = self.meter.longest, self.meter.process_seconds
        assert result.is_error == refused, f"{tool} {what}: {text(result)[:500]}"
        self.called.add(tool)
        if held > LONGEST_HOLD:
            self.faults.append(f"{tool} {what} held the loop for {1000 * held:.0f} ms: {self.meter.held_by}")
        if seconds > LONGEST_CALL:
            self.faults.append(f"{tool} {what} took {seconds:.1f} s of CPU time")
        assert result.structured_content is not None
        return dict(result.structured_content)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(toolsets=EVERYTHING.toolsets, call_seconds=600) as served:
        yield served


async def connected(server: Served, stack: AsyncExitStack) -> Sweep:
    meter = stack.enter_context(measured(server.thread))
    web = await stack.enter_async_context(httpx2.AsyncClient(timeout=600))
    return Sweep(
        await stack.enter_async_context(Client(streamable_http_client(f"{server.url}/mcp", http_client=web))), meter
    )


def facts(words: Text, count: int, first: int = 0, **more: Any) -> list[Json]:
    """Facts with different relations; each of ``more`` is a value or makes one of the number."""
    return [
        {
            "source": words(number, NAME),
            "relation": words(first + number, RELATION),
            "target": words(number + 1, NAME),
            **{key: value(number) if callable(value) else value for key, value in more.items()},
        }
        for number in range(count)
    ]


async def write(sweep: Sweep, kind: str, group: str) -> Json:
    """The largest writes, which also fill the memory for what comes after; gives the answer with most facts."""
    words, body = KINDS[kind], KINDS[kind](0, 250) + " "
    add = {"group_id": group, "episode_body": (body * 60).strip()}
    long = {"group_id": group, "episode_body": (body * (BODY // len(body))).strip()}
    entities = [{"name": words(number, NAME)} for number in range(500)]
    named = [
        {"name": words(n, NAME), "aliases": [words(1_000 + 40 * n + k, NAME) for k in range(40)]} for n in range(28)
    ]
    await sweep.call("add_memory", {**add, "entities": entities}, f"{kind}, entities")
    await sweep.call("add_memory", {**add, "entities": named}, f"{kind}, aliases")
    answer = await sweep.call("add_memory", {**add, "facts": facts(words, SAID // 550)}, f"{kind}, facts")
    await sweep.call("create_project", {"name": "Project of all", "group_id": group}, f"{kind}, project")
    entry = {"content": body.strip(), "project_id": "Project of all", "group_id": group, "entities": entities[:20]}
    await sweep.call("create_entry", entry, f"{kind}, entry")
    quoted = facts(words, SAID // 800, 1_000, quote=lambda number: words(number % 3, 250))
    await sweep.call("add_memory", {**long, "facts": quoted}, f"{kind}, quotes")
    replacing = facts(words, SAID // 4_550, 2_000, replaces=lambda n: [words(n + k, NAME) for k in range(20)])
    await sweep.call("add_memory", {**add, "facts": replacing}, f"{kind}, replaces")
    readings = facts(words, SAID // 750, kind="reading", value="5", measure=lambda number: words(number, NAME))
    await sweep.call("add_memory", {**add, "facts": readings}, f"{kind}, readings")
    return answer


async def documented(server: Served, kind: str, group: str) -> None:
    """A document of one long section, whose second paragraph is as long as one of a file can be."""
    words = KINDS[kind]
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "guide.txt"
        long = " ".join(words(number % 3, 2_000) for number in range(400))
        path.write_text(f"{words(1, 100).strip()}\n\n{long}", encoding="utf-8")

        async def ingest() -> list[Ingested]:
            files = [Given(path, group)]
            return [one async for one in server.services[INGESTING].ingest(LOCAL, files, Path(root), group)]

        ingesting = asyncio.run_coroutine_threadsafe(ingest(), server.loop)
        (done,) = await asyncio.wrap_future(ingesting)
        assert done.outcome == "new", done.reason


async def scratch(sweep: Sweep, kind: str) -> None:
    words = KINDS[kind]
    nodes = [{"label": words(number, LABEL), "properties": {"text": words(number, 1_000)}} for number in range(500)]
    edges = [
        {"source": words(n, LABEL), "target": words((7 * n + 1) % 500, LABEL), "relation": words(n, 20)}
        for n in range(500)
    ]
    await sweep.call("add_nodes", {"graph": "large", "nodes": nodes}, kind)
    await sweep.call("add_edges", {"graph": "large", "edges": edges}, kind)
    await sweep.call("add_edges", {"graph": "other", "edges": edges, "create_missing": True}, kind)


async def chain(sweep: Sweep, kind: str) -> None:
    """A graph without cycles; of three digits each, as "b" and "ba" are one label once they are filled with "a"."""
    words = KINDS[kind]
    pairs = [(n, m) for n in range(100, 200) for m in range(n + 1, min(n + 6, 200))]
    edges = [{"source": words(n, LABEL), "target": words(m, LABEL), "relation": "r"} for n, m in pairs]
    await sweep.call("add_edges", {"graph": "chain", "edges": edges, "create_missing": True}, f"{kind}, chain")


def known(kind: str, group: str, answer: Json) -> Mapping[str, Any]:
    """What arguments have to be so that the call is not refused."""
    words = KINDS[kind]
    entities = [one["uuid"] for one in answer["entities"]]
    fact = answer["facts"][0]["uuid"]
    episode = answer["episode_uuid"]
    dates = ("valid_after", "invalid_after", "told_since")
    later = ("until", "valid_before", "invalid_before")
    return {
        "entity_uuid": entities[0],
        "source_uuid": entities[0],
        "target_uuid": entities[-1],
        "center_node_uuid": entities[0],
        "entity_uuids[]": lambda number: entities[number % len(entities)],
        "episode_uuids[]": episode,
        "fact_uuid": fact,
        "replaced_by": None,
        "source_node_uuid": None,
        "target_node_uuid": None,
        "since": "2020-01-01",
        **dict.fromkeys(dates, "2020-01-01"),
        **dict.fromkeys(later, "2040-01-01"),
        **dict.fromkeys(
            ("as_of", "known_at", "invalid_at", "reference_time", "cursor", "confirm", "receipt", "status")
        ),
        "group_id": group,
        "group_ids[]": lambda number: group if number % 100 == 0 else f"{group}-{number}",
        "names[]": lambda number: words(number, NAME)[:-1] + "z",
        "entity_types[]": lambda number: f"Type{number}",
        "edge_types[]": lambda number: words(number, RELATION),
        "relation": None,
        "weight": None,
        "type": None,
        "graph": "large",
        "other": "other",
        "label": lambda number: words(number, LABEL),
        "nodes[]": lambda number: words(number % 500, LABEL),
        "node": words(1, LABEL),
        "source": words(1, LABEL),
        "target": words(2, LABEL),
        "max_in_degree": None,
        "max_out_degree": None,
        "content_offset": 0,
        "saved": False,
        "name": "saved",
        "source_node_name": words(1, NAME),
        "target_node_name": words(2, NAME),
        "edge_name": words(1, RELATION),
        **dict.fromkeys(("entities", "relations", "observations", "deletions")),
        "reason": words(1, 500),
        **dict.fromkeys(("project", "project_id"), "Project of all"),
        **dict.fromkeys(("after",), "2020-01-01"),
        **dict.fromkeys(("before", "timestamp"), "2040-01-01"),
        "entity_name": entities[0],
        **dict.fromkeys(("pin[]", "unpin[]"), lambda number: entities[number % len(entities)]),
    }


def special(tool: str, kind: str, group: str, answer: Json) -> Json:
    """What single tools need besides."""
    words = KINDS[kind]
    facts_of, one = [one["uuid"] for one in answer["facts"]], answer["entities"][0]["uuid"]
    edges = [
        {"source": words(n, LABEL), "target": words((7 * n + 1) % 500, LABEL), "relation": words(n, 20)}
        for n in range(500)
    ]
    return {
        "import_graph": {"format": "csv", "content": _table(words), "nodes": _kinds(words), "graph": "imported"},
        "export_graph": {"format": "graphml", "max_chars": 200_000, "nodes": [words(n, LABEL) for n in range(40)]},
        "find_node": {"query": words(1, LABEL)},
        "find_edges": {"between": [[words(n, LABEL) for n in range(500)], [words(n, LABEL) for n in range(500)]]},
        "merge_nodes": {"graph": "other", "keep": words(1, LABEL), "remove": words(2, LABEL)},
        "rename_node": {"graph": "other", "label": words(3, LABEL), "new_label": words(601, LABEL)},
        "merge_entities": {"keep_uuid": one, "remove_uuid": one, "confirm": None},
        "unmerge_entities": {"remove_uuid": one},
        "split_entity": {"entity_uuid": one, "fact_uuids": facts_of[:1], "name": words(90_200, NAME)},
        "promote": {"source": "production", "target": "archive", "dry_run": False},
        "flag_similar_entities": {"threshold": 0.85, "entity_uuid": None, "explain": False},
        "add_evidence": {"quote": words(2, 2_000), "document": group, "paragraph": 2},
        "get_entity_sources": dict.fromkeys(("source_id", "end_paragraph")),
        "create_project": {"name": words(90_100, NAME)},
        "create_entry": {"entities": [{"name": words(n, NAME)} for n in range(500)], "facts": None},
        "get_entry_context": {"after": None, "before": None},
        "get_project_memories": {"relevance_threshold": 0.0},
        "search_entries_semantic": {"similarity_threshold": 0.0},
        "transitive_reduction": {"graph": "chain"},
        "commit_graph": {"graph": "other", "edges": edges[:200], "nodes": None},
        "add_edge": {"relation": "joins"},
        "delete_entity_edge": {"uuid": facts_of[1]},
        "get_entity_edge": {"uuid": facts_of[0]},
        "get_episodes": dict.fromkeys(("valid_after", "valid_before", "order")),
        "restore_fact": {"fact_uuid": facts_of[2]},
        "retire_fact": {"fact_uuid": facts_of[2]},
        "update_entity": {
            "name": words(90_000, NAME),
            "type": "Person",
            "add_aliases": [words(n, NAME) for n in range(90_001, 90_021)],
            "remove_aliases": None,
            "not_same_as": None,
            "unlink_episodes": None,
            "link_episodes": [answer["episode_uuid"]],
        },
        "delete_episode": {"uuid": answer["episode_uuid"]},
        "forget": {"entity_uuid": None, "fact_uuid": None, "episode_uuid": None, "query": words(1, 500)},
        "clear_graph": {"group_ids": [group]},
        **classic(words),
        "load_memory_graph": {"graph": "loaded", "group_ids": [group], "entity_types": None},
        "delete_graph": {"graph": "imported"},
        "open_graph": {"name": "saved", "graph": "opened"},
    }.get(tool, {})


def classic(words: Text) -> Json:
    """As many entities, relations and observations as a call of these tools takes."""
    names = [words(70_000 + number, NAME) for number in range(500)]
    told = [{"entityName": name, "observations": [words(n, 240)]} for n, name in enumerate(names)]
    relations = [
        {"source": name, "target": names[(7 * n + 1) % 500], "relationType": "knows"} for n, name in enumerate(names)
    ]
    entities = [{"name": name, "type": "Thing", "observations": [words(n, 30)]} for n, name in enumerate(names)]
    return {
        "create_entities": {"entities": entities},
        "create_relations": {"relations": relations},
        "add_observations": {"observations": told},
        "find_memories_by_name": {"names": names[:200]},
        "delete_relations": {"relations": relations[:100]},
        "delete_observations": {"deletions": told[:100]},
        "delete_entities": {"entityNames": names[-100:]},
    }


def _table(words: Text) -> str:
    """As much as a text of one megabyte holds."""
    rows = (f"{_cell(words(n, 150))},{_cell(words(3 * n % 2_500, 150))},r" for n in range(2_500))
    text = "source,target,relation\n" + "\n".join(rows)
    return text.encode()[:990_000].decode(errors="ignore").rpartition("\n")[0]


def _kinds(words: Text) -> str:
    """Some nodes of ``_table``; both tables together hold at most one megabyte."""
    return "label,type\n" + "\n".join(f"{_cell(words(n, 150))},kind" for n in range(50))


def _cell(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


async def forgotten(sweep: Sweep, kind: str, group: str, answer: Json) -> None:
    """What ``forget`` takes besides words: of a fact and an episode what would go, of an entity all of it."""
    place = len(answer["entities"]) // 2
    given = {"fact_uuid": answer["facts"][place]["uuid"], "episode_uuid": answer["episode_uuid"]}
    for name, uuid in given.items():
        await sweep.call("forget", {name: uuid, "group_id": group}, f"{kind}, {name}")
    whole = {"entity_uuid": answer["entities"][place]["uuid"], "group_id": group}
    preview = await sweep.call("forget", whole, f"{kind}, entity_uuid")
    await sweep.call("forget", {**whole, "confirm": preview["confirm"]}, f"{kind}, entity_uuid, confirmed")


AFTER = {
    "restore_fact": "retire_fact",
    "get_entity_sources": "add_evidence",
    "clear_flag": "flag_for_review",
    "open_graph": "save_graph",
    "delete_graph": "import_graph",
}
"""Tools that need what another one leaves."""


async def largest(sweep: Sweep, tool: str, kind: str, group: str, answer: Json) -> None:
    schema = next(one.input_schema for one in await definitions(WITH_MODEL) if one.name == tool)
    arguments = Largest(KINDS[kind], known(kind, group, answer)).of(schema) | special(tool, kind, group, answer)
    arguments = {name: value for name, value in arguments.items() if value is not None}
    if tool in {"create_relations", "add_observations", "find_memories_by_name", *LAST[:3]}:
        await largest(sweep, "create_entities", kind, group, answer)
    if tool in LAST[:2]:
        await largest(sweep, {LAST[0]: "create_relations", LAST[1]: "add_observations"}[tool], kind, group, answer)
    if tool in AFTER:
        await largest(sweep, AFTER[tool], kind, group, answer)
    if tool == "get_entity_sources":
        read = {"entity_uuid": arguments["entity_uuid"], "source_id": group, "max_chars": arguments["max_chars"]}
        await sweep.call(tool, read, f"{kind}, source_id")
    if tool == "transitive_reduction":
        await chain(sweep, kind)
    if tool == "delete_entity_edge":
        await forgotten(sweep, kind, group, answer)
    given = await sweep.call(tool, arguments, kind, refused=tool in {*NO_MODEL, *MERGES})
    if given.get("confirm"):
        await sweep.call(tool, {**arguments, "confirm": given["confirm"]}, f"{kind}, confirmed")


ORDER = sorted(TOGETHER - {"add_memory", "retire_fact", "save_graph", "import_graph", "add_nodes", "add_edges"})


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.storm) if kind in STORM else kind for kind in KINDS]
)
async def test_the_largest_calls_hold_the_loop_for_a_tenth_of_a_second_at_most_and_end(
    server: Served, kind: str
) -> None:
    """Each tool is called with one of the kinds of text, and those that compare names with all of them."""
    group, at = f"group-{kind}", list(KINDS).index(kind)
    tools = [
        *(tool for place, tool in enumerate(ORDER) if place % len(KINDS) == at or kind in WHOLE),
        "search_nodes",
        "search_memory_facts",
    ]
    async with AsyncExitStack() as stack:
        sweep = await connected(server, stack)
        await sweep.client.call_tool("get_status", {})  # what is imported with the first call is not what is measured
        answer = await write(sweep, kind, group)
        await documented(server, kind, group)
        await scratch(sweep, kind)
        for tool in sorted(dict.fromkeys(tools), key=lambda tool: LAST.index(tool) if tool in LAST else -1):
            await largest(sweep, tool, kind, group, answer)
        assert not sweep.faults, "\n".join(sweep.faults)


def test_every_tool_is_among_those_that_are_called() -> None:
    called = {"add_memory", "retire_fact", "save_graph", "import_graph", "add_nodes", "add_edges"}
    assert {*ORDER, *called} == TOGETHER


async def test_a_slow_tool_is_caught(server: Served) -> None:
    """The same measure sees a callback that computes on the loop for too long."""

    def compute() -> None:
        while meter.longest <= LONGEST_HOLD and meter_began() < 2 * LONGEST_HOLD:
            sum(range(1_000))

    import time  # noqa: PLC0415

    began: list[float] = []

    def meter_began() -> float:
        began[:] = began or [time.thread_time()]
        return time.thread_time() - began[0]

    with measured(server.thread) as meter:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        here = asyncio.get_running_loop()

        def planted() -> None:
            compute()
            here.call_soon_threadsafe(done.set_result, None)

        server.loop.call_soon_threadsafe(planted)
        await done
        await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(asyncio.sleep(0), server.loop).result())
        assert meter.longest > LONGEST_HOLD
        assert "planted" in meter.held_by
