"""search_episodes: dates and names in the question, neighbours, parts of words."""

from datetime import timedelta
from typing import Any

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import World, all_pages

from graphiti_pkm.capabilities.search.episode_candidates import DAY
from graphiti_pkm.capabilities.search.requests import SearchEpisodes
from graphiti_pkm.core.model.answers import EpisodeSearchResponse
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Episode, Record
from graphiti_pkm.errors import InvalidCursor, InvalidInput


async def search(world: World, query: str, **given: Any) -> EpisodeSearchResponse:
    return await world.episode_search.search_episodes(
        world.caller, SearchEpisodes(query=query, **{"group_ids": GROUP, **given})
    )


def contents(answer: EpisodeSearchResponse) -> list[str | None]:
    return [episode.content for episode in answer.episodes]


def told(content: str, **fields: Any) -> tuple[Episode, list[Record]]:
    """An episode with its passages."""
    episode = an_episode(content, **fields)
    return episode, [episode, *(a_passage(episode, each.start, each.end) for each in split_passages(content))]


async def given(world: World, *texts: tuple[str, Any], **fields: Any) -> list[Episode]:
    episodes = [told(text, valid_at=time, **fields) for text, time in texts]
    await world.given(a_write(*(record for _, records in episodes for record in records)))
    return [episode for episode, _ in episodes]


@pytest.mark.parametrize("has_model", [True, False])
async def test_a_date_in_the_question_lifts_the_episodes_of_that_time(has_model: bool) -> None:
    world = World()
    await given(world, *((f"We talked about tea {day}", at(1662, day, 3)) for day in range(1, 13)))
    world.embedder.is_available = has_model
    for question, reference in (
        ("tea in March 1662", None),
        ("tea last March", "1662-11-01"),
        ("tea on 3 March", "1662-11-01"),
        ("tea two weeks ago", "1662-03-17"),
    ):
        answer = await search(world, question, reference_time=reference)
        assert contents(answer)[0] == "We talked about tea 3", question
        assert (answer.total, answer.truncated) == (None, True)


@pytest.mark.parametrize("has_model", [True, False])
async def test_a_date_may_be_all_that_is_known_of_an_episode(has_model: bool) -> None:
    world = World()
    wanted, _ = await given(world, ("Lorem ipsum", at(2025, 9, 2)), ("Dolor sit amet", at(2025, 9, 3)))
    world.embedder.is_available = has_model
    answer = await search(world, "what happened on 2 September 2025?")
    assert answer.episodes[0].uuid == wanted.uuid
    assert answer.episodes[0].match == ("Lorem ipsum" if has_model else None)


@pytest.mark.parametrize("has_model", [True, False])
async def test_a_date_without_a_year_is_looked_for_in_the_years_of_an_old_journal(has_model: bool) -> None:
    world = World()
    wanted, *_ = await given(
        world, ("Lorem ipsum", at(1663, 9, 2)), ("Dolor sit amet", at(1663, 9, 3)), ("Consectetur", at(1664, 12, 31))
    )
    world.embedder.is_available = has_model
    assert (await search(world, "what happened on 2 September?")).episodes[0].uuid == wanted.uuid


async def test_dates_in_the_question_never_widen_the_filters() -> None:
    world = World()
    await given(world, ("tea one", at(2025, 3, 1)), ("tea two", at(2025, 5, 1)))
    await given(world, ("tea elsewhere", at(2025, 3, 1)), group_id=OTHER_GROUP)
    assert contents(await search(world, "tea in March 2025", valid_after="2025-04")) == ["tea two"]
    page = await search(world, "tea in March 2025")
    assert (contents(page), page.weaker) == (["tea one"], 1)
    assert contents(await search(world, "tea in March 2025", cursor=page.next_cursor)) == ["tea two"]


async def test_the_reference_time_is_a_date_and_part_of_what_a_cursor_is_bound_to() -> None:
    world = World()
    await given(world, *((f"tea {day}", at(2025, 3, day)) for day in range(1, 9)))
    with pytest.raises(InvalidInput, match="reference_time"):
        await search(world, "tea", reference_time="last year")
    cursor = (await search(world, "tea", max_episodes=3)).next_cursor
    with pytest.raises(InvalidCursor):
        await search(world, "tea", max_episodes=3, cursor=cursor, reference_time="2025-03-04")


