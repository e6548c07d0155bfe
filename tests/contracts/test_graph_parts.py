"""Contract of ``Graph``: episodes by a word inside another, in languages that join words or do not part them."""

import random
import string

import pytest
from tests.builders import GROUP, a_write, an_episode

from graphiti_pkm.core.model.names import part_terms, search_terms
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.ports.graph import Graph

WANTED = EpisodeFilter(group_ids=(GROUP,))
TEXTS = {
    "haushalt": "Die Haushaltsplanung für das Jahr steht.",
    "haltestelle": "Straßenbahnhaltestelle gesperrt",
    "tokyo": "東京でプロジェクトの会議をした",
    "seoul": "예산 회의를 했다",
    "beijing": "我们在北京讨论了预算问题",
    "fireworks": "The fire-works of 1661 were played again, to-day",
    "zurich": "Wir planten den Café-Umbau in Zürich",
}


def chatter(count: int) -> list[str]:
    """Texts of words that nobody looks for."""
    chance = random.Random(7)  # noqa: S311 no secret
    return [" ".join("".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(12)) for _ in range(count)]


@pytest.fixture
async def told(graph: Graph) -> dict[str, str]:
    """Uuids by the names of the texts."""
    episodes = {name: an_episode(text) for name, text in TEXTS.items()}
    await graph.writer.apply(a_write(*episodes.values(), *map(an_episode, chatter(300))), {})
    return {one.uuid: name for name, one in episodes.items()}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Planung", {"haushalt"}),
        ("Haushalt", {"haushalt"}),
        ("Haltestelle", {"haltestelle"}),
        ("Strassenbahn", {"haltestelle"}),
        ("Bahnhalte", {"haltestelle"}),
        ("京", {"tokyo", "beijing"}),
        ("planing", set()),
    ],
)
async def test_a_word_inside_another_is_found(graph: Graph, told: dict[str, str], query: str, found: set[str]) -> None:
    asked = [part for term in search_terms(query) for part in part_terms(term)]
    hits = [told[uuid] for uuid in await graph.search.search_episodes(asked, WANTED, 10)]
    assert set(hits[: len(found)]) == found  # what holds all of its parts comes first, then what holds some
    assert bool(hits) == bool(found)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("会議", {"tokyo"}),
        ("プロジェクト", {"tokyo"}),
        ("北京", {"beijing"}),
        ("预算", {"beijing"}),
        ("회의", {"seoul"}),
        ("ZURICH", {"zurich"}),
        ("fireworks", {"fireworks"}),
        ("Fire-Works", {"fireworks"}),
        ("today", {"fireworks"}),
        ("Zürich", {"zurich"}),
        ("cafe", {"zurich"}),
        ("planung", set()),
        ("haltestelle", set()),
    ],
)
async def test_whole_words_and_pairs_of_characters_are_found_without_asking_for_parts(
    graph: Graph, told: dict[str, str], query: str, found: set[str]
) -> None:
    assert {told[uuid] for uuid in await graph.search.search_episodes(search_terms(query), WANTED, 10)} == found


def test_parts_are_asked_for_only_where_few_words_can_hold_them() -> None:
    assert part_terms("plan") == part_terms("2025-01") == part_terms("预算") == []
    assert part_terms("planung") == ["0planu"]
    assert part_terms("haltestellen") == ["0halte", "0stell"]
