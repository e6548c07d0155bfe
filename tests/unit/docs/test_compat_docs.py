"""What README, changelog and the page about other servers say of their tools, compared with the tools."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.outside.__main__ import LEFT_OUT_NEO4J, LEFT_OUT_REFERENCE

from graphiti_pkm.capabilities.compat.requests import FindMemoriesByName, SearchMemories

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = re.search(r"\n## Tools of other memory servers\n(.*?)\n## ", README, re.DOTALL)
PAGE = (ROOT / "DOCS/compat.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
QUERIES: dict[str, type[Any]] = {"search_memories": SearchMemories, "find_memories_by_name": FindMemoriesByName}


def section() -> str:
    assert SECTION is not None
    return SECTION[1]


def limits(name: str) -> tuple[int, int, int]:
    schema = QUERIES[name].model_json_schema()["properties"]["limit"]
    return schema["default"], schema["minimum"], schema["maximum"]


@pytest.mark.parametrize("name", QUERIES)
def test_the_readme_has_each_query_with_its_limits_and_what_it_returns(name: str) -> None:
    default, _, most = limits(name)
    (row,) = re.findall(rf"\n\| `{name}` \|(.*)", section())
    assert f"`limit` (integer, default {default}, maximum {most})" in row
    assert "the relations between them" in row
    assert ("scores" in row) == (name == "search_memories")


def test_the_readme_names_read_graph_only_to_say_what_replaces_it() -> None:
    named = [line for line in README.splitlines() if "read_graph" in line]
    assert len(named) == 1
    assert "There is no `read_graph`" in named[0]
    assert re.search(r"find_memories_by_name`.*`limit`", section())


def test_the_readme_says_when_to_use_which_query_and_that_both_are_bounded() -> None:
    usage = section().partition("**Usage.**")[2]
    assert "Both queries are bounded" in usage
    assert "`search_memories` to discover" in usage.replace("\n", " ")
    assert "`find_memories_by_name` for entities whose names you know" in usage.replace("\n", " ")


def test_the_readme_says_what_the_bounds_are_for() -> None:
    architecture = section().partition("**Architecture.**")[2].partition("**Components.**")[0].replace("\n", " ")
    for word in ("NEXT_DAY", "EVOLVED_FROM", "DISCOVERS", "hundreds of entities", "context", "mcp-neo4j-memory"):
        assert word in architecture
    (first, _, most), (second, _, other) = map(limits, QUERIES)
    assert f"`search_memories` returns {first} entities by default and at most {most}" in architecture
    assert f"`find_memories_by_name` {second} by default and at most {other}" in architecture
    assert "relations are limited to the returned entities" in architecture


def test_the_changelog_has_the_removal_its_reason_and_the_way_to_migrate() -> None:
    removed = CHANGELOG.partition("### Removed")[2].partition("### ")[0].replace("\n ", "")
    for word in ("`read_graph`", "without a limit", "`search_memories`", "`find_memories_by_name`", "both bounded"):
        assert word in removed
    assert "`find_memories_by_name`\n  has a `limit`" in CHANGELOG


def test_the_page_has_the_limits_and_the_steps_of_the_inspector() -> None:
    for name in QUERIES:
        default, least, most = limits(name)
        assert re.search(rf"\| `{name}` \|.*`limit` {default} \({least} to {most}\)", PAGE)
    assert "npx @modelcontextprotocol/inspector graphiti-pkm serve --toolsets compat" in PAGE


def test_the_page_lists_each_test_of_the_other_servers_that_is_left_out() -> None:
    listed = PAGE.partition("Left out, besides")[2].partition("\nA session")[0]
    for name in (*LEFT_OUT_NEO4J, *LEFT_OUT_REFERENCE):
        assert f"`{name}`" in listed
    assert len(re.findall(r"`(?:test_|should )[^`]*`", listed)) == len(LEFT_OUT_NEO4J) + len(LEFT_OUT_REFERENCE)