async def test_pages_of_a_question_with_a_date_bring_each_episode_once() -> None:
    world = World()
    await given(world, *((f"tea {day}", at(2025, 3, day)) for day in range(1, 29)))
    pages = await all_pages(lambda cursor: search(world, "tea last week", max_episodes=5, cursor=cursor))
    uuids = [episode.uuid for page in pages for episode in page.episodes]
    assert len(uuids) == len(set(uuids)) == 28


@pytest.mark.parametrize("mentioned", [0, 1])
async def test_an_entity_named_in_the_question_lifts_the_episodes_that_mention_it(mentioned: int) -> None:
    world = World()
    sarah = an_entity("Sarah")
    names = [a_name(sarah), a_name(sarah, "Sally Smith", is_alias=True)]
    told = await given(world, *(("We drank tea with her", at(2025, 3, day)) for day in (1, 2)))
    await world.given(a_write(sarah, *names, a_mention(told[mentioned], sarah)))
    answer = await search(world, "tea with sally smith?")
    assert [one.uuid for one in answer.episodes] == [told[mentioned].uuid, told[1 - mentioned].uuid]


async def test_a_hit_says_where_its_best_sentence_stands() -> None:
    world = World()
    text = "It rained all day. The budget was cut by half. We went home."
    await given(world, (text, at(2025, 3, 1)))
    (hit,) = (await search(world, "budget cut")).episodes
    assert hit.match_at is not None
    assert text[slice(*hit.match_at)] == hit.match == "The budget was cut by half."
    assert hit.previous is None


@pytest.mark.parametrize(
    ("minutes", "words", "is_found"), [(30, 8, True), (31, 8, False), (1, 8, True), (5, 80, True), (5, 300, False)]
)
async def test_a_message_is_found_by_the_words_of_the_one_before_it(minutes: int, words: int, is_found: bool) -> None:
    world = World()
    asked = at(2026, 3, 1)
    answer = " ".join(["Postgres", *["indeed"] * (words - 1)])
    await given(
        world,
        ("Ben: which database shall bookings use?", asked),
        (answer, asked + timedelta(minutes=minutes)),
        ("Ben: fine.", asked + timedelta(minutes=minutes + 40)),
        source="message",
    )
    world.embedder.is_available = False
    found = contents(await search(world, "database of bookings"))
    assert found[0] == "Ben: which database shall bookings use?"
    assert (answer in found) == is_found
    assert "Ben: fine." not in found


@pytest.mark.parametrize("talk", [1.5, 0])
async def test_of_two_alike_messages_the_one_amid_talk_about_the_query_comes_first_and_says_why(talk: float) -> None:
    world = World(episode_weights=f"talk={talk},neighbour=0,day=0")
    start = at(2026, 3, 1)
    lines = ("The tank is leaking.", "Well, Jim?", "Close the valve now.", "Done.")
    told = await given(
        world,
        *((text, start + timedelta(seconds=20 * number)) for number, text in enumerate(lines)),
        ("Close the valve now.", start + timedelta(days=9)),
        ("Done.", start + timedelta(days=9, seconds=20)),
        source="message",
    )
    inside, outside = told[2].uuid, told[4].uuid
    world.embedder.is_available = False
    found = {one.uuid: one for one in (await search(world, "close valve of the tank")).episodes}
    of_talk = {uuid: found[uuid].why.get("talk", 0) for uuid in (inside, outside)}
    if not talk:
        assert of_talk == {inside: 0, outside: 0}
        assert found[inside].score == found[outside].score
    else:
        assert of_talk[inside] > of_talk[outside]
        assert found[inside].score > found[outside].score


