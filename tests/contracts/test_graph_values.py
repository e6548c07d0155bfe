"""Contract of ``Graph``: what is written comes back identical."""

from datetime import UTC, datetime

import pytest
from tests.builders import a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.fakes import FakeEmbedder

from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import EpisodeSource, FactKind
from graphiti_pkm.core.ports.graph import Graph

TEXTS = {
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 é vs é",
    "right to left": "שלום עולם — مرحبا بالعالم \u202eabc\u202c",
    "chinese, japanese, korean": "東京に住んでいます。我在北京。서울에 삽니다. 𠮷野家",
    "quotes and escapes": "'single' \"double\" `back` \\ \\n \\u0041 $x {a: 1} -- /* */ // ;",
    "line ends and spaces": "  one\r\ntwo\n\n\tthree\u2028four\u00a0 ",
    "control characters": "bell \x07 escape \x1b unit \x1f delete \x7f one \x01",
    "query syntax": "CYPHER uuid='x' MATCH (n) DETACH DELETE n RETURN @name:{a|b}",
    "combining marks": "A\u030a vs \u00c5, n\u0303, zalgo \u0316\u0317\u0318",
    "edges of planes": "\ufffd \uffff \U0010ffff \ue000",
    "words that are not values": "null",
    "a number": "12e3",
    "empty": "",
    "a million": "naïve résumé 東京 🙂 " * 50_000,
}
INSTANTS = {
    "year one": datetime(1, 1, 1, tzinfo=UTC),
    "before the Julian reform": datetime(1066, 10, 14, 9, 0, tzinfo=UTC),
    "before 1900": datetime(1660, 1, 1, 23, 59, 59, 999999, tzinfo=UTC),
    "before the epoch": datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
    "a microsecond": datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
    "the last instant": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_the_content_of_an_episode_comes_back_identical(graph: Graph, text: str) -> None:
    episode = an_episode(text, source_description=text[:200])
    await graph.writer.apply(a_write(episode), {})
    assert await graph.records.get_episodes([episode.uuid], ["t1"]) == [episode]


@pytest.mark.parametrize("text", [text for text in TEXTS.values() if 0 < len(text) < 1000])
async def test_names_facts_and_summaries_come_back_identical(graph: Graph, text: str) -> None:
    one, other = an_entity(text, summary=text), an_entity("Tom")
    fact = a_fact(one, other, text=text, quote=text, value=text, unit=text, attributes={"note": text})
    await graph.writer.apply(a_write(one, other, a_name(one), fact), {})
    assert await graph.records.get_entities([one.uuid], ["t1"]) == [one]
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact]
    assert await graph.records.get_names([a_name(one).key]) == {a_name(one).key: a_name(one)}


@pytest.mark.parametrize("instant", INSTANTS.values(), ids=INSTANTS.keys())
async def test_instants_come_back_to_the_microsecond(graph: Graph, instant: datetime) -> None:
    sarah, tom = an_entity("Sarah", created_at=instant), an_entity("Tom")
    episode = an_episode(valid_at=instant, created_at=instant)
    fact = a_fact(
        sarah,
        tom,
        valid_at=instant,
        invalid_at=instant,
        reference_time=instant,
        created_at=instant,
        expired_at=instant,
    )
    await graph.writer.apply(a_write(sarah, tom, episode, fact), {})
    assert await graph.records.get_episodes([episode.uuid], ["t1"]) == [episode]
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact]
    assert await graph.records.get_entities([sarah.uuid], ["t1"]) == [sarah]
    assert (await graph.records.get_episodes([episode.uuid], ["t1"]))[0].valid_at.utcoffset() is not None


