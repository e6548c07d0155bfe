"""Contract of ``Graph``: full text. Words match whole, without case and accents; filters hold inside the query."""

from datetime import timedelta
from typing import Any

import pytest
from tests.builders import RECORDED, a_fact, a_mention, a_name, a_write, an_entity, an_episode, an_update, at

from graphiti_pkm.core.model.names import beginning_term, search_terms
from graphiti_pkm.core.model.queries import COMPARED_QUOTE, EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)


def entities(**fields: Any) -> EntityFilter:
    return EntityFilter(**{"group_ids": ("t1",), **fields})


def facts(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


def episodes(**fields: Any) -> EpisodeFilter:
    return EpisodeFilter(**{"group_ids": ("t1",), **fields})


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("berlin", "She moved to Berlin."),
        ("BERLIN", "She moved to Berlin."),
        ("muller", "Frau Müller kam."),
        ("Müller", "Frau Muller kam."),
        ("Mu\u0308ller", "Frau M\u00fcller kam."),
        ("cafe", "im Café"),
        ("strasse", "in der Straße"),
        ("will", "Will came."),
        ("the", "The Who"),
        ("not", "to be or not to be"),
        ("adr-12", "see ADR-12 for this"),
        ("15.2", "version 15.2 came"),
        ("東京", "私は東京都に住んでいます"),
        ("서울", "나는 서울에 산다"),
        ("שלום", "אמר שלום לכולם"),
        ("москва", "Москва зимой"),
        ("works_at", "the works_at relation"),
        ("what about Berlin?", "Berlin"),
        ('@name:{foo} (bar|baz*) -berlin "x" ~ %', "berlin"),
        ("berlin'", 'she said "berlin"'),
        ("$berlin", "berlin $x"),
        ("x" * 200, "x" * 200),
    ],
)
async def test_an_episode_is_found_by_any_of_its_words(graph: Graph, query: str, content: str) -> None:
    hit, miss = an_episode(content), an_episode("nichts davon")
    await graph.writer.apply(a_write(hit, miss), {})
    assert list(await graph.search.search_episodes(search_terms(query), episodes(), 10)) == [hit.uuid]


@pytest.mark.parametrize(
    ("query", "content"), [("is", "I report to Ines"), ("us", "the letter U"), ("as", "vitamin A")]
)
async def test_a_word_of_two_letters_is_no_form_of_another(graph: Graph, query: str, content: str) -> None:
    hit, miss = an_episode(f"here {query} one"), an_episode(content)
    await graph.writer.apply(a_write(hit, miss), {})
    assert list(await graph.search.search_episodes([query], episodes(), 10)) == [hit.uuid]


async def test_the_words_of_a_name_are_found_too(graph: Graph) -> None:
    episode, entity = an_episode("x", name="Standup of Monday"), an_entity("Harbour bridge")
    await graph.writer.apply(a_write(episode, entity), {})
    assert list(await graph.search.search_episodes(["monday"], episodes(), 10)) == [episode.uuid]
    assert list(await graph.search.search_entities(["bridge"], entities(), 10)) == [entity.uuid]


async def test_a_part_of_a_word_is_not_the_word(graph: Graph) -> None:
    await graph.writer.apply(a_write(an_episode("Bridgehead", name="n"), an_entity("Bridgehead")), {})
    assert await graph.search.search_episodes(["bridge"], episodes(), 10) == {}
    assert await graph.search.search_entities(["head"], entities(), 10) == {}


@pytest.mark.parametrize("query", ["", "  ", "?!", "*", "@:{}", "🙂", "-", "''", "\\"])
async def test_a_query_without_a_word_finds_nothing(graph: Graph, query: str) -> None:
    sarah = an_entity("Sarah 🙂")
    await graph.writer.apply(a_write(an_episode("🙂 ?! *"), sarah, a_fact(sarah, sarah)), {})
    assert await graph.search.search_episodes(search_terms(query), episodes(), 10) == {}
    assert await graph.search.search_entities(search_terms(query), entities(), 10) == {}
    assert await graph.search.search_facts(search_terms(query), facts(), 10) == {}


async def test_more_of_the_words_give_a_better_score(graph: Graph) -> None:
    both, one, none = (an_episode(text, name="n") for text in ("red bridge here", "red tower here", "blue tower here"))
    await graph.writer.apply(a_write(none, one, both), {})
    found = await graph.search.search_episodes(["red", "bridge"], episodes(), 10)
    assert list(found) == [both.uuid, one.uuid]
    assert found[both.uuid] > found[one.uuid] > 0
    assert list(await graph.search.search_episodes(["red", "bridge"], episodes(), 1)) == [both.uuid]