async def test_notes_of_one_sitting_are_no_talk_and_none_loses_to_messages() -> None:
    world = World()
    known = "Dr. Keller says: Mia is allergic to penicillin and to hazelnuts."
    sitting = at(2026, 11, 27)
    chores = ("Called the vet about the penicillin for the cat.", "Bought a bicycle.", "Mia has swimming on Tuesday.")
    await given(
        world,
        (known, at(2026, 1, 10)),
        *((text, sitting + timedelta(seconds=number)) for number, text in enumerate(chores)),
    )
    chat = ("Anna: was it penicillin for Mia?", "Ben: no idea", "Anna: ok")
    talk = [(text, sitting + timedelta(days=1, seconds=20 * number)) for number, text in enumerate(chat)]
    world.embedder.is_available = False
    first = (await search(world, "Mia allergic to penicillin")).episodes[0]
    assert (first.content, "talk" in first.why) == (known, False)
    world.embedder.is_available = True
    await given(world, *talk, source="message")
    world.embedder.is_available = False
    found = (await search(world, "Mia allergic to penicillin")).episodes
    assert found[0].content == known
    assert [one.why.get("talk", 0) > 0 for one in found] == [one.content in chat for one in found]


async def test_messages_gain_nothing_by_their_day_however_late_they_come_in_it_and_notes_do() -> None:
    world = World()
    day = at(2026, 3, 1)
    asked = ("Ann: Where is the boat key?", "Ben: The boat key hangs by the door.", "Ann: Which boat key?")
    chatter = [(f"Ann: hm {number}", day + timedelta(seconds=20 * number)) for number in range(DAY)]
    early, late = [
        await given(
            world,
            *((text, day + timedelta(hours=hours, seconds=20 * number)) for number, text in enumerate(asked)),
            source="message",
        )
        for hours in (-24, 20)
    ]
    await given(world, *chatter, source="message")
    notes = await given(world, *((text[5:], day + timedelta(days=9, hours=hour)) for hour, text in enumerate(asked)))
    world.embedder.is_available = False
    found = {one.uuid: one for one in (await search(world, "boat key")).episodes}
    assert [found[one.uuid].score for one in early] == [found[one.uuid].score for one in late]
    assert not any(found[one.uuid].why.keys() & {"neighbour", "day"} for one in (*early, *late))
    assert all(found[one.uuid].why.keys() >= {"neighbour", "day"} for one in notes)


async def test_the_last_message_of_a_talk_has_its_share_though_only_the_words_are_its_own() -> None:
    world = World()
    start = at(2026, 4, 1)
    lines = ("Ann: morning all", "Bob: hm, one sec", "Ann: The spare key of the boat house hangs behind the blue door.")
    await given(world, *((text, start + timedelta(seconds=30 * at)) for at, text in enumerate(lines)), source="message")
    world.embedder.is_available = False
    (found,) = (await search(world, "spare key of the boat house")).episodes
    assert found.content == lines[-1]
    assert found.why["talk"] > 0


async def test_pages_have_each_message_once_whatever_is_told_between_them() -> None:
    world = World()
    start = at(2026, 4, 1)
    for number in range(10):
        lines = (f"Ann: the {('garden', 'garage')[number % 2]} needs paint {number}", f"Bob: {number} yes", "Ann: fine")
        talk = [(text, start + timedelta(days=number, seconds=30 * at)) for at, text in enumerate(lines)]
        await given(world, *talk, source="message")
    world.embedder.is_available = False

    async def tell() -> None:
        boxes = [(f"Note {number}: the garden is full of boxes.", start) for number in range(12)]
        world.embedder.is_available = True
        await given(world, *boxes, created_at=world.clock.advance(seconds=1))
        world.embedder.is_available = False

    async def ask(cursor: str | None) -> EpisodeSearchResponse:
        return await search(world, "garden garage", max_episodes=4, cursor=cursor)

    alone = [one.uuid for page in await all_pages(ask) for one in page.episodes]
    beside = [one.uuid for page in await all_pages(ask, tell) for one in page.episodes]
    assert len(alone) == len(set(alone)) >= 20
    assert beside == alone


