"""A part of a real journal in two scratch graphs, as of two dates: they differ by what changed between."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import Served, call, over_http, serving

EARLIER, LATER = "1661-12-31", "1663-12-31"

TOLD: dict[str, list[dict[str, Any]]] = {
    "1660-07-18": [
        {"relation": "LIVES_IN", "target": "Seething Lane", "quote": "my house in Seething Lane", "kind": "state"}
    ],
    "1660-08-10": [
        {
            "relation": "LIVES_IN",
            "target": "Axe Yard",
            "quote": "my house in Axe yard",
            "valid_at": "1660-01-01",
            "invalid_at": "1660-07-18",
        }
    ],
    "1660-09-24": [
        {"relation": "HAS_OFFICE", "target": "Justice of the Peace", "quote": "sworn justices of peace for Middlesex"}
    ],
    "1661-10-26": [
        {"source": "Lord Peterborough", "relation": "GOVERNS", "target": "Tangier", "quote": "go Governor of Tangier"}
    ],
    "1662-08-20": [
        {"relation": "SITS_ON", "target": "Tangier Commission", "quote": "put me into commission"},
        {
            "source": "Tangier Commission",
            "relation": "OVERSEES",
            "target": "Tangier",
            "quote": "in the business of Tangier",
        },
    ],
    "1663-07-22": [
        {
            "source": "Lord Teviot",
            "relation": "GOVERNS",
            "target": "Tangier",
            "quote": "my Lord Teviott",
        },
        {
            "source": "Lord Peterborough",
            "relation": "GOVERNS",
            "target": "Tangier",
            "invalid_at": "1663-05-01",
            "quote": "outworks of Tangier",
        },
    ],
}
"""What a model reads in these entries; ``me`` where no source is given."""

Edges = set[tuple[str, str, str]]


@pytest.fixture(scope="module")
def server(shared_dir: Path) -> Any:
    with serving(shared_dir, toolsets="memory,reasoning", person="Samuel Pepys") as served:
        asyncio.run(tell(served))
        yield served


async def tell(server: Served) -> None:
    lines = shared_data("journal", "journal-1660-1664.jsonl").read_text(encoding="utf-8").splitlines()
    entries = {entry["date"]: entry["text"] for entry in map(json.loads, lines)}
    async with over_http(server.endpoint) as client:
        for date, facts in TOLD.items():
            given = [{"source": "me", **fact} for fact in facts]
            assert all(fact["quote"] in entries[date] for fact in given)
            await call(client, "add_memory", episode_body=entries[date], reference_time=date, facts=given)


async def loaded(client: Client, name: str, as_of: str) -> Edges:
    told = await call(client, "load_memory_graph", graph=name, entity_uuids=["me"], hops=3, as_of=as_of)
    assert not told["truncated"]
    page = await call(client, "find_edges", graph=name, limit=500)
    return {(edge["source"], edge["relation"], edge["target"]) for edge in page["edges"]}


async def test_what_changed_between_two_dates_is_the_difference_of_two_graphs(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        earlier, later = await loaded(client, "1661", EARLIER), await loaded(client, "1663", LATER)
        path = await call(client, "shortest_path", graph="1663", source="Samuel Pepys", target="Tangier")
        none = await call(client, "find_node", graph="1661", query="Tangier Commission")
        compared = await call(client, "compare_graphs", graph="1661", other="1663")
    me = "Samuel Pepys"
    assert earlier == {(me, "LIVES_IN", "Seething Lane"), (me, "HAS_OFFICE", "Justice of the Peace")}
    assert later - earlier == {
        (me, "SITS_ON", "Tangier Commission"),
        ("Tangier Commission", "OVERSEES", "Tangier"),
        ("Lord Teviot", "GOVERNS", "Tangier"),
    }
    assert earlier <= later
    told = {(edge["source"], edge["relation"], edge["target"]) for edge in compared["edges_only_in_other"]}
    assert (told, compared["edges_only_in_graph"]) == ({(me, "SITS_ON", "Tangier Commission")}, [])
    assert (compared["edge_counts"]["in_both"], compared["edges_changed"]) == (2, [])
    assert [node["label"] for node in compared["nodes_only_in_other"]] == ["Tangier Commission"]
    # What hangs on the commission may have held before he sat on it: the earlier load did not come there.
    (rest,) = compared["cannot_know"]
    assert rest.startswith("2 nodes and 2 edges that only '1663' has are not listed")
    assert path["path"] == [me, "Tangier Commission", "Tangier"]
    assert "Tangier Commission" not in {each["label"] for each in none["matches"]}
