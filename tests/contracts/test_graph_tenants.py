"""Contract of ``Graph``: what a search finds in one group, in which order, is decided by that group alone."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from tests.builders import a_fact, a_name, a_write, an_entity, an_episode, at

from graphiti_pkm.core.model.names import beginning_term, part_terms
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Record
from graphiti_pkm.core.ports.graph import Graph

MINE, OTHERS = "mine", "f" * 32 + "_theirs"
NOW = at(2026, 6)
MANY = 260
WORDS = ("harbour", "quay", "lantern", "gull", "tide", "rope")
LONG = 300
"""Of words that begin alike, of which an index looks at two hundred at most."""
pytestmark = pytest.mark.timeout(120)


class Searched(NamedTuple):
    """Everything that full text answers, as it came: with order and scores."""

    episodes: list[tuple[str, float]]
    entities: list[tuple[str, float]]
    facts: list[tuple[str, float]]


def my_records(draw: random.Random) -> list[Record]:
    """More that fit than any search takes, of different lengths, with words of different rarity."""
    texts = [" ".join(draw.choices(WORDS, (9, 6, 3, 2, 1, 1), k=draw.randint(1, 9))) for _ in range(MANY)]
    notes = [an_episode(text, group_id=MINE, valid_at=at(2025, 1, 1 + i % 28)) for i, text in enumerate(texts)]
    things = [an_entity(f"{text.title()} {i}", group_id=MINE) for i, text in enumerate(texts)]
    facts = [a_fact(things[0], one, f"SAW_{i}", text=f"{texts[i]}.") for i, one in enumerate(things)]
    return [*notes, *things, *map(a_name, things), *facts]


def their_records(draw: random.Random, count: int = 200) -> list[Record]:
    """What would move weights that all share: my words in every text, often, in texts of other lengths."""
    texts = [" ".join(draw.choices(WORDS, (1, 1, 9, 9, 2, 9), k=draw.choice((1, 200)))) for _ in range(count)]
    notes = [an_episode(text, group_id=OTHERS) for text in texts]
    things = [an_entity(f"{text[:60].title()} {i}", group_id=OTHERS, summary=text) for i, text in enumerate(texts)]
    facts = [a_fact(things[0], one, text=text) for one, text in zip(things, texts, strict=True)]
    return [*notes, *things, *map(a_name, things), *facts]


async def searched(graph: Graph, terms: Sequence[str], limit: int) -> Searched:
    episodes = await graph.search.search_episodes(terms, EpisodeFilter(group_ids=(MINE,)), limit)
    entities = await graph.search.search_entities(terms, EntityFilter(group_ids=(MINE,)), limit)
    facts = await graph.search.search_facts(terms, FactFilter(group_ids=(MINE,), now=NOW), limit)
    return Searched(list(episodes.items()), list(entities.items()), list(facts.items()))


async def test_what_others_write_changes_no_hit_no_order_and_no_score(graph: Graph) -> None:
    draw = random.Random(13)  # noqa: S311 (not for secrets)
    await graph.writer.apply(a_write(*my_records(draw)), {})
    asked = [(WORDS, 200), (WORDS[:1], 200), (WORDS[2:5], 50), (("harbour", "rope"), 10), (WORDS, 1_000)]
    before = [await searched(graph, terms, limit) for terms, limit in asked]
    assert len(before[0].episodes) == len(before[0].entities) == len(before[0].facts) == 200
    await graph.writer.apply(a_write(*their_records(draw)), {})
    assert [await searched(graph, terms, limit) for terms, limit in asked] == before


async def test_words_of_others_that_begin_alike_push_nothing_out(graph: Graph) -> None:
    note = an_episode("Die Haushaltsplanungen lagen im Sonnenblumenkernhaus.", name="n", group_id=MINE)
    tobias = an_entity("Tobias Wenger", group_id=MINE)
    await graph.writer.apply(a_write(note, tobias, a_name(tobias)), {})
    letters = "abcdefghijklmnopqrst"
    words = [f"planung{one}{two}{one}rest" for one in letters for two in letters][:LONG]
    kern = [f"zzz{one}{two}kernhaus{two}{one}" for one in letters for two in letters][:LONG]
    names = [an_entity(f"Tob{one}{two}as", group_id=OTHERS) for one in letters for two in letters][:LONG]
    theirs = [an_episode(" ".join((*words, *kern)), group_id=OTHERS), *names, *map(a_name, names)]
    await graph.writer.apply(a_write(*theirs), {})
    wanted = EpisodeFilter(group_ids=(MINE,))
    assert list(await graph.search.search_episodes(part_terms("planung"), wanted, 10)) == [note.uuid]
    assert list(await graph.search.search_episodes(part_terms("kernhaus"), wanted, 10)) == [note.uuid]
    assert list(await graph.search.search_entities([beginning_term("tobis")], EntityFilter(group_ids=(MINE,)), 10)) == [
        tobias.uuid
    ]


async def test_of_more_hits_than_a_search_takes_it_takes_those_with_the_rarer_words_then_the_newest(
    graph: Graph,
) -> None:
    common = [an_episode("harbour", name="n", group_id=MINE, valid_at=at(2020, 1, 1 + i)) for i in range(20)]
    rare = an_episode("lantern", name="n", group_id=MINE, valid_at=at(2019))
    await graph.writer.apply(a_write(*common, rare), {})
    found = await graph.search.search_episodes(["harbour", "lantern"], EpisodeFilter(group_ids=(MINE,)), 3)
    assert list(found) == [rare.uuid, common[19].uuid, common[18].uuid]