async def test_who_follows_is_asked_for_like_any_other() -> None:
    world = World()
    asked = at(2026, 3, 1)
    anna = an_entity("Anna")
    await given(world, ("Which database?", asked), ("Postgres.", asked + timedelta(minutes=1)), source="message")
    await world.given(a_write(anna))
    world.embedder.is_available = False
    assert contents(await search(world, "database")) == ["Which database?", "Postgres."]
    until = (asked + timedelta(seconds=30)).isoformat()
    assert contents(await search(world, "database", valid_before=until)) == ["Which database?"]
    assert contents(await search(world, "database", entity_uuid=anna.uuid)) == []
    assert contents(await search(world, "database", group_ids=OTHER_GROUP)) == []


async def test_neighbours_come_on_request_from_the_same_group_and_at_most_a_day_away() -> None:
    world = World()
    before, hit, after, _far = await given(
        world,
        ("Good morning", at(2025, 3, 1, 8)),
        ("The budget was cut", at(2025, 3, 1, 9)),
        ("x" * 1_000, at(2025, 3, 2, 8)),
        ("Something else", at(2025, 3, 9)),
    )
    await given(world, ("Elsewhere", at(2025, 3, 1, 9)), group_id=OTHER_GROUP)
    (found,) = (await search(world, "budget cut", neighbours=True)).episodes[:1]
    assert found.uuid == hit.uuid
    assert found.previous is not None
    assert (found.previous.uuid, found.previous.content) == (before.uuid, "Good morning")
    assert found.next is not None
    assert found.next.uuid == after.uuid
    assert len(found.next.content) <= 301


async def test_neighbours_go_along_a_saga_before_they_go_along_time() -> None:
    world = World()
    first, _second, third = await given(
        world, ("budget one", at(2025, 3, 1)), ("tea", at(2025, 3, 1)), ("budget two", at(2025, 6, 1))
    )
    world.graph.tables.episode_links.append((first.uuid, third.uuid))
    by_uuid = {one.uuid: one for one in (await search(world, "budget", neighbours=True)).episodes}
    following, previous = by_uuid[first.uuid].next, by_uuid[third.uuid].previous
    assert following is not None
    assert previous is not None
    assert (following.uuid, previous.uuid) == (third.uuid, first.uuid)


async def test_the_day_of_a_good_hit_lifts_what_was_said_around_it() -> None:
    world = World(episode_weights="neighbour=0.3,day=0.3")
    await given(
        world,
        ("the budget of the garden plan was cut", at(2025, 3, 1, 9)),
        ("a plan", at(2025, 3, 1, 10)),
        ("a plan", at(2025, 5, 1, 10)),
    )
    answer = await search(world, "budget garden plan cut")
    assert [str(one.valid_at)[:7] for one in answer.episodes] == ["2025-03", "2025-03"]
    further = await search(world, "budget garden plan cut", cursor=answer.next_cursor)
    assert [str(one.valid_at)[:7] for one in further.episodes] == ["2025-05"]
    scores = [one.score or 0 for one in (*answer.episodes, *further.episodes)]
    assert scores[1] > scores[2]
    flat = World(episode_weights="neighbour=0,day=0")
    await given(
        flat,
        ("the budget of the garden plan was cut", at(2025, 3, 1, 9)),
        ("a plan", at(2025, 3, 1, 10)),
        ("a plan", at(2025, 5, 1)),
    )
    best = await search(flat, "budget garden plan cut")
    others = await search(flat, "budget garden plan cut", cursor=best.next_cursor)
    equal = [one.score for one in (*best.episodes, *others.episodes)]
    assert equal[1] == equal[2]


async def test_a_word_inside_a_longer_one_is_found_without_a_model() -> None:
    world = World()
    await given(world, ("Die Haushaltsplanung steht.", at(2025, 3, 1)), ("Ein Boot.", at(2025, 3, 2)))
    world.embedder.is_available = False
    for query in ("Planung", "planung", "Haushalt", "wer macht die Planung?"):
        assert contents(await search(world, query))[:1] == ["Die Haushaltsplanung steht."], query
    assert contents(await search(world, "Boote")) in ([], ["Ein Boot."])
