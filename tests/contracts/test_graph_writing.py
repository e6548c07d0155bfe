"""Contract of ``Graph``: writes are whole, repeatable, and name-safe under concurrency."""

import asyncio
from itertools import pairwise

import pytest
from tests.builders import (
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_update,
    at,
)
from tests.fakes import FakeEmbedder

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import Entity, Episode, FactUpdate, WriteIntent
from graphiti_pkm.core.ports.graph import Graph


async def snapshot(graph: Graph, write: WriteIntent) -> list[object]:
    """Everything that can be read of the records of a write."""
    group = [write.group_id]
    entities = [entity.uuid for entity in write.entities]
    book = await graph.records.name_book(write.group_id, None)
    return [
        await graph.records.groups(),
        await graph.records.group_sizes(group),
        await graph.records.get_episodes([one.uuid for one in write.episodes], group),
        await graph.records.get_entities(entities, group),
        await graph.records.get_facts([one.uuid for one in write.facts], group),
        await graph.records.get_names([one.key for one in write.names]),
        sorted(name.model_dump_json() for name in book.names) if book else None,
        await graph.records.entity_support(entities),
        [await graph.episodes.passages(one.uuid, without_vector=False, limit=100) for one in write.episodes],
        [await graph.episodes.passages(one.uuid, without_vector=True, limit=100) for one in write.episodes],
    ]


def whole_write() -> WriteIntent:
    """A write with everything that a write can hold but deletions."""
    episode = an_episode("Sarah manages Tom. Tom lives in Berlin.")
    people = [an_entity("Sarah"), an_entity("Tom"), an_entity("Berlin")]
    facts = [a_fact(one, other, episodes=(episode.uuid,)) for one, other in pairwise(people)]
    return a_write(
        episode,
        *people,
        *map(a_name, people),
        a_name(people[0], "Sal"),
        *facts,
        *(a_mention(episode, one) for one in people),
        a_passage(episode, 0, 18),
        a_passage(episode, 19, 39, sentence=1),
        corrected_episodes=(episode.uuid,),
    )


async def test_a_write_leaves_its_marker(graph: Graph) -> None:
    write, other = whole_write(), whole_write()
    assert await graph.writer.applied([write.uuid]) == set()
    await graph.writer.apply(write, {})
    assert await graph.writer.applied([write.uuid, other.uuid]) == {write.uuid}
    assert await graph.writer.applied([]) == set()


async def test_applying_a_write_twice_is_applying_it_once(graph: Graph) -> None:
    write = whole_write()
    embedded = [write.passages[0].uuid, *(one.uuid for one in write.entities), *(one.uuid for one in write.facts)]
    vectors = dict(zip(embedded, await FakeEmbedder().embed(embedded), strict=True))
    await graph.writer.apply(write, vectors)
    once = await snapshot(graph, write)
    await graph.writer.apply(write, vectors)
    assert await snapshot(graph, write) == once
    assert once[1] == {"t1": GroupSize(episodes=1, entities=3, facts=2)}


async def test_a_write_that_was_half_applied_is_completed_by_applying_it_again(graph: Graph) -> None:
    write = whole_write()
    part = {"facts": (), "mentions": write.mentions[:1], "passages": write.passages[:1], "corrected_episodes": ()}
    await graph.writer.apply(write.model_copy(update={"uuid": "another", **part}), {})
    await graph.writer.apply(write, {})
    half = await snapshot(graph, write)
    await graph.clear()
    await graph.writer.apply(write, {})
    assert await snapshot(graph, write) == half


