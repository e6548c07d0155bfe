"""Search over entities, facts and episodes."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.corpus import dense, hub
from tests.near_names import OTHER_NAMES
from tests.worlds.reading_world import UNKNOWN, World, all_pages, text_of

from graphiti_pkm.capabilities.search.requests import SearchEpisodes, SearchMemoryFacts, SearchNodes
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import EpisodeSearchResponse, FactSearchResponse, NodeSearchResponse
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Entity, Episode, Record
from graphiti_pkm.core.reading.candidates import POOL
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotFound


async def nodes(world: World, query: str | None = None, **given: Any) -> NodeSearchResponse:
    return await world.searching.search_nodes(world.caller, SearchNodes(query=query, **{"group_ids": GROUP, **given}))


async def facts(world: World, query: str, **given: Any) -> FactSearchResponse:
    return await world.searching.search_memory_facts(
        world.caller, SearchMemoryFacts(query=query, **{"group_ids": GROUP, **given})
    )


async def episodes(world: World, query: str, **given: Any) -> EpisodeSearchResponse:
    return await world.episode_search.search_episodes(
        world.caller, SearchEpisodes(query=query, **{"group_ids": GROUP, **given})
    )


def names(answer: NodeSearchResponse) -> list[str]:
    return [node.name for node in answer.nodes]


def told(content: str, **fields: Any) -> list[Record]:
    """An episode with its passages."""
    episode: Episode = an_episode(content, **fields)
    spans = split_passages(content)
    return [episode, *(a_passage(episode, s.start, s.end, paragraph=s.paragraph, sentence=s.sentence) for s in spans)]


async def a_world(*entities: Entity) -> World:
    world = World()
    await world.given(a_write(*entities, *map(a_name, entities)))
    return world


# Entities


async def test_the_entity_of_exactly_that_name_comes_first() -> None:
    world = await a_world(
        an_entity("Django project", summary="Django Django Django"), an_entity("Django"), an_entity("Postgres")
    )
    assert names(await nodes(world, "django")) == ["Django", "Django project"]


async def test_names_are_found_exactly_normalised_and_by_alias_and_the_rest_is_listed() -> None:
    service, sarah = an_entity("User Service"), an_entity("Sarah")
    world = await a_world(service, sarah)
    await world.given(a_write(a_name(sarah, "Sally")))
    answer = await nodes(world, names=["user-service", "Sally", "Bob", "Sarah"])
    assert names(answer) == ["User Service", "Sarah"]
    assert answer.not_found == ["Bob"]
    assert answer.nodes[1].aliases == ["Sally"]
    assert answer.nodes[0].score is None


async def test_a_name_that_is_misspelt_in_the_query_comes_before_others_that_share_a_word_and_says_why() -> None:
    others = [an_entity(f"{first} Wenger") for first in ("Wenger", "Maria", "Toni", "Jan")]
    world = await a_world(*others, an_entity("Tobias Wenger"), an_entity("Tobias Wenger 2"))
    answer = await nodes(world, "Tobais Wenger?")
    assert names(answer)[0] == "Tobias Wenger"
    assert answer.nodes[0].why["spelling"] > 0
    assert all("spelling" not in node.why for node in answer.nodes[1:])
    exact = await nodes(world, "Tobias Wenger")
    assert names(exact)[0] == "Tobias Wenger"
    assert "spelling" not in exact.nodes[0].why


@pytest.mark.parametrize("is_available", [True, False])
@pytest.mark.parametrize("query", ["Tobais", "the Tobais"])
async def test_a_misspelt_word_alone_finds_the_names_that_have_it(query: str, *, is_available: bool) -> None:
    anna = an_entity("Anna Petrov", summary="The first of all.")
    world = await a_world(anna, an_entity("Tobias Wegner"), an_entity("Tobin Wegner"))
    await world.given(a_write(a_name(anna, "Tobias")))
    world.embedder.is_available = is_available
    answer = await nodes(world, query)
    assert set(names(answer)[:2]) == {"Anna Petrov", "Tobias Wegner"}
    assert [bool(node.why.get("spelling")) for node in answer.nodes] == [True, True, *[False] * (answer.returned - 2)]


@pytest.mark.parametrize(
    ("query", "summary", "name"),
    [("Martin Weber", "Once Martin Weber.", "Martina Weber"), ("the Martin", "Martin by his first name.", "Martina")],
)
async def test_no_misspelt_name_passes_an_entity_with_every_word(query: str, summary: str, name: str) -> None:
    world = await a_world(an_entity("Jan", summary=summary), an_entity(name))
    answer = await nodes(world, query)
    assert all("spelling" not in node.why for node in answer.nodes)


async def test_no_misspelt_name_passes_an_entity_of_that_name_in_another_spelling() -> None:
    world = await a_world(an_entity("North Winds"), an_entity("Northwands Ltd"))
    answer = await nodes(world, "northwinds")
    assert names(answer)[0] == "North Winds"
    assert all("spelling" not in node.why for node in answer.nodes)


@pytest.mark.parametrize(("query", "name"), OTHER_NAMES)
async def test_another_name_is_not_lifted_for_a_letter_or_two(query: str, name: str) -> None:
    answer = await nodes(await a_world(an_entity(name), an_entity("Atlas")), query)
    assert all("spelling" not in node.why for node in answer.nodes)


async def test_names_come_before_what_only_fits_the_query() -> None:
    world = await a_world(an_entity("Apple pie"), an_entity("Pear"), an_entity("Apple tree"))
    answer = await nodes(world, "apple", names=["Pear"])
    assert names(answer)[0] == "Pear"
    assert set(names(answer)) == {"Pear", "Apple pie", "Apple tree"}


async def test_a_query_of_symbols_finds_the_entity_of_that_name_or_says_why_not() -> None:
    world = await a_world(an_entity("🦊"), an_entity("Fox"))
    answer = await nodes(world, " 🦊 ")
    assert names(answer) == ["🦊"]
    assert (answer.returned, answer.truncated) == (1, False)
    with pytest.raises(InvalidInput, match="no letter or digit"):
        await nodes(world, "🐻")
    with pytest.raises(InvalidInput, match="no letter or digit"):
        await nodes(world, "🦊", group_ids=OTHER_GROUP)


@pytest.mark.parametrize("spelling", ["me", "I", "the user"])
async def test_me_is_the_groups_one_person(spelling: str) -> None:
    world = World(person="Anna")
    await world.given(a_write(anna := an_entity("Anna"), a_name(anna, is_linkable=False)))
    assert names(await nodes(world, names=[spelling])) == ["Anna"]


async def test_each_hit_brings_its_three_newest_current_facts_as_dated_sentences() -> None:
    sarah, city = an_entity("Sarah"), an_entity("City")
    world = await a_world(sarah, city)
    said = [a_fact(sarah, city, text=f"Fact {i}", valid_at=at(2025, i)) for i in range(1, 6)]
    ended = a_fact(sarah, city, text="Over", valid_at=at(2025, 9), invalid_at=at(2025, 10), expired_at=at(2025, 10))
    await world.given(a_write(*said, ended))
    (node,) = (await nodes(world, names=["Sarah"])).nodes
    assert node.facts == [f"Fact {i} (from 2025-0{i}-01)" for i in (5, 4, 3)]


async def test_a_long_summary_is_cut_in_a_list_and_whole_for_its_name_alone() -> None:
    said = f"{'Sarah leads the team of the journal. ' * 30}End."
    world = await a_world(an_entity("Sarah", summary=said, label="Person"), an_entity("Tom", summary="Short."))
    cut = (await nodes(world, "Sarah")).nodes[0].summary
    assert said.startswith(cut[:-1])
    assert cut.endswith("journal.…")
    assert 100 < len(cut) <= 240
    for listed in (
        await nodes(world, "Sarah"),
        await nodes(world, names=["Sarah", "Tom"]),
        await nodes(world, entity_types=["Person"]),
    ):
        assert listed.nodes[0].summary == cut
        assert "with that name alone" in str(listed.scope.note)
    alone = await nodes(world, names=["Sarah"])
    assert (alone.nodes[0].summary, alone.scope.note) == (said, None)
    assert (await nodes(world, names=["Tom"])).scope.note is None


async def test_entity_types_filter_names_and_query() -> None:
    world = await a_world(an_entity("Mercury", label="Planet"), an_entity("Mercury tool", label="Project"))
    assert names(await nodes(world, "mercury", entity_types=["planet"])) == ["Mercury"]
    answer = await nodes(world, names=["Mercury"], entity_types=["Project"])
    assert answer.nodes == []
    assert answer.not_found == ["Mercury"]
    assert len(names(await nodes(world, "mercury", entity_types=["Entity"]))) == 2


async def test_nodes_that_pass_the_filters_and_do_not_fit_the_words_are_counted() -> None:
    world = await a_world(an_entity("Use Kafka", label="Decision"), an_entity("Use SQLite", label="Decision"))
    none = await nodes(world, "xylophone", entity_types=["Decision"])
    assert (none.total, none.scope.note) == (
        0,
        "2 nodes pass the filters, 0 of them fit the query; without query all are listed.",
    )
    assert (await nodes(world, entity_types=["Decision"])).total == 2
    assert (await nodes(world, "use", entity_types=["Decision"])).scope.note is None


async def test_nodes_are_found_by_their_status_alone_or_with_a_query_or_names() -> None:
    world = await a_world(*(one := [an_entity(f"Decision {i}", label="Decision") for i in range(5)]))
    await world.given(
        a_write(
            *(a_fact(decision, decision, "HAS_STATUS", value="proposed", valid_at=at(2026)) for decision in one[1:4]),
            a_fact(one[0], one[0], "HAS_STATUS", value="accepted", valid_at=at(2026)),
        )
    )
    proposed = ["Decision 1", "Decision 2", "Decision 3"]
    listed = await nodes(world, status="Proposed ")
    assert (names(listed), listed.message) == (proposed, "Found 3 of 3 node(s), by name")
    assert names(await nodes(world, entity_types=["decision"])) == [decision.name for decision in one]
    pages = await all_pages(lambda cursor: nodes(world, status="proposed", max_nodes=2, cursor=cursor))
    assert [name for page in pages for name in names(page)] == proposed
    assert sorted(names(await nodes(world, "decision", status="proposed"))) == proposed
    both = await nodes(world, names=["Decision 0", "Decision 2"], status="proposed")
    assert (names(both), both.not_found) == (["Decision 2"], ["Decision 0"])
    assert (await nodes(world, status="done")).message == "Found no node that fits"
    assert (await nodes(world, status="dropped")).scope.note is None
    assert (await nodes(world, status="Open")).scope.note == (
        'Only what has a status; search_memory_facts(status="open") lists open plans, goals and proposals.'
    )
    with pytest.raises(InvalidInput, match="status has 300 characters"):
        await nodes(world, status="x" * 300)
    older = an_entity("Older"), an_entity("approved")
    await world.given(a_write(*older, a_fact(*older, "HAS_STATUS", valid_at=at(2026))))
    assert names(await nodes(world, status="Active")) == ["Decision 0", "Older"]
    approved = await nodes(world, status="Approved.")
    assert (names(approved), approved.scope.note) == (
        ["Older"],
        '2 nodes are active in any word: status="active" lists them.',
    )
    assert (await nodes(world, status="proposed")).scope.note is None
    signed = await nodes(world, status="signed off")
    assert (signed.total, signed.scope.note) == (0, approved.scope.note)
    with pytest.raises(InvalidInput, match="status has 300 characters"):
        await nodes(world, status="x" * 300)
    with pytest.raises(InvalidInput, match="entity_types or status"):
        await nodes(world)


async def test_nearness_to_a_centre_lifts_and_an_unknown_centre_is_an_error() -> None:
    centre, far, near = an_entity("Centre"), an_entity("Plan alpha"), an_entity("Plan bravo")
    world = await a_world(centre, far, near)
    await world.given(a_write(a_fact(centre, near)))
    first = (await nodes(world, "plan", center_node_uuid=centre.uuid[:8])).nodes[0]
    assert first.name == "Plan bravo"
    with pytest.raises(NotFound):
        await nodes(world, "plan", center_node_uuid=UNKNOWN)


async def test_thirty_asked_for_are_thirty() -> None:
    world = World()
    await world.given(*dense()[:3])
    answer = await nodes(world, "seen in the archive", max_nodes=30)
    assert answer.returned == len(answer.nodes) == 30


async def test_a_name_in_another_group_is_another_entity() -> None:
    world = World()
    for group in (GROUP, OTHER_GROUP):
        await world.given(a_write(sarah := an_entity("Sarah", group_id=group), a_name(sarah)))
    assert {node.group_id for node in (await nodes(world, "Sarah")).nodes} == {GROUP}
    both = await nodes(world, names=["Sarah"], group_ids=[GROUP, OTHER_GROUP])
    assert [node.group_id for node in both.nodes] == [GROUP, OTHER_GROUP]


async def test_another_person_finds_nothing() -> None:
    world = await a_world(an_entity("Sarah"))
    anna = Caller(principal="anna")
    answer = await world.searching.search_nodes(anna, SearchNodes(query="Sarah", names=["Sarah"], group_ids=GROUP))
    assert answer.nodes == []
    assert answer.scope.group_ids == [GROUP]
    assert answer.scope.holds == {GROUP: "0 episodes, 0 entities, 0 facts"}
    assert answer.scope.other_groups is None


async def test_searches_read_the_default_group_unless_told_otherwise() -> None:
    world = await a_world(an_entity("Sarah"))
    answer = await world.searching.search_nodes(world.caller, SearchNodes(query="Sarah"))
    assert answer.nodes == []
    assert answer.message == "Found no node that fits"
    assert answer.scope.group_ids == ["default"]
    assert answer.scope.other_groups == [GROUP]


async def test_an_answer_never_suggests_staging_or_an_archive_and_reads_them_when_named() -> None:
    staging = f"{GROUP}_staging"
    world = await a_world(an_entity("Sarah"), an_entity("Sarah", group_id=staging))
    assert (await world.searching.search_nodes(world.caller, SearchNodes(query="Sarah"))).scope.other_groups == [GROUP]
    for group in (GROUP, staging):
        found = await world.searching.search_nodes(world.caller, SearchNodes(query="Sarah", group_ids=group))
        assert [node.group_id for node in found.nodes] == [group]


# What a query may be


@pytest.mark.parametrize("search", [nodes, facts, episodes])
@pytest.mark.parametrize("query", ["", "  \n", "((", '"*@|-~', "🎉", "a\0b", "a\ud800"])
async def test_a_query_without_a_word_or_with_broken_characters_is_an_error(search: Any, query: str) -> None:
    with pytest.raises(InvalidInput, match=r"^(query |Give a query)"):
        await search(await a_world(), query)


@pytest.mark.parametrize(
    "query", ["C++ (a/b)", 'sarah"', "-sarah @name:{x}", "the and of", "東京", "שרה", "sarah " * 20_000]
)
async def test_query_syntax_stop_words_and_any_script_are_ordinary_queries(query: str) -> None:
    world = await a_world(an_entity("Sarah"))
    for search in (nodes, facts, episodes):
        await search(world, query)


async def test_a_query_or_names_are_needed_and_names_must_be_names() -> None:
    world = await a_world()
    given: list[list[str] | None] = [None, [], ["-"], ["a\0"]]
    for asked in given:
        with pytest.raises(InvalidInput):
            await nodes(world, names=asked)
    with pytest.raises(ValidationError, match="at most 50"):
        await nodes(world, names=[str(i) for i in range(51)])


async def test_a_very_long_query_is_shortened_and_says_so() -> None:
    answer = await nodes(await a_world(an_entity("w1")), " ".join(f"w{i}" for i in range(500)))
    assert "first 64 words" in str(answer.scope.note)
    assert names(answer)[0] == "w1"


@pytest.mark.parametrize("search", [nodes, facts, episodes])
async def test_without_a_model_words_alone_are_searched_and_that_is_said(search: Any) -> None:
    sarah = an_entity("Sarah")
    world = await a_world(sarah, an_entity("Someone"))
    await world.given(a_write(*told("Sarah was there.\n\nNobody else was."), a_fact(sarah, sarah)))
    assert (await search(world, "Sarah")).scope.note is None
    world.embedder.is_available = False
    answer = await search(world, "Sarah")
    assert answer.returned == 1
    assert "full text only" in answer.scope.note


# Facts


async def test_dates_and_relations_filter_facts_before_they_are_ranked() -> None:
    world = World()
    await world.given(*hub())
    march = await facts(world, "hub works with", max_facts=200, valid_after="2025-03", valid_before="2025-04")
    assert march.returned == len(march.facts) > 20
    assert all(str(fact.valid_at).startswith("2025-03") for fact in march.facts)
    ended = await facts(world, "hub", max_facts=200, invalid_after="2025", invalid_before="2026")
    assert ended.returned == 20
    assert (await facts(world, "hub", max_facts=200, edge_types=["works with"])).returned == 90
    assert (await facts(world, "hub", edge_types=["KNOWS"])).total == 0
    with pytest.raises(InvalidInput, match=r"^invalid_before: "):
        await facts(world, "hub", invalid_before="soon")


@pytest.mark.parametrize("value", [0, -1, 201])
async def test_limits_are_checked(value: int) -> None:
    with pytest.raises(ValidationError, match="max_facts"):
        await facts(await a_world(), "hub", max_facts=value)


async def test_facts_near_a_centre_come_first() -> None:
    a, b, c, d = (an_entity(name) for name in "ABCD")
    world = await a_world(a, b, c, d)
    await world.given(a_write(a_fact(a, b, text="uses tea"), a_fact(c, d, text="uses tea")))
    for centre, other in ((a, "A"), (c, "C")):
        answer = await facts(world, "tea", center_node_uuid=centre.uuid)
        assert answer.facts[0].source_node_name == other


async def test_scores_are_shown_between_nothing_and_one() -> None:
    world = World()
    await world.given(*hub())
    shown = [fact.score for fact in (await facts(world, "spoke 07 works with hub", max_facts=200)).facts]
    assert shown == sorted(shown, key=lambda score: -(score or 0))
    assert all(score is not None and 0 <= score <= 1 for score in shown)


# Pages


async def test_pages_of_a_search_bring_each_hit_once_with_writes_in_between() -> None:
    world = World()
    await world.given(*hub())
    whole = [fact.uuid for fact in (await facts(world, "hub works with", max_facts=200)).facts]

    async def something_is_written() -> None:
        world.clock.advance(seconds=60)
        new, other = an_entity("HUB two"), an_entity("HUB three")
        await world.given(a_write(new, other, a_fact(new, other, "WORKS_WITH", created_at=world.clock())))

    pages = await all_pages(
        lambda cursor: facts(world, "hub works with", max_facts=25, cursor=cursor), something_is_written
    )
    assert [page.returned for page in pages] == [25, 25, 25, 15]
    assert [fact.uuid for page in pages for fact in page.facts] == whole
    assert {page.total for page in pages} == {None}


async def test_a_cursor_of_another_search_is_refused() -> None:
    world = World()
    await world.given(*hub())
    cursor = (await facts(world, "hub")).next_cursor
    for asked in (facts(world, "spoke", cursor=cursor), facts(world, "hub", edge_types=["A"], cursor=cursor)):
        with pytest.raises(InvalidCursor):
            await asked


async def test_searches_at_their_maxima_stay_bounded_with_the_longest_records() -> None:
    world = World()
    long = [an_entity(f"Apple {i} " + "é" * 180, summary="apple\n" * 300) for i in range(60)]
    notes = [record for i in range(120) for record in told(f"Apple {i}. " + "line\n" * 300)]
    stated = [a_fact(long[0], one, text="apple\n" * 330, quote="\n" * 2_000) for one in long]
    await world.given(a_write(*long, *stated, *notes))
    for search, name, default, most in (
        (nodes, "max_nodes", 10, 50),
        (facts, "max_facts", 10, 200),
        (episodes, "max_episodes", 10, 100),
    ):
        assert len(text_of(await search(world, "apple", **{name: default}))) <= 24_000
        assert len(text_of(await search(world, "apple", **{name: most}))) <= 80_000


# Episodes


async def test_episodes_show_their_best_sentence_and_the_text_around_it() -> None:
    world = World()
    filler = "Nothing of note happened on that day. " * 60
    note = told(f"{filler}The budget was cut by half. {filler}")
    await world.given(a_write(*note), a_write(*told("We went swimming.")))
    answer = await episodes(world, "budget cut")
    hit = answer.episodes[0]
    assert hit.match == "The budget was cut by half."
    assert hit.match in str(hit.content)
    assert len(str(hit.content)) <= 602
    assert hit.content_truncated
    assert hit.content_chars == len(note[0].content)  # type: ignore[attr-defined]


async def test_the_best_sentence_is_found_by_words_without_a_model() -> None:
    world = World()
    world.embedder.is_available = False
    records = told("It rained. Sarah cut the budget. It rained again.")
    await world.graph.writer.apply(a_write(*records), {})
    hit = (await episodes(world, "budget")).episodes[0]
    assert hit.match == "Sarah cut the budget."
    assert hit.content == "It rained. Sarah cut the budget. It rained again."
    assert hit.content_truncated is None


async def test_episodes_are_filtered_by_date_and_by_entity() -> None:
    world = World()
    sarah = an_entity("Sarah")
    old, new = told("tea in spring", valid_at=at(2025, 3)), told("tea in summer", valid_at=at(2025, 7))
    mention = a_mention(new[0], sarah)  # type: ignore[arg-type]
    await world.given(a_write(sarah, *old, *new, mention))
    assert (await episodes(world, "tea")).returned == 2
    assert [e.content for e in (await episodes(world, "tea", valid_after="2025-07")).episodes] == ["tea in summer"]
    assert [e.content for e in (await episodes(world, "tea", valid_before="2025-07")).episodes] == ["tea in spring"]
    of_sarah = await world.episode_search.search_episodes(
        world.caller, SearchEpisodes(query="tea", entity_uuid=sarah.uuid)
    )
    assert [e.content for e in of_sarah.episodes] == ["tea in summer"]
    assert of_sarah.scope.group_ids == [GROUP]


async def test_small_words_of_a_question_do_not_choose_the_sentence() -> None:
    world = World()
    world.embedder.is_available = False
    await world.graph.writer.apply(a_write(*told("We did what we did at the sea. The invoice came in May.")), {})
    assert (await episodes(world, "what did we do about the invoice?")).episodes[0].match == "The invoice came in May."


# What a total is


async def test_what_was_ranked_for_a_query_is_no_total() -> None:
    """What is near in meaning is ranked, too: one entity is called HUB, and 91 were counted as found."""
    world = World()
    await world.given(*hub())
    for answer, what in (
        (await nodes(world, "HUB spoke", max_nodes=5), "node"),
        (await nodes(world, "spoke", names=["HUB"], max_nodes=5), "node"),
        (await facts(world, "hub"), "fact"),
        (await facts(world, "hub", kind="state"), "fact"),
    ):
        assert (answer.total, answer.truncated) == (None, True)
        assert answer.message == f"Found {answer.returned} {what}(s), best first"
    assert (await nodes(world, names=["HUB"])).total == 1
    assert (await nodes(world, entity_types=["Project"])).total == 1


async def test_a_full_pool_is_told_and_nothing_found_is_a_total() -> None:
    people = [an_entity(f"Sarah {i}") for i in range(POOL + 1)]
    notes = [an_episode("Sarah came.") for _ in people]
    world = World()
    await world.given(a_write(*people, *notes, *(a_fact(one, one) for one in people)))
    answers = await nodes(world, "Sarah"), await facts(world, "Sarah"), await episodes(world, "Sarah")
    for answer, what in zip(answers, ("node", "fact", "episode"), strict=True):
        assert answer.total is None
        assert answer.message == f"Found {answer.returned} {what}(s), best first; there may be more that fit"
    empty = World()
    for answer in (await nodes(empty, "Sarah"), await facts(empty, "Sarah"), await episodes(empty, "Sarah")):
        assert (answer.total, answer.returned) == (0, 0)


async def test_names_that_are_looked_up_are_counted() -> None:
    world = await a_world(an_entity("Sarah"))
    assert (await nodes(world, names=["Sarah"])).message == "Found 1 node(s) of 1, best first"


async def test_staging_and_production_are_searched_together_where_both_are_named() -> None:
    world, staged = World(), f"{GROUP}_staging"
    for group in (GROUP, staged):
        berlin = an_entity("Berlin", group_id=group)
        await world.given(a_write(berlin, a_name(berlin)))
    both = await nodes(world, "Berlin", group_ids=[GROUP, staged])
    assert sorted((node.name, node.group_id) for node in both.nodes) == [("Berlin", GROUP), ("Berlin", staged)]
    assert [node.group_id for node in (await nodes(world, "Berlin", group_ids=[staged])).nodes] == [staged]