async def test_entities_are_found_by_name_alias_and_summary(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah", summary="climbs mountains"), an_entity("Tom")
    await graph.writer.apply(a_write(sarah, tom, a_name(sarah), a_name(sarah, "Sally Smith"), a_name(tom)), {})
    for word in ("sarah", "sally", "smith", "mountains"):
        assert list(await graph.search.search_entities([word], entities(), 10)) == [sarah.uuid]


async def test_entities_are_found_by_the_beginning_of_a_word(graph: Graph) -> None:
    tobias, tom = an_entity("Tobias"), an_entity("Tom")
    await graph.writer.apply(a_write(tobias, tom), {})
    assert list(await graph.search.search_entities([beginning_term("tobis")], EntityFilter(group_ids=("t1",)), 10)) == [
        tobias.uuid
    ]


async def test_a_later_alias_and_a_new_summary_are_searchable_and_the_old_summary_is_not(graph: Graph) -> None:
    sarah = an_entity("Sarah", summary="climbs mountains")
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    await graph.writer.apply(a_write(a_name(sarah, "Sally")), {})
    assert list(await graph.search.search_entities(["sally"], entities(), 10)) == [sarah.uuid]
    await graph.writer.apply(a_write(sarah.model_copy(update={"summary": "sails boats"})), {})
    assert list(await graph.search.search_entities(["boats"], entities(), 10)) == [sarah.uuid]
    assert list(await graph.search.search_entities(["sally"], entities(), 10)) == [sarah.uuid]
    assert await graph.search.search_entities(["mountains"], entities(), 10) == {}


async def test_entities_are_filtered_by_group_type_and_time(graph: Graph) -> None:
    person, place = an_entity("Paris", label="Person"), an_entity("Paris", label="Place", created_at=at(2025))
    plain, other = an_entity("Paris"), an_entity("Paris", group_id="t2", label="Place")
    await graph.writer.apply(a_write(person, place, plain), {})
    await graph.writer.apply(a_write(other), {})

    async def found(**fields: Any) -> set[str]:
        return set(await graph.search.search_entities(["paris"], entities(**fields), 10))

    assert await found() == {person.uuid, place.uuid, plain.uuid}
    assert await found(labels=("Place",)) == {place.uuid}
    assert await found(labels=("Place", "Person")) == {place.uuid, person.uuid}
    assert await found(labels=("Nothing",)) == set()
    assert await found(group_ids=("t1", "t2"), labels=("Place",)) == {place.uuid, other.uuid}
    assert await found(recorded_until=at(2025)) == {place.uuid}


async def test_facts_are_found_by_relation_and_text(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom, "WORKS_WITH", text="Sarah und Tom arbeiten gemeinsam in Zürich")
    await graph.writer.apply(a_write(sarah, tom, fact, a_fact(sarah, tom, "KNOWS", text="x")), {})
    for word in ("works", "with", "zurich", "tom"):
        assert list(await graph.search.search_facts([word], facts(), 10)) == [fact.uuid]


async def test_the_text_of_a_fact_has_the_names_of_today_and_is_of_the_groups_asked_for(graph: Graph) -> None:
    anna, heron = an_entity("Anna", group_id="t1"), an_entity("Heron", group_id="t1")
    fact = a_fact(anna, heron, "WORKS_ON", text="She leads it", group_id="t1")
    away = a_fact(an_entity("Ben", group_id="t2"), an_entity("Egret", group_id="t2"), "SEES", group_id="t2")
    others = [
        an_entity(name, group_id="t2", uuid=uuid)
        for name, uuid in (("Ben", away.source_uuid), ("Egret", away.target_uuid))
    ]
    await graph.writer.apply(a_write(anna, heron, *others, fact, away), {})
    asked = [away.uuid, fact.uuid, "none"]
    assert await graph.search.fact_texts(asked, ["t1"]) == {fact.uuid: "She leads it WORKS ON Anna Heron"}
    await graph.writer.apply(a_write(anna.model_copy(update={"name": "Anne"})), {})
    assert await graph.search.fact_texts([fact.uuid], ["t1"]) == {fact.uuid: "She leads it WORKS ON Anne Heron"}
    assert await graph.search.fact_texts([], ["t1"]) == {}


async def test_facts_are_found_by_the_words_that_they_quote(graph: Graph) -> None:
    firm, cloud = an_entity("Kestrel"), an_entity("AWS")
    kept = a_fact(
        firm, cloud, "USES", text="Kestrel hosts on AWS", quote="because of audited keys", episodes=("e1", "e2")
    )
    late, same = a_fact(firm, cloud, text="Kestrel pays"), a_fact(firm, cloud, text="as agreed", quote="as agreed")
    await graph.writer.apply(a_write(firm, cloud, kept, late, same), {})

    async def found(word: str) -> list[str]:
        return list(await graph.search.search_facts([word], facts(), 10))

    async def texts(fact: Fact) -> str:
        return (await graph.search.fact_texts([fact.uuid], ("t1",)))[fact.uuid]

    assert await found("audited") == [kept.uuid]
    assert "because of audited keys" in await texts(kept)
    assert (await texts(same)).count("as agreed") == 1
    quoted = an_update(late, quote="thirty monthly instalments")
    for _ in range(2):
        await graph.writer.apply(a_write(quoted), {})
    await graph.writer.apply(a_write(an_update(late, invalid_at=NOW)), {})
    assert await found("instalments") == await found("pays") == [late.uuid]
    await graph.writer.apply(a_write(kept.model_copy(update={"quote": None, "episodes": ("e2",)})), {})
    assert await found("audited") == []
    long = a_fact(firm, cloud, text="Kestrel signs", quote=f"{'clause ' * (COMPARED_QUOTE // 7)}, and arbitration")
    await graph.writer.apply(a_write(long), {})
    assert await found("arbitration") == [long.uuid]
    assert len(await texts(long)) < 100 + COMPARED_QUOTE
    assert "arbitration" not in await texts(long)
    assert "audited" not in await texts(kept)


async def test_facts_are_filtered_inside_the_query(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")

    def told(**fields: Any) -> Any:
        return a_fact(sarah, tom, **{"text": "about bridges", **fields})

    noise = [told(invalid_at=at(2024), expired_at=at(2024), valid_at=at(2023)) for _ in range(30)]
    now, back = told(valid_at=at(2025)), a_fact(tom, sarah, "BUILDS", text="about bridges", kind="event")
    late = told(created_at=at(2027))
    others = [an_entity("A", group_id="t2"), an_entity("B", group_id="t2")]
    other = a_fact(others[0], others[1], text="about bridges")
    await graph.writer.apply(a_write(sarah, tom, *noise, now, back, late), {})
    await graph.writer.apply(a_write(*others, other), {})

    async def found(**fields: Any) -> set[str]:
        return set(await graph.search.search_facts(["bridges"], facts(**fields), 5))

    assert len(await found()) == 5
    assert await found(only_current=True) == {now.uuid, late.uuid}  # a clock that was set back hides nothing
    assert await found(only_current=True, recorded_until=at(2026)) == {now.uuid}
    assert await found(relations=("BUILDS",)) == {back.uuid}
    assert await found(valid_after=at(2025)) == {now.uuid}
    assert await found(only_current=True, group_ids=("t1", "t2")) == {now.uuid, late.uuid, other.uuid}
    assert await found(as_of=at(2023, 6)) & {now.uuid} == set()
    assert await found(invalid_after=at(2025)) == set()
    assert len(await found(invalid_before=at(2025))) == 5
    assert await found(now=at(2027), valid_after=at(2025), only_current=True) == {now.uuid}


async def test_episodes_are_filtered_inside_the_query(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    noise = [an_episode("about bridges", valid_at=at(2024)) for _ in range(30)]
    told, early = an_episode("about bridges", valid_at=at(2025)), an_episode("about bridges", created_at=at(2020))
    await graph.writer.apply(a_write(sarah, *noise, told, early, a_mention(told, sarah)), {})
    await graph.writer.apply(a_write(an_episode("about bridges", group_id="t2", valid_at=at(2026))), {})

    async def found(**fields: Any) -> set[str]:
        return set(await graph.search.search_episodes(["bridges"], episodes(**fields), 5))

    assert len(await found()) == 5
    assert await found(entity_uuid=sarah.uuid) == {told.uuid}
    assert await found(valid_after=at(2025, 1)) == {told.uuid, early.uuid}
    assert await found(valid_after=at(2025), recorded_until=at(2021)) == {early.uuid}
    assert len(await found(valid_before=at(2025))) == 5
    assert await found(group_ids=("t3",)) == set()


async def test_another_groups_hits_do_not_crowd_out_ones_own(graph: Graph) -> None:
    await graph.writer.apply(a_write(*(an_episode("bridge bridge bridge", group_id="t2") for _ in range(50))), {})
    own = an_episode("one bridge among many other words of a long note", group_id="t-1")
    await graph.writer.apply(a_write(own), {})
    assert list(await graph.search.search_episodes(["bridge"], episodes(group_ids=("t-1",)), 3)) == [own.uuid]


async def test_what_was_deleted_is_not_found(graph: Graph) -> None:
    episode, sarah, tom = an_episode("bridge"), an_entity("bridge"), an_entity("Tom")
    fact = a_fact(sarah, tom, text="bridge")
    await graph.writer.apply(a_write(episode, sarah, tom, a_name(sarah), fact), {})
    gone = {"episodes": (episode.uuid,), "entities": (sarah.uuid,), "facts": (fact.uuid,)}
    await graph.writer.apply(a_write(deletions=gone), {})
    assert await graph.search.search_episodes(["bridge"], episodes(), 10) == {}
    assert await graph.search.search_entities(["bridge"], entities(), 10) == {}
    assert await graph.search.search_facts(["bridge"], facts(), 10) == {}


async def test_what_was_just_written_is_found_at_once(graph: Graph) -> None:
    for number in range(20):
        episode = an_episode(f"word{number}")
        await graph.writer.apply(a_write(episode), {})
        assert list(await graph.search.search_episodes([f"word{number}"], episodes(), 10)) == [episode.uuid]


async def test_the_stems_of_episodes_are_counted_with_their_positions_in_the_groups_asked_for(graph: Graph) -> None:
    told = an_episode("Boats and fire-works, boating; the Haushaltsplanung.", name="A boat", valid_at=at(2025, 3))
    none, elsewhere = an_episode("Nothing of it."), an_episode("A boat.", group_id="t2")
    await graph.writer.apply(a_write(told, none, elsewhere), {})
    uuids = [told.uuid, none.uuid, elsewhere.uuid, "unknown", told.uuid]
    found = await graph.search.episode_words(uuids, ["boat", "firework", "train"], ["planung", "xyz"], ["t1"])
    assert found.keys() == {told.uuid, none.uuid}
    place, counts = found[told.uuid]
    assert (place.group_id, place.valid_at, place.created_at) == ("t1", told.valid_at, told.created_at)
    assert counts.counts == {"boat": 3, "firework": 1}
    assert counts.inside == {"planung": 1}
    assert counts.length == 10
    assert (found[none.uuid].counts.counts, found[none.uuid].counts.inside) == ({}, {})
    assert await graph.search.episode_words([], ["boat"], [], ["t1"]) == {}


async def test_the_episodes_that_have_a_word_are_counted_in_the_groups_asked_for(graph: Graph) -> None:
    told = [an_episode(text, group_id="t1") for text in ("A boat and a boat.", "Two boats.", "A train.")]
    await graph.writer.apply(a_write(*told), {})
    await graph.writer.apply(a_write(an_episode("A boat.", group_id="t2")), {})
    holding = graph.search.episodes_holding
    one, both, none = (EpisodeFilter(group_ids=groups) for groups in (("t1",), ("t1", "t2"), ()))
    assert await holding(["boat", "train", "plane"], one) == {"boat": 2, "train": 1}
    assert await holding(["boat"], both) == {"boat": 3}
    assert await holding(["boat"], none) == await holding([], one) == {}
    later = RECORDED + timedelta(hours=1)
    await graph.writer.apply(a_write(an_episode("A boat on a train on a plane.", created_at=later)), {})
    until = {"recorded_until": RECORDED + timedelta(minutes=1)}
    assert await holding(["boat", "train", "plane"], one) == {"boat": 3, "train": 2, "plane": 1}
    assert await holding(["boat", "train", "plane"], one.model_copy(update=until)) == {"boat": 2, "train": 1}


async def test_stems_follow_a_text_that_is_written_again(graph: Graph) -> None:
    episode = an_episode("A boat.")
    await graph.writer.apply(a_write(episode), {})
    await graph.writer.apply(a_write(episode.model_copy(update={"content": "Two trains and a train."})), {})
    found = await graph.search.episode_words([episode.uuid], ["boat", "train"], [], ["t1"])
    assert found[episode.uuid].counts.counts == {"train": 2}
