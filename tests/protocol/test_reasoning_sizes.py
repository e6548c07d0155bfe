"""Every tool that reads a scratch graph answers about a large one in few tokens."""

import json
from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import call
from tests.protocol.support import EVERYTHING, World, text

from graphiti_pkm.server.tools.registry import TOOLSETS

READING = sorted(
    tool.name
    for toolset in TOOLSETS
    if toolset.name == "reasoning"
    for tool in toolset.tools
    if not tool.writes or tool.name == "transitive_reduction"  # which only reads unless it is told otherwise
)
MOST_BYTES = 15_000 * 4
"""15,000 tokens, by bytes / 4."""
NODES = 5_000
LABELS = [f"part {number} of the grün system" for number in range(NODES)]
HUB, FIRST, LAST = LABELS[0], LABELS[1_500], LABELS[3_499]
ENDS = {"source": FIRST, "target": LAST}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "compare_graphs": {"other": "other"},
    "find_node": {"query": "part 77 of the system"},
    "get_neighbors": {"node": HUB},
    "subgraph": {"nodes": LABELS[:500]},
    "shortest_path": ENDS,
    "all_paths": ENDS,
    "common_causes": {"target": ENDS["target"]},
    "impact_of_removal": {"node": HUB},
    "transitive_reduction": {"relation": "leads to"},
    "export_graph": {"format": "json"},
}
"""What a tool cannot do without."""
TOO_LONG_AS_A_WHOLE = {"export_graph"}


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


def edges() -> list[dict[str, Any]]:
    """A hub with 1,499 nodes in a row, a chain of 2,000, and 500 cycles in a row."""
    row = [(node, node + 1) for node in range(1, 3_499)]
    hub = [(0, node) for node in range(1, 1_501)]
    cycles = [
        ends
        for node in range(3_500, 4_997, 3)
        for ends in ((node, node + 1), (node + 1, node + 2), (node + 2, node), (node, node + 3))
    ]
    relations = {"leads to": [*hub, *row], "needs": [(3_499, 3_500), *cycles]}
    properties = {"at": 1}
    return [
        {"source": LABELS[source], "target": LABELS[target], "relation": relation, "properties": properties}
        for relation, pairs in relations.items()
        for source, target in pairs
    ]


async def test_default_answers_of_all_reading_tools_about_5000_nodes_are_small(client: Client) -> None:
    nodes = [{"label": label, "type": f"kind {at % 150}", "properties": {"at": at}} for at, label in enumerate(LABELS)]
    others = [{"label": f"other {label}"} for label in LABELS]
    parts = (("default", {"nodes": nodes}), ("default", {"edges": edges()}), ("other", {"nodes": others}))
    for graph, part in parts:
        made = await call(
            client, "import_graph", format="json", content=json.dumps(part, ensure_ascii=False), graph=graph
        )
        assert made["node_count"] == NODES
    for tool in READING:
        result = await client.call_tool(tool, ARGUMENTS.get(tool, {}))
        assert bool(result.is_error) is (tool in TOO_LONG_AS_A_WHOLE), (tool, text(result)[:500])
        structured = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
        sizes = {"text": len(text(result).encode()), "structured": len(structured.encode())}
        assert max(sizes.values()) < MOST_BYTES, (tool, sizes)
        assert "omitted" not in text(result), tool
