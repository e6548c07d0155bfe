"""The page on curation tells the hints that the tools have."""

import re
from pathlib import Path

from graphiti_pkm.server.tools.registry import TOOLSETS, known_tools

PAGE = (Path(__file__).resolve().parents[3] / "DOCS/curation.md").read_text(encoding="utf-8")
OTHERS = frozenset(
    {
        *("create_concept", "search_concepts", "get_concept_details", "create_relationship"),
        *("merge_concepts", "flag_similar_concepts"),
    }
)
"""Names of the tools in the specification of hints that are others here."""


def rows_below(head: str) -> list[list[set[str]]]:
    """The names in each cell of a table."""
    (table,) = re.findall(rf"{re.escape(head)}\n\|[-|]+\n((?:\|.*\n)+)", PAGE)
    return [[set(re.findall(r"`(\w+)`", cell)) for cell in row.split("|")[1:3]] for row in table.splitlines()]


def test_the_names_of_the_specification_lead_to_tools_and_are_none_themselves() -> None:
    *tools, (_, reported) = rows_below("| there | here |")
    assert {name for there, _ in tools for name in there} == OTHERS
    assert {name for _, here in tools for name in here} <= known_tools()
    assert not OTHERS & known_tools()
    assert {"similar_existing", "known_as"} <= reported


def test_the_page_says_what_each_tool_wants_called_first() -> None:
    told = {name: first for first, tools in rows_below("| to call first, one of | before |") for name in tools}
    for tool in (tool for toolset in TOOLSETS if toolset.name != "reference" for tool in toolset.tools):
        wanted = set(tool.hints.prerequisites)
        is_shown = not wanted or tool.annotations.destructive_hint or wanted == told[tool.name]
        assert is_shown, tool.name
        assert (tool.name in told) >= bool(wanted), tool.name
