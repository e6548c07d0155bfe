"""Contract of ``Graph``: reads by uuid, prefix and name."""

import pytest
from tests.builders import a_fact, a_mention, a_name, a_write, an_entity, an_episode, an_intent

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import Forgetting, Record, RemainingNames
from graphiti_pkm.core.ports.graph import Graph, RecordKind

BOTH = ("t1", "t2")


async def test_an_empty_graph_holds_no_groups(graph: Graph) -> None:
    assert await graph.records.groups() == []


async def test_groups_that_hold_something_are_listed_in_alphabetical_order(graph: Graph) -> None:
    await graph.writer.apply(a_write(an_episode(group_id="work")), {})
    await graph.writer.apply(a_write(an_entity(group_id="home-2")), {})
    await graph.writer.apply(a_write(an_episode(group_id="Home_1")), {})
    assert await graph.records.groups() == ["Home_1", "home-2", "work"]


@pytest.mark.parametrize("kind", ["entity", "fact", "episode"])
async def test_a_prefix_finds_the_uuids_of_one_kind_in_order(graph: Graph, kind: RecordKind) -> None:
    uuids = [f"12345678-0000-4000-8000-00000000000{i}" for i in range(4)]
    ends = an_entity("A", uuid="99990000-0000-4000-8000-000000000001"), an_entity("B")
    all_records: dict[RecordKind, list[Record]] = {
        "entity": [an_entity(f"E{uuid}", uuid=uuid) for uuid in uuids],
        "fact": [a_fact(*ends, uuid=uuid) for uuid in uuids],
        "episode": [an_episode(uuid=uuid) for uuid in uuids],
    }
    await graph.writer.apply(a_write(*ends, *reversed(all_records[kind])), {})
    assert await graph.records.find_uuids(kind, "12345678", ["t1"], 10) == uuids
    assert await graph.records.find_uuids(kind, "12345678", ["t1"], 2) == uuids[:2]
    assert await graph.records.find_uuids(kind, uuids[2], ["t1"], 10) == [uuids[2]]
    assert await graph.records.find_uuids(kind, "2345678", ["t1"], 10) == []
    assert await graph.records.find_uuids(kind, "12345678", ["t2"], 10) == []
    others: list[RecordKind] = ["entity", "fact", "episode"]
    for other in others:
        assert other == kind or await graph.records.find_uuids(other, "12345678", ["t1"], 10) == []


@pytest.mark.parametrize("prefix", ["%", "_", "*", ".", "1234567\\", "'", '"', "1234567_", "ABCDEF12"])
async def test_a_prefix_is_taken_literally(graph: Graph, prefix: str) -> None:
    await graph.writer.apply(a_write(an_episode(uuid="12345678-0000-4000-8000-000000000000")), {})
    await graph.writer.apply(a_write(an_episode(uuid="abcdef12-0000-4000-8000-000000000000")), {})
    assert await graph.records.find_uuids("episode", prefix, ["t1"], 10) == []


async def test_records_come_in_the_order_asked_and_unknown_ones_are_left_out(graph: Graph) -> None:
    episodes = [an_episode(name=f"E{i}") for i in range(3)]
    entities = [an_entity(f"N{i}") for i in range(3)]
    facts = [a_fact(entities[i], entities[(i + 1) % 3]) for i in range(3)]
    await graph.writer.apply(a_write(*episodes, *entities, *facts), {})
    order = (2, 0, 1)
    assert await graph.records.get_episodes(["nothing", *(episodes[i].uuid for i in order)], ["t1"]) == [
        episodes[i] for i in order
    ]
    assert await graph.records.get_entities([*(entities[i].uuid for i in order), "nothing"], ["t1"]) == [
        entities[i] for i in order
    ]
    assert await graph.records.get_facts([*(facts[i].uuid for i in order), facts[0].uuid[:8]], ["t1"]) == [
        facts[i] for i in order
    ]
    assert await graph.records.get_entities([], ["t1"]) == []


async def test_a_uuid_of_another_group_is_unknown(graph: Graph) -> None:
    episode, ends = an_episode(group_id="t2"), (an_entity("A", group_id="t2"), an_entity("B", group_id="t2"))
    fact = a_fact(*ends)
    await graph.writer.apply(a_write(episode, *ends, fact), {})
    assert await graph.records.get_episodes([episode.uuid], ["t1"]) == []
    assert await graph.records.get_entities([ends[0].uuid], ["t1"]) == []
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == []
    assert await graph.records.get_facts([fact.uuid], []) == []
    assert await graph.records.get_facts([fact.uuid], BOTH) == [fact]


async def test_a_uuid_of_one_kind_is_no_record_of_another(graph: Graph) -> None:
    episode, ends = an_episode(), (an_entity("A"), an_entity("B"))
    fact = a_fact(*ends)
    await graph.writer.apply(a_write(episode, *ends, fact), {})
    assert await graph.records.get_entities([episode.uuid, fact.uuid], ["t1"]) == []
    assert await graph.records.get_facts([episode.uuid, ends[0].uuid], ["t1"]) == []
    assert await graph.records.get_episodes([fact.uuid, ends[0].uuid], ["t1"]) == []


async def test_facts_carry_the_present_names_of_their_ends(graph: Graph) -> None:
    sarah, berlin = an_entity("Sarah"), an_entity("Berlin")
    fact = a_fact(sarah, berlin, source_name="", target_name="")
    await graph.writer.apply(a_write(sarah, berlin, fact), {})
    assert await graph.records.get_facts([fact.uuid], ["t1"]) == [a_fact(sarah, berlin, uuid=fact.uuid)]