async def test_instants_of_all_ages_are_in_order(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    episodes = [an_episode(valid_at=instant) for instant in INSTANTS.values()]
    facts = [a_fact(sarah, sarah, valid_at=instant) for instant in INSTANTS.values()]
    await graph.writer.apply(a_write(sarah, *episodes, *facts, *(a_mention(one, sarah) for one in episodes)), {})
    wanted = EpisodeFilter(group_ids=("t1",))
    oldest = await graph.episodes.timeline(sarah.uuid, wanted, Window(limit=10, newest=False))
    assert [one.valid_at for one in oldest.episodes] == sorted(INSTANTS.values())
    newest = await graph.episodes.recent_episodes(wanted, Window(limit=10))
    assert [one.valid_at for one in newest.episodes] == sorted(INSTANTS.values(), reverse=True)
    held = await graph.facts.connections(sarah.uuid, FactFilter(group_ids=("t1",), now=at(2026, 6)), Window(limit=10))
    current = [one.valid_at for one in held.facts if one.valid_at and one.valid_at <= at(2026, 6)]
    assert current == sorted(current, reverse=True)
    summary = await graph.episodes.timeline_summary(sarah.uuid, wanted, UTC)
    assert (summary.first, summary.last, summary.total) == (min(INSTANTS.values()), max(INSTANTS.values()), 6)


@pytest.mark.parametrize("kind", ["state", "event", "plan", "reading"])
async def test_every_field_of_a_fact_comes_back(graph: Graph, kind: FactKind) -> None:
    sarah, sleep = an_entity("Sarah"), an_entity("sleep")
    fact = a_fact(
        sarah,
        sleep,
        "SLEPT_FOR",
        kind=kind,
        measure="sleep",
        value="6.5",
        unit="hours",
        quote="slept 6.5 hours",
        quote_start=7,
        quote_end=22,
        quote_episode_uuid="11111111-0000-4000-8000-000000000000",
        valid_at=at(2025, 2),
        invalid_at=at(2025, 3),
        reference_time=at(2025, 4),
        expired_at=at(2025, 5),
        voided=True,
        episodes=("b", "a", "c"),
        attributes={"strength": 3, "share": 0.25, "sure": True, "tags": ["x", "y"], "by": "someone"},
    )
    await graph.writer.apply(a_write(sarah, sleep, fact), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact]


async def test_a_fact_without_optional_fields_has_none_of_them(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom)
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact]


@pytest.mark.parametrize("source", ["text", "message", "json", "fact_triple"])
async def test_every_field_of_an_episode_comes_back(graph: Graph, source: EpisodeSource) -> None:
    episode = an_episode(
        "A", name="Note", source=source, source_description="chat", valid_at=at(2025, 5), corrected=True
    )
    await graph.writer.apply(a_write(episode), {})
    assert await graph.records.get_episodes([episode.uuid], ["t1"]) == [episode]


@pytest.mark.parametrize("label", ["Person", "WorkItem", "Work_Item", "Entity2", None])
async def test_every_field_of_an_entity_comes_back(graph: Graph, label: str | None) -> None:
    entity = an_entity("Sarah", label=label, summary="A friend", attributes={"age": 41, "langs": ["de", "en"]})
    await graph.writer.apply(a_write(entity), {})
    assert await graph.records.get_entities([entity.uuid], ["t1"]) == [entity]


async def test_a_fact_may_join_an_entity_with_itself(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah, "TRUSTS")
    await graph.writer.apply(a_write(sarah, fact), {})
    page = await graph.facts.connections(sarah.uuid, FactFilter(group_ids=("t1",), now=at(2026, 6)), Window(limit=10))
    assert (page.facts, page.total) == ((fact,), 1)
    assert await graph.records.entity_support([sarah.uuid]) == {sarah.uuid: (0, 1)}


async def test_passages_come_back_by_offset(graph: Graph) -> None:
    episode = an_episode("One. Two.\n\nThree.")
    passages = [
        a_passage(episode, 0, 4),
        a_passage(episode, 5, 9, sentence=1),
        a_passage(episode, 11, 17, paragraph=1),
    ]
    await graph.writer.apply(a_write(episode, *reversed(passages)), {})
    assert await graph.episodes.passages(episode.uuid, without_vector=False, limit=10) == passages
    assert await graph.episodes.passages(episode.uuid, without_vector=False, limit=2) == passages[:2]


async def test_no_answer_holds_an_embedding(graph: Graph) -> None:
    episode, sarah, tom = an_episode(), an_entity("Sarah"), an_entity("Tom")
    fact, passage = a_fact(sarah, tom, episodes=(episode.uuid,)), a_passage(episode)
    embedded = [sarah.uuid, tom.uuid, fact.uuid, passage.uuid]
    vectors = dict(zip(embedded, await FakeEmbedder().embed(embedded), strict=True))
    await graph.writer.apply(a_write(episode, sarah, tom, fact, passage, a_mention(episode, sarah)), vectors)
    groups, window = ["t1"], Window(limit=10)
    facts = await graph.facts.connections(sarah.uuid, FactFilter(group_ids=("t1",), now=at(2026, 6)), window)
    assert await graph.records.get_entities([sarah.uuid, tom.uuid], groups) == [sarah, tom]
    assert await graph.records.get_facts([fact.uuid], groups) == [fact]
    assert facts.facts == (fact,)
    assert await graph.episodes.episode_entities([episode.uuid], groups, window) == ([sarah], 1)
    assert await graph.facts.episode_facts(episode.uuid, groups, 10) == [fact]
    assert await graph.records.get_episodes([episode.uuid], groups) == [episode]
    assert await graph.episodes.passages(episode.uuid, without_vector=False, limit=10) == [passage]
