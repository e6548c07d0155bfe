"""Contract of ``Graph.fact_sources``: the parts of its episodes that say a fact."""

import math
from array import array

import pytest
from tests.builders import a_fact, a_passage, a_write, an_entity, an_episode, at

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Episode, Fact, Passage, Vector
from graphiti_pkm.core.model.walks import SourceMode, SourcePage
from graphiti_pkm.core.ports.graph import Graph

GROUPS = ["t1"]
WIDE = Window(limit=50)


def leaning(cosine: float) -> Vector:
    """A vector with this cosine to that of the fact."""
    return array("f", [cosine, math.sqrt(1 - cosine * cosine)])


def sentences(episode: Episode, *paragraphs: int) -> list[Passage]:
    """A passage of ten characters each, in these paragraphs."""
    return [a_passage(episode, i * 10, i * 10 + 9, paragraph=one, sentence=i) for i, one in enumerate(paragraphs)]


async def given(
    graph: Graph, *, is_embedded: bool = True, **fact_fields: object
) -> tuple[Fact, Episode, Episode, Episode]:
    """A fact of three episodes: the first has paragraphs 0, 0, 1, the second one sentence, the third no passage."""
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    long, short, bare = (an_episode("x" * 30, valid_at=at(2025, month)) for month in (1, 2, 3))
    fact = a_fact(sarah, tom, episodes=(long.uuid, short.uuid, bare.uuid), **fact_fields)
    passages = [*sentences(long, 0, 0, 1), *sentences(short, 0)]
    cosines = (0.6, 0.8, 0.9, 0.7)
    vectors = {passage.uuid: leaning(cosine) for passage, cosine in zip(passages, cosines, strict=True)}
    if is_embedded:
        vectors[fact.uuid] = leaning(1.0)
    await graph.writer.apply(a_write(sarah, tom, long, short, bare, fact, *passages), vectors)
    return fact, long, short, bare


def places(page: SourcePage, *episodes: Episode) -> list[tuple[int, int | None, int | None]]:
    """Of each part the number of its episode and its offsets."""
    numbers = {episode.uuid: number for number, episode in enumerate(episodes)}
    return [(numbers[one.episode_uuid], one.start, one.end) for one in page.sources]


async def test_sentences_come_nearest_first_and_an_episode_that_cannot_be_compared_comes_last(graph: Graph) -> None:
    fact, *episodes = await given(graph)
    page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "quote", WIDE)
    assert places(page, *episodes) == [(0, 20, 29), (0, 10, 19), (1, 0, 9), (0, 0, 9), (2, None, None)]
    cosines = [one.cosine for one in page.sources]
    assert cosines[:4] == [pytest.approx(cosine, abs=1e-5) for cosine in (0.9, 0.8, 0.7, 0.6)]
    assert (cosines[4], page.total) == (None, 5)


async def test_parts_half_as_near_as_the_best_are_not_behind_the_fact_but_each_episode_has_its_best(
    graph: Graph,
) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    near, far, bare = (an_episode("x" * 40, valid_at=at(2025, month)) for month in (1, 2, 3))
    fact = a_fact(sarah, tom, episodes=(near.uuid, far.uuid, bare.uuid))
    passages = [*sentences(near, 0, 0, 1, 2), *sentences(far, 0, 1)]
    cosines = (0.8, 0.42, 0.38, -0.2, 0.3, 0.1)
    vectors = {passage.uuid: leaning(cosine) for passage, cosine in zip(passages, cosines, strict=True)}
    write = a_write(sarah, tom, near, far, bare, fact, *passages)
    await graph.writer.apply(write, {**vectors, fact.uuid: leaning(1.0)})
    page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "quote", WIDE)
    assert places(page, near, far, bare) == [(0, 0, 9), (0, 10, 19), (1, 0, 9), (2, None, None)]
    assert (page.total, page.held) == (4, 7)
    paragraphs = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "paragraph", WIDE)
    assert places(paragraphs, near, far, bare) == [(0, 0, 19), (1, 0, 9), (2, None, None)]
    quoting = fact.model_copy(update={"quote_episode_uuid": near.uuid, "quote_start": 30, "quote_end": 39})
    quoted = await graph.part(WALKS_PART).fact_sources(quoting, GROUPS, "quote", WIDE)
    assert places(quoted, near, far, bare) == [(0, 30, 39), (0, 0, 9), (0, 10, 19), (1, 0, 9), (2, None, None)]
    unknown = await graph.part(WALKS_PART).fact_sources(a_fact(sarah, tom), GROUPS, "quote", WIDE)
    assert (unknown.total, unknown.held) == (0, 0)