async def test_repeating_an_older_write_brings_no_older_values_back(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah", summary="old"), an_entity("Tom")
    fact = a_fact(sarah, tom, valid_at=at(2025))
    first = a_write(sarah, tom, fact)
    ended = an_update(fact, invalid_at=at(2026), expired_at=at(2026))
    second = a_write(sarah.model_copy(update={"summary": "new"}), ended)
    for write in (first, second, first):
        await graph.writer.apply(write, {})
    assert (await graph.records.get_entities([sarah.uuid], ["t1"]))[0].summary == "new"
    assert (await graph.records.get_facts([fact.uuid], ["t1"]))[0].invalid_at == at(2026)


async def test_repeating_an_older_write_brings_nothing_forgotten_back(graph: Graph) -> None:
    write = whole_write()
    await graph.writer.apply(write, {})
    gone = {
        "episodes": tuple(one.uuid for one in write.episodes),
        "entities": tuple(one.uuid for one in write.entities),
        "facts": tuple(one.uuid for one in write.facts),
    }
    await graph.writer.apply(a_write(deletions=gone), {})
    await graph.writer.apply(write, {})
    assert await graph.records.groups() == []


async def test_the_first_holder_of_a_name_keeps_it(graph: Graph) -> None:
    first, second = an_entity("User Service"), an_entity("user-service")
    await graph.writer.apply(a_write(first, a_name(first)), {})
    await graph.writer.apply(a_write(second, a_name(second)), {})
    key = name_key("t1", "userservice")
    assert await graph.records.get_names([key]) == {key: a_name(first)}
    assert (await graph.records.get_entities([second.uuid], ["t1"])) == [second]


async def test_an_alias_does_not_take_a_name_from_its_holder(graph: Graph) -> None:
    will, tom = an_entity("Will"), an_entity("Tom")
    await graph.writer.apply(a_write(will, a_name(will)), {})
    await graph.writer.apply(a_write(tom, a_name(tom), a_name(tom, "will")), {})
    assert (await graph.records.get_names([a_name(will).key]))[a_name(will).key].entity_uuid == will.uuid
    assert (await graph.records.aliases([tom.uuid], 10)).get(tom.uuid, []) == []


async def test_writers_racing_for_one_name_leave_one_holder(graph: Graph) -> None:
    racers = [an_entity("Sarah") for _ in range(8)]
    await asyncio.gather(*(graph.writer.apply(a_write(one, a_name(one)), {}) for one in racers))
    key = a_name(racers[0]).key
    holder = (await graph.records.get_names([key]))[key].entity_uuid
    assert holder in {one.uuid for one in racers}
    book = await graph.records.name_book("t1", None)
    assert book is not None
    assert [name.entity_uuid for name in book.names] == [holder]
    late = an_entity("Sarah")
    await graph.writer.apply(a_write(late, a_name(late)), {})
    assert (await graph.records.get_names([key]))[key].entity_uuid == holder


async def test_a_name_becomes_free_when_its_holder_is_deleted(graph: Graph) -> None:
    first, second = an_entity("Sarah"), an_entity("Sarah")
    await graph.writer.apply(a_write(first, a_name(first)), {})
    await graph.writer.apply(a_write(deletions={"entities": (first.uuid,)}), {})
    assert await graph.records.get_names([a_name(first).key]) == {}
    await graph.writer.apply(a_write(second, a_name(second)), {})
    assert (await graph.records.get_names([a_name(second).key]))[a_name(second).key].entity_uuid == second.uuid


async def test_the_same_name_in_two_groups_belongs_to_two_entities(graph: Graph) -> None:
    own, other = an_entity("Sarah"), an_entity("Sarah", group_id="t2")
    await graph.writer.apply(a_write(own, a_name(own)), {})
    await graph.writer.apply(a_write(other, a_name(other)), {})
    names = await graph.records.get_names([a_name(own).key, a_name(other).key])
    assert {name.entity_uuid for name in names.values()} == {own.uuid, other.uuid}


@pytest.mark.parametrize("text", ["a\x01b\x1fc\x7fd", "\x01", "x" * 5000, "東" * 5000, "ﷺ" * 200, "\U0010ffff" * 2000])
async def test_strange_names_are_unique_too(graph: Graph, text: str) -> None:
    first, second = an_entity(text), an_entity(text)
    await graph.writer.apply(a_write(first, a_name(first)), {})
    await graph.writer.apply(a_write(second, a_name(second)), {})
    names = await graph.records.get_names([a_name(first).key])
    assert names == {a_name(first).key: a_name(first)}


async def test_names_of_nothing_but_joiners_are_names_too(graph: Graph) -> None:
    dash = an_entity("---")
    await graph.writer.apply(a_write(dash, a_name(dash)), {})
    assert (await graph.records.get_names([name_key("t1", "_")]))[name_key("t1", "-")].entity_uuid == dash.uuid


async def test_concurrent_writes_are_all_there(graph: Graph) -> None:
    writes = [a_write(an_episode(name=str(i)), an_entity(f"N{i}")) for i in range(20)]
    await asyncio.gather(*(graph.writer.apply(write, {}) for write in writes))
    assert await graph.records.group_sizes(["t1"]) == {"t1": GroupSize(episodes=20, entities=20, facts=0)}
    assert await graph.writer.applied([write.uuid for write in writes]) == {write.uuid for write in writes}


async def test_that_a_model_wrote_a_summary_is_kept_until_a_caller_gives_one(graph: Graph) -> None:
    sarah = an_entity("Sarah", summary="A friend", summary_by_model=True, attributes={"city": "Berlin"})
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    assert await graph.records.get_entities([sarah.uuid], ["t1"]) == [sarah]
    told = sarah.model_copy(update={"summary": "The manager", "summary_by_model": False})
    await graph.writer.apply(a_write(told), {})
    assert await graph.records.get_entities([sarah.uuid], ["t1"]) == [told]


async def test_an_entity_gets_a_new_summary_type_and_attributes(graph: Graph) -> None:
    sarah = an_entity("Sarah", label="Person", summary="A friend", attributes={"city": "Berlin", "age": 41})
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    changed = sarah.model_copy(update={"label": "Manager", "summary": "The manager", "attributes": {"city": "Bonn"}})
    await graph.writer.apply(a_write(changed), {})
    assert await graph.records.get_entities([sarah.uuid], ["t1"]) == [changed]
    assert await graph.records.get_names([a_name(sarah).key]) == {a_name(sarah).key: a_name(sarah)}


async def test_a_fact_update_replaces_its_values_and_nothing_else(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom, valid_at=at(2025), value="daily", quote="met", quote_start=0, episodes=("e1",))
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    values = {"episodes": ("e1", "e2"), "invalid_at": at(2025, 6), "expired_at": at(2026, 2), "voided": True}
    await graph.writer.apply(a_write(an_update(fact, **values)), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact.model_copy(update=values)]


async def test_a_fact_update_can_take_an_end_away_again(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom, valid_at=at(2025), invalid_at=at(2026), expired_at=at(2026), voided=True)
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    open_again = {"valid_at": None, "invalid_at": None, "expired_at": None, "voided": False}
    await graph.writer.apply(a_write(an_update(fact, **open_again)), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact.model_copy(update=open_again)]


async def test_a_fact_update_may_bring_a_quote_and_one_without_leaves_it(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom)
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    words = {"quote": "they met", "quote_start": 0, "quote_end": 8, "quote_episode_uuid": "e1"}
    await graph.writer.apply(a_write(an_update(fact, **words)), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact.model_copy(update=words)]
    older = an_update(fact, invalid_at=at(2026)).model_dump(mode="json", exclude=set(words))
    await graph.writer.apply(a_write(FactUpdate.model_validate(older)), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [
        fact.model_copy(update={**words, "invalid_at": at(2026)})
    ]


async def test_a_fact_update_changes_attributes_and_leaves_the_others(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom, attributes={"mood": "calm", "place": "Bonn", "count": 2})
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    patch = {"mood": None, "place": "Köln", "open": True}
    for _ in range(2):
        await graph.writer.apply(a_write(an_update(fact, attributes=patch)), {})
    left = {"place": "Köln", "open": True, "count": 2}
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [fact.model_copy(update={"attributes": left})]
    older = an_update(fact).model_dump(mode="json", exclude={"attributes"})
    await graph.writer.apply(a_write(FactUpdate.model_validate(older)), {})
    assert (await graph.records.get_facts([fact.uuid], ["t1"]))[0].attributes == left


async def test_an_update_of_an_unknown_fact_makes_no_fact(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom)
    await graph.writer.apply(a_write(sarah, tom, an_update(fact, voided=True)), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == []
    assert (await graph.records.group_sizes(["t1"]))["t1"].facts == 0


async def test_an_episode_mentions_an_entity_at_most_once(graph: Graph) -> None:
    episode, sarah = an_episode(), an_entity()
    await graph.writer.apply(a_write(episode, sarah, a_mention(episode, sarah)), {})
    await graph.writer.apply(a_write(a_mention(episode, sarah)), {})
    assert await graph.records.entity_support([sarah.uuid]) == {sarah.uuid: (1, 0)}


async def test_what_hangs_on_something_forgotten_meanwhile_is_not_kept(graph: Graph) -> None:
    episode, sarah = an_episode(), an_entity("Sarah")
    gone_episode, gone_entity = an_episode(), an_entity("Tom")
    late = a_write(
        episode,
        sarah,
        a_fact(sarah, gone_entity),
        a_mention(gone_episode, sarah),
        a_mention(episode, gone_entity),
        a_passage(gone_episode),
        corrected_episodes=(gone_episode.uuid,),
    )
    await graph.writer.apply(late, {})
    assert await graph.records.group_sizes(["t1"]) == {"t1": GroupSize(episodes=1, entities=1, facts=0)}
    assert await graph.records.entity_support([sarah.uuid]) == {sarah.uuid: (0, 0)}
    assert await graph.episodes.passages(gone_episode.uuid, without_vector=False, limit=10) == []
    assert await graph.writer.applied([late.uuid]) == {late.uuid}


async def test_an_episode_is_marked_as_corrected(graph: Graph) -> None:
    told, other = an_episode(), an_episode()
    await graph.writer.apply(a_write(told, other), {})
    await graph.writer.apply(a_write(corrected_episodes=(told.uuid,)), {})
    marks = [episode.corrected for episode in await graph.records.get_episodes([told.uuid, other.uuid], ["t1"])]
    assert marks == [True, False]


class Story:
    """Two episodes about three people: the first alone supports Tom and the fact about him."""

    def __init__(self) -> None:
        self.first = an_episode("Sarah manages Tom. Ann came.")
        self.second = an_episode("Sarah met Ann.")
        self.sarah, self.tom, self.ann = an_entity("Sarah"), an_entity("Tom"), an_entity("Ann")
        self.manages = a_fact(self.sarah, self.tom, "MANAGES", episodes=(self.first.uuid,))
        self.met = a_fact(self.sarah, self.ann, "MET", episodes=(self.first.uuid, self.second.uuid))
        self.knows = a_fact(self.sarah, self.ann, "KNOWS", episodes=(self.second.uuid,))
        self.mentioned = [(self.first, (self.sarah, self.tom, self.ann)), (self.second, (self.sarah, self.ann))]

    @property
    def people(self) -> tuple[Entity, Entity, Entity]:
        return self.sarah, self.tom, self.ann

    @property
    def episodes(self) -> tuple[Episode, Episode]:
        return self.first, self.second

    def write(self) -> WriteIntent:
        mentions = [a_mention(episode, one) for episode, people in self.mentioned for one in people]
        return a_write(
            *self.episodes,
            *self.people,
            *map(a_name, self.people),
            a_name(self.tom, "Tommy"),
            self.manages,
            self.met,
            self.knows,
            *mentions,
            a_passage(self.first, 0, 18),
            a_passage(self.second),
        )


async def test_deleting_an_episode_and_what_only_it_supported_leaves_all_the_rest(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.write(), {})
    kept = an_update(story.met, episodes=(story.second.uuid,))
    gone = {"episodes": (story.first.uuid,), "entities": (story.tom.uuid,), "facts": (story.manages.uuid,)}
    await graph.writer.apply(a_write(kept, deletions=gone), {})
    assert await graph.records.get_episodes([one.uuid for one in story.episodes], ["t1"]) == [story.second]
    assert await graph.records.get_entities([one.uuid for one in story.people], ["t1"]) == [story.sarah, story.ann]
    facts = await graph.records.get_facts([story.manages.uuid, story.met.uuid, story.knows.uuid], ["t1"])
    assert facts == [story.met.model_copy(update={"episodes": (story.second.uuid,)}), story.knows]
    assert await graph.episodes.passages(story.first.uuid, without_vector=False, limit=10) == []
    assert len(await graph.episodes.passages(story.second.uuid, without_vector=False, limit=10)) == 1
    support = await graph.records.entity_support([story.sarah.uuid, story.ann.uuid])
    assert support == {story.sarah.uuid: (1, 2), story.ann.uuid: (1, 2)}
    tom = [a_name(story.tom).key, a_name(story.tom, "Tommy").key]
    assert await graph.records.get_names([*tom, a_name(story.ann).key]) == {a_name(story.ann).key: a_name(story.ann)}


async def test_deleting_an_episode_alone_leaves_entities_and_facts(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.write(), {})
    await graph.writer.apply(a_write(deletions={"episodes": (story.first.uuid,)}), {})
    assert await graph.records.group_sizes(["t1"]) == {"t1": GroupSize(episodes=1, entities=3, facts=3)}
    assert (await graph.records.entity_support([story.tom.uuid])) == {story.tom.uuid: (0, 1)}


async def test_deleting_a_fact_leaves_the_other_facts_between_its_ends(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.write(), {})
    await graph.writer.apply(a_write(deletions={"facts": (story.met.uuid,)}), {})
    assert await graph.records.get_facts([story.met.uuid, story.knows.uuid], ["t1"]) == [story.knows]
    assert await graph.records.group_sizes(["t1"]) == {"t1": GroupSize(episodes=2, entities=3, facts=2)}


async def test_deleting_what_is_not_there_changes_nothing(graph: Graph) -> None:
    story = Story()
    write = story.write()
    await graph.writer.apply(write, {})
    before = await snapshot(graph, write)
    nothing = {"episodes": ("nothing",), "entities": (story.first.uuid,), "facts": (story.sarah.uuid,)}
    await graph.writer.apply(a_write(deletions=nothing), {})
    assert await snapshot(graph, write) == before


async def test_a_group_is_gone_once_everything_in_it_is(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.write(), {})
    gone = {
        "episodes": tuple(one.uuid for one in story.episodes),
        "entities": tuple(one.uuid for one in story.people),
        "facts": (story.manages.uuid, story.met.uuid, story.knows.uuid),
    }
    await graph.writer.apply(a_write(deletions=gone), {})
    assert await graph.records.groups() == []
    assert await graph.records.group_sizes(["t1"]) == {"t1": GroupSize(episodes=0, entities=0, facts=0)}


async def test_clearing_removes_everything_with_the_markers_and_the_graph_works_again(graph: Graph) -> None:
    write = whole_write()
    await graph.writer.apply(write, {})
    full = await snapshot(graph, write)
    await graph.clear()
    assert await graph.records.groups() == []
    assert await graph.writer.applied([write.uuid]) == set()
    assert await graph.records.get_names([name.key for name in write.names]) == {}
    await graph.writer.apply(write, {})
    assert await snapshot(graph, write) == full
    assert await graph.ready()


async def test_what_was_written_becomes_durable(graph: Graph) -> None:
    await graph.writer.apply(whole_write(), {})
    assert await graph.writer.wait_durable()


async def test_the_embedding_model_is_recorded_once(graph: Graph) -> None:
    assert await graph.embeddings.embedding() is None
    await graph.embeddings.record_embedding("mini", 384)
    await graph.embeddings.record_embedding("large", 1536)
    assert await graph.embeddings.embedding() == ("mini", 384)


async def test_a_graph_that_answers_is_ready(graph: Graph) -> None:
    assert await graph.ready()


async def test_a_graph_that_takes_writes_has_no_reason_not_to(graph: Graph) -> None:
    assert await graph.writer.refusal() is None
    await graph.writer.apply(a_write(an_episode()), {})
    assert await graph.writer.refusal() is None
