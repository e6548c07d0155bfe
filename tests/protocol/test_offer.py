"""Which tools are offered: settings choose, an HTTP header may narrow."""

import pytest
from tests.protocol.support import World, error_of

from graphiti_pkm.errors import ConfigurationError, InvalidInput
from graphiti_pkm.server.tools.registry import CAPABILITIES, TOOLSETS, Toolset, narrowed, select
from graphiti_pkm.settings.loader import Settings

MEMORY = TOOLSETS[0]
READING = Toolset("reading", "For tests.", tuple(tool for tool in MEMORY.tools if not tool.writes)[:2])
WRITING = Toolset("writing", "For tests.", tuple(tool for tool in MEMORY.tools if tool.writes)[:1])
BOTH = (READING, WRITING)


def chosen(**settings: object) -> list[str]:
    return [tool.name for tool in select(Settings.model_validate({"toolsets": ("reading",), **settings}), BOTH)]


def test_toolsets_switch_their_tools_on() -> None:
    assert chosen() == ["search_nodes", "search_memory_facts"]
    assert chosen(toolsets=("reading", "writing")) == ["search_nodes", "search_memory_facts", "add_memory"]


def test_tools_picks_and_exclude_tools_drops() -> None:
    assert chosen(tools=("search_nodes",)) == ["search_nodes"]
    assert chosen(exclude_tools=("search_nodes",)) == ["search_memory_facts"]


def test_read_only_drops_what_writes() -> None:
    assert chosen(toolsets=("reading", "writing"), read_only=True) == ["search_nodes", "search_memory_facts"]


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ({"toolsets": ("reading", "graph")}, "reading, writing"),
        ({"tools": ("add_memory",)}, "search_nodes, search_memory_facts"),
        ({"exclude_tools": ("nothing",)}, "add_memory"),
        ({"tools": ("search_nodes",), "exclude_tools": ("search_nodes",)}, "leave no tool"),
    ],
)
def test_unknown_names_are_errors_with_the_known_ones(settings: dict[str, object], known: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        chosen(**settings)
    assert known in caught.value.message


def test_a_header_narrows_and_never_widens() -> None:
    on = select(Settings(toolsets=("reading",)), BOTH)
    assert [tool.name for tool in narrowed(on, "reading, writing", BOTH)] == ["search_nodes", "search_memory_facts"]
    assert narrowed(on, "writing", BOTH) == ()
    with pytest.raises(InvalidInput, match="Known: reading, writing"):
        narrowed(on, "everything", BOTH)


@pytest.mark.parametrize(
    ("toolsets", "named", "unnamed"),
    [
        (("memory",), {"search_nodes", "get_entity_connections"}, {"search_memories", "open_nodes"}),
        (("compat",), {"search_memories", "find_memories_by_name"}, {"search_nodes", "get_entity_timeline"}),
        (("reference",), {"search_nodes", "open_nodes"}, {"search_memories", "get_entity_connections"}),
    ],
)
async def test_read_graph_is_answered_with_what_replaces_it_here(
    toolsets: tuple[str, ...], named: set[str], unnamed: set[str]
) -> None:
    async with World(Settings(toolsets=toolsets)).connect() as client:
        said = error_of(await client.call_tool("read_graph", {}))
    assert "no read_graph" in said
    assert all(name in said for name in named)
    assert not any(name in said for name in unnamed)


def test_every_toolset_that_a_capability_has_tools_for_is_described() -> None:
    assert {toolset for capability in CAPABILITIES for toolset in capability.tools} == {one.name for one in TOOLSETS}