async def test_a_paragraph_and_an_episode_count_by_their_best_sentence(graph: Graph) -> None:
    fact, *episodes = await given(graph)
    paragraphs = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "paragraph", WIDE)
    assert places(paragraphs, *episodes) == [(0, 20, 29), (0, 0, 19), (1, 0, 9), (2, None, None)]
    assert [one.best for one in paragraphs.sources] == [20, 10, 0, None]
    whole = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "episode", WIDE)
    assert places(whole, *episodes) == [(0, 0, 29), (1, 0, 9), (2, None, None)]
    assert [one.best for one in whole.sources] == [20, 0, None]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("quote", [(0, 0, 19), (0, 20, 29), (1, 0, 9), (2, None, None)]),
        ("paragraph", [(0, 0, 19), (0, 20, 29), (1, 0, 9), (2, None, None)]),
        ("episode", [(0, 0, 29), (1, 0, 9), (2, None, None)]),
    ],
)
async def test_the_part_with_the_quote_comes_first_and_once(
    graph: Graph, mode: SourceMode, expected: list[tuple[int, int | None, int | None]]
) -> None:
    fact, long, short, bare = await given(graph)
    quoting = fact.model_copy(update={"quote_episode_uuid": long.uuid, "quote_start": 5, "quote_end": 15})
    page = await graph.part(WALKS_PART).fact_sources(quoting, GROUPS, mode, WIDE)
    assert places(page, long, short, bare) == expected
    assert [one.holds_quote for one in page.sources] == [True, *[False] * (len(expected) - 1)]
    assert page.sources[0].best == 10
    elsewhere = fact.model_copy(update={"quote_episode_uuid": bare.uuid, "quote_start": 5, "quote_end": 15})
    first = (await graph.part(WALKS_PART).fact_sources(elsewhere, GROUPS, mode, WIDE)).sources[0]
    assert (first.episode_uuid, first.holds_quote, first.start) == (bare.uuid, True, None)


UNDERLINED = [
    "Use one 🎈 store",
    "===",
    "",
    " Status",
    "---",
    "",
    "Who pays?  ",
    "  --------",
    "",
    "ADR 4: Go",
    "=====",
    "",
]
NOT_UNDERLINED = [
    *("We use it.", "---", "", "Over two", "lines 🎈", "-----", "", "- item", "------", "", "> said", "------", ""),
    *("status: open", "-----", "", "Ran all of 5 km", "---", "", "| cell", "------", "", "1. First", "-----", ""),
    *("Never under", "", "------", "Title", "=-=", "", "    code", "====", "", "The end"),
]
"""With the lines under which a rule stands that makes no heading of them."""


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
async def test_what_is_underlined_as_a_heading_is_behind_no_fact(graph: Graph, line_break: str) -> None:
    told = an_episode(line_break.join([*UNDERLINED, *NOT_UNDERLINED]), valid_at=at(2025, 2))
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    said = [one for one in (*UNDERLINED, *NOT_UNDERLINED) if one.strip(" -=")]
    starts = [told.content.index(one) for one in said]
    passages = [a_passage(told, start, start + len(one)) for start, one in zip(starts, said, strict=True)]
    fact = a_fact(sarah, tom, episodes=(told.uuid,))
    vectors = {passage.uuid: leaning(0.9) for passage in passages}
    await graph.writer.apply(a_write(sarah, tom, told, fact, *passages), {**vectors, fact.uuid: leaning(1.0)})
    page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "quote", WIDE)
    found = [told.content[slice(one.start, one.end)] for one in page.sources]
    assert found == [one for one in NOT_UNDERLINED if one in said]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