async def test_names_and_aliases_are_found_by_their_keys(graph: Graph) -> None:
    sarah = an_entity("Sarah Müller")
    names = {name.key: name for name in (a_name(sarah), a_name(sarah, "Sal"))}
    await graph.writer.apply(a_write(sarah, *names.values()), {})
    assert await graph.records.get_names([*names, name_key("t1", "Tom")]) == names
    assert await graph.records.get_names([name_key("t1", "SARAH-müller")]) == {a_name(sarah).key: a_name(sarah)}
    assert await graph.records.get_names([name_key("t2", "Sal")]) == {}
    assert await graph.records.get_names([]) == {}


async def test_an_entity_without_a_name_of_ours_is_found_by_its_exact_name(graph: Graph) -> None:
    redis = an_entity("redis")
    await graph.writer.apply(a_write(redis), {})
    found = await graph.records.get_names([name_key("t1", "redis"), name_key("t2", "redis")])
    assert {key: name.entity_uuid for key, name in found.items()} == {name_key("t1", "redis"): redis.uuid}


async def test_a_name_that_is_given_or_taken_decides_how_an_entity_is_found(graph: Graph) -> None:
    redis, keys = an_entity("Redis"), [name_key("t1", "Redis"), name_key("t1", "cache")]
    await graph.writer.apply(a_write(redis), {})
    assert [*await graph.records.get_names(keys)] == keys[:1]
    await graph.writer.apply(a_write(a_name(redis, "cache")), {})
    assert [*await graph.records.get_names(keys)] == keys[1:]
    forgets = Forgetting(names=(RemainingNames(entity_uuid=redis.uuid, names=()),))
    await graph.writer.apply(an_intent(entities=(redis,), forgets=forgets), {})
    assert [*await graph.records.get_names(keys)] == keys[:1]


async def test_aliases_come_in_alphabetical_order_and_limited_for_each_entity(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    write = a_write(
        sarah, tom, a_name(sarah), *(a_name(sarah, text) for text in ("Sally", "Sal", "Sadie")), a_name(tom)
    )
    await graph.writer.apply(write, {})
    found = await graph.records.aliases([sarah.uuid, tom.uuid, "nothing"], 2)
    assert found.get(sarah.uuid) == ["Sadie", "Sal"]
    assert found.get(tom.uuid, []) == []
    assert found.get("nothing", []) == []


async def test_the_name_book_holds_all_linkable_names_of_a_group(graph: Graph) -> None:
    sarah, me, other = an_entity("Sarah"), an_entity("me"), an_entity("Sarah", group_id="t2")
    linkable = [a_name(sarah), a_name(sarah, "Sal")]
    await graph.writer.apply(a_write(sarah, me, *linkable, a_name(me, is_linkable=False)), {})
    await graph.writer.apply(a_write(other, a_name(other)), {})
    book = await graph.records.name_book("t1", None)
    assert book is not None
    assert sorted(book.names, key=lambda name: name.text) == sorted(linkable, key=lambda name: name.text)


async def test_a_known_version_of_the_name_book_is_not_sent_again(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    book = await graph.records.name_book("t1", None)
    assert book is not None
    assert await graph.records.name_book("t1", book.version) is None


async def test_the_name_book_of_an_empty_group_is_empty(graph: Graph) -> None:
    book = await graph.records.name_book("t1", None)
    assert book is not None
    assert book.names == ()


async def test_a_new_name_makes_a_new_version_of_the_name_book(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    empty = await graph.records.name_book("t1", None)
    assert empty is not None
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    first = await graph.records.name_book("t1", empty.version)
    assert first is not None
    await graph.writer.apply(a_write(a_name(sarah, "Sal")), {})
    second = await graph.records.name_book("t1", first.version)
    assert second is not None
    assert {name.text for name in second.names} == {"Sarah", "Sal"}
    assert len({empty.version, first.version, second.version}) == 3


async def test_a_deleted_entity_leaves_the_name_book(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    book = await graph.records.name_book("t1", None)
    assert book is not None
    await graph.writer.apply(a_write(deletions={"entities": (sarah.uuid,)}), {})
    fresh = await graph.records.name_book("t1", book.version)
    assert fresh is not None
    assert fresh.names == ()


async def test_a_name_book_survives_a_rebuild_without_being_taken_for_the_old_one(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    old = await graph.records.name_book("t1", None)
    assert old is not None
    await graph.clear()
    await graph.writer.apply(a_write(tom, a_name(tom)), {})
    fresh = await graph.records.name_book("t1", old.version)
    assert fresh is not None
    assert [name.text for name in fresh.names] == ["Tom"]


async def test_group_sizes_count_episodes_entities_and_facts(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    episodes = [an_episode() for _ in range(3)]
    facts = [a_fact(sarah, tom), a_fact(tom, sarah, voided=True)]
    mentions = [a_mention(episode, sarah) for episode in episodes]
    await graph.writer.apply(a_write(sarah, tom, a_name(sarah), *episodes, *facts, *mentions), {})
    await graph.writer.apply(a_write(an_episode(group_id="t2")), {})
    assert await graph.records.group_sizes(["t1", "t2"]) == {
        "t1": GroupSize(episodes=3, entities=2, facts=2),
        "t2": GroupSize(episodes=1, entities=0, facts=0),
    }


async def test_a_group_that_holds_nothing_has_size_zero(graph: Graph) -> None:
    assert await graph.records.group_sizes(["nothing"]) == {"nothing": GroupSize(episodes=0, entities=0, facts=0)}
