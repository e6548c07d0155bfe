"""A real journal of five years goes in through MCP; names made afterwards find every entry that has them."""

import asyncio
import json
import re
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from mcp.client import Client
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import call, over_stdio

pytestmark = pytest.mark.timeout(600)

IN_FLIGHT = 12
LINKING_SECONDS = 120
AFTER_THE_JOURNAL = "1665"

NAMES: dict[str, list[str]] = {
    "Will": [],
    "May": ["May-day"],
    "Lord Sandwich": ["Sandwich"],
    "Mr. Coventry": ["Coventry"],
    "King": [],
    "Sir W. Pen": ["Sir William Pen", "Sir W. Penn"],
    "Whitehall": ["White Hall"],
    "Westminster": [],
    "Westminster Hall": [],
    "St. Paul's": ["Paul's"],
}


@pytest.fixture(scope="module")
def entries() -> list[dict[str, str]]:
    lines = shared_data("journal", "journal-1660-1664.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def journal(entries: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that was told the journal, and then the names."""
    data_dir = tmp_path_factory.mktemp("journal") / "data"
    asyncio.run(tell(entries, data_dir))
    return data_dir


async def tell(entries: list[dict[str, str]], data_dir: Path) -> None:
    """The entries with several calls in flight, then all names in one note; until every link is made."""
    async with over_stdio(data_dir) as client:
        waiting = iter(entries)

        async def in_turn() -> None:
            for entry in waiting:
                await call(client, "add_memory", episode_body=entry["text"], reference_time=entry["date"])

        await asyncio.gather(*(in_turn() for _ in range(IN_FLIGHT)))
        told = await call(
            client,
            "add_memory",
            episode_body="Who and where they are in the diary.",
            reference_time="1670-01-01",
            entities=[{"name": name, "aliases": aliases} for name, aliases in NAMES.items()],
        )
        assert [entity["outcome"] for entity in told["entities"]] == ["created"] * len(NAMES)
        assert told["needs_attention"] == []
        await linked(client)


async def linked(client: Client) -> None:
    """Wait until no back-link is under way."""
    deadline = monotonic() + LINKING_SECONDS
    while any((await call(client, "get_status"))["jobs"].values()):
        assert monotonic() < deadline, "back-links are still under way"
        await asyncio.sleep(0.1)


async def timelines(client: Client, **arguments: Any) -> dict[str, dict[str, Any]]:
    nodes = (await call(client, "search_nodes", names=list(NAMES)))["nodes"]
    return {
        node["name"]: await call(client, "get_entity_timeline", entity_uuid=node["uuid"], **arguments)
        for node in nodes
        if node["name"] in NAMES
    }


def counted(entries: list[dict[str, str]]) -> dict[str, int]:
    """How many entries name each, by the design's rules for mentions spelt as one regular expression."""
    holder = {spelling: name for name, aliases in NAMES.items() for spelling in (name, *aliases)}
    spellings = sorted(holder, key=len, reverse=True)  # at one place the longest wins
    groups = "|".join(f"(?P<n{number}>{as_expression(spelling)})" for number, spelling in enumerate(spellings))
    expression = re.compile(rf"(?<!\w)(?<!\w['’])(?:{groups})(?:['’]s)?(?!['’]?\w)")
    counts = dict.fromkeys(NAMES, 0)
    for entry in entries:
        found = (match.lastgroup or "" for match in expression.finditer(entry["text"]))
        for name in {holder[spellings[int(group[1:])]] for group in found}:
            counts[name] += 1
    return counts


def as_expression(name: str) -> str:
    """Joiners match each other or nothing; a capital asks for a capital where a word of the text begins."""
    expression = ""
    for number, word in enumerate(re.split(r"[\s_-]+", name)):
        plain = re.sub(r"['’]s$", "", word)
        anyhow = f"(?i:{re.escape(plain)})"
        begun = f"{plain[0]}(?i:{re.escape(plain[1:])})" if plain[0].isupper() else anyhow
        expression += rf"(?:[\s_-]+{begun}|{anyhow})" if number else begun
    return expression


async def test_timeline_totals_of_ten_names_equal_an_independent_count(
    journal: Path, entries: list[dict[str, str]]
) -> None:
    expected = counted(entries)
    assert min(expected.values()) > 0
    assert max(expected.values()) > 200  # more than are linked at once
    async with over_stdio(journal) as client:
        found = await timelines(client, valid_before=AFTER_THE_JOURNAL)
        assert {name: timeline["total"] for name, timeline in found.items()} == expected
        for timeline in found.values():
            assert sum(timeline["mentions_per_month"].values()) == timeline["total"]
            assert timeline["linking"] is None
        # Without the bound there is one more mention each: the note that made the names.
        everything = await timelines(client)
        assert {name: timeline["total"] - 1 for name, timeline in everything.items()} == expected


async def test_every_entry_is_kept_word_for_word(journal: Path, entries: list[dict[str, str]]) -> None:
    kept: list[tuple[str, str]] = []
    async with over_stdio(journal) as client:
        cursor = None
        while cursor or not kept:
            page = await call(client, "get_episodes", max_episodes=100, max_content_chars=20_000, cursor=cursor)
            kept += [(episode["valid_at"][:10], episode["content"]) for episode in page["episodes"]]
            cursor = page["next_cursor"]
    assert sorted(kept[1:]) == sorted((entry["date"], entry["text"]) for entry in entries)


async def test_an_entry_is_found_by_its_meaning(journal: Path) -> None:
    async with over_stdio(journal) as client:
        page = await call(client, "search_episodes", query="fireworks over the river at night")
        assert "1661-04-24" in [episode["valid_at"][:10] for episode in page["episodes"]]


async def test_what_happened_in_a_month_is_complete_and_in_order_in_pages(
    journal: Path, entries: list[dict[str, str]]
) -> None:
    expected = [(entry["date"], entry["text"]) for entry in entries if entry["date"].startswith("1663-05")]
    assert len(expected) > 10
    found: list[tuple[str, str]] = []
    asked = {"valid_after": "1663-05", "valid_before": "1663-06", "order": "oldest", "max_episodes": 6}
    async with over_stdio(journal) as client:
        cursor = None
        while cursor or not found:
            page = await call(client, "get_episodes", **asked, max_content_chars=20_000, cursor=cursor)
            assert page["total"] == len(expected)
            found += [(episode["valid_at"][:10], episode["content"]) for episode in page["episodes"]]
            cursor = page["next_cursor"]
    assert found == sorted(expected)