async def test_a_heading_is_behind_no_fact_unless_it_is_the_quote(graph: Graph, line_break: str) -> None:
    """Nor is a part of one; an episode of nothing else cannot be compared."""
    lines = ["🎈 # 1 is no heading.", "# 9. Use it 🎈", "", " ## Status", "", "Accepted.", "#nor is this"]
    text = line_break.join(lines)
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    told, bare = an_episode(text, valid_at=at(2025, 2)), an_episode("# Title", valid_at=at(2025))
    said = ["🎈 # 1 is no heading.", "# 9.", "Use it 🎈", "## Status", "Accepted.", "#nor is this"]
    starts = [text.index(one) for one in said]
    passages = [a_passage(told, start, start + len(one)) for start, one in zip(starts, said, strict=True)]
    passages.append(a_passage(bare))
    fact = a_fact(sarah, tom, episodes=(told.uuid, bare.uuid))
    cosines = (0.6, 0.9, 0.9, 0.9, 0.8, 0.7, 0.9)
    vectors = {passage.uuid: leaning(cosine) for passage, cosine in zip(passages, cosines, strict=True)}
    write = a_write(sarah, tom, told, bare, fact, *passages)
    await graph.writer.apply(write, {**vectors, fact.uuid: leaning(1.0)})
    walks = graph.part(WALKS_PART)
    page = await walks.fact_sources(fact, GROUPS, "quote", WIDE)
    found = [text[slice(one.start, one.end)] for one in page.sources if one.start is not None]
    assert found == ["Accepted.", "#nor is this", "🎈 # 1 is no heading."]
    assert (page.sources[-1].episode_uuid, page.sources[-1].cosine, page.total, page.held) == (bare.uuid, None, 4, 4)
    whole = await walks.fact_sources(fact, GROUPS, "episode", WIDE)
    assert whole.sources[0].cosine == pytest.approx(0.8, abs=1e-5)
    quoting = {"quote_episode_uuid": told.uuid, "quote_start": starts[3], "quote_end": starts[3] + 9}
    page = await walks.fact_sources(fact.model_copy(update=quoting), GROUPS, "quote", WIDE)
    assert (text[slice(page.sources[0].start, page.sources[0].end)], page.total) == ("## Status", 5)


async def test_without_the_vector_of_the_fact_each_episode_is_one_part_newest_first(graph: Graph) -> None:
    fact, *episodes = await given(graph, is_embedded=False)
    page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "quote", WIDE)
    assert places(page, *episodes) == [(2, None, None), (1, None, None), (0, None, None)]
    assert page.total == 3


@pytest.mark.parametrize("mode", ["quote", "paragraph", "episode"])
async def test_pages_are_the_whole_in_order(graph: Graph, mode: SourceMode) -> None:
    fact, *_ = await given(graph)
    whole = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, mode, WIDE)
    seen: list[object] = []
    after: tuple[str | int, ...] | None = None
    while True:
        page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, mode, Window(limit=1, after=after))
        assert page.total == whole.total
        if not page.sources:
            break
        seen += page.sources
        after = page.keys[-1]
    assert seen == list(whole.sources)


async def test_episodes_of_other_groups_and_gone_ones_are_left_out(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    mine, foreign = an_episode(), an_episode(group_id="t2")
    fact = a_fact(sarah, tom, episodes=(foreign.uuid, "gone", mine.uuid))
    await graph.writer.apply(a_write(sarah, tom, mine, foreign, fact), {})
    page = await graph.part(WALKS_PART).fact_sources(fact, GROUPS, "quote", WIDE)
    assert ([one.episode_uuid for one in page.sources], page.total) == ([mine.uuid], 1)
    without = a_fact(sarah, tom)
    await graph.writer.apply(a_write(without), {})
    assert (await graph.part(WALKS_PART).fact_sources(without, GROUPS, "quote", WIDE)).total == 0
    unknown = a_fact(sarah, tom)
    assert (await graph.part(WALKS_PART).fact_sources(unknown, GROUPS, "quote", WIDE)).sources == ()
