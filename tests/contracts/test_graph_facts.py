"""Contract of ``Graph``: facts by relation, by ends, as series, as newest, and distances over them."""

from typing import Any

from tests.builders import a_change, a_fact, a_mention, a_write, an_entity, an_episode, at

from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.facts.history import outcome_of
from graphiti_pkm.core.model.names import measure_key
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)


async def test_facts_with_a_relation_come_newest_recorded_first_for_each_pair(graph: Graph) -> None:
    sarah, tom, ann = an_entity("Sarah"), an_entity("Tom"), an_entity("Ann")
    first = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1))
    last = a_fact(sarah, ann, "MANAGES", created_at=at(2025, 3))
    middle = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 2), invalid_at=at(2025, 5), expired_at=at(2025, 5))
    voided = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 4), voided=True)
    others = [a_fact(tom, sarah, "MANAGES"), a_fact(sarah, tom, "MANAGES_ALSO"), a_fact(tom, ann, "MET")]
    await graph.writer.apply(a_write(sarah, tom, ann, first, last, middle, voided, *others), {})
    pairs = [(sarah.uuid, "MANAGES"), (sarah.uuid, "MET"), (tom.uuid, "MET"), ("nothing", "MET")]
    assert await graph.facts.facts_with_relation("t1", pairs, 10) == [[last, middle, first], [], [others[2]], []]
    assert await graph.facts.facts_with_relation("t1", pairs[:1], 2) == [[last, middle]]
    assert await graph.facts.facts_with_relation("t2", pairs[:1], 10) == [[]]
    assert await graph.facts.facts_with_relation("t1", [], 10) == []


async def test_the_same_pair_asked_twice_is_answered_twice(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    fact = a_fact(sarah, tom, "MET")
    await graph.writer.apply(a_write(sarah, tom, fact), {})
    assert await graph.facts.facts_with_relation("t1", [(sarah.uuid, "MET")] * 2, 10) == [[fact], [fact]]
    assert await graph.facts.facts_between("t1", [(sarah.uuid, tom.uuid)] * 2, 10) == [[fact], [fact]]


async def test_facts_between_two_entities_have_a_direction_and_any_relation(graph: Graph) -> None:
    sarah, tom, ann = an_entity("Sarah"), an_entity("Tom"), an_entity("Ann")
    first = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1))
    last = a_fact(sarah, tom, "MET", created_at=at(2025, 2))
    voided = a_fact(sarah, tom, "MET", created_at=at(2025, 4), voided=True)
    back, other = a_fact(tom, sarah, "MET"), a_fact(sarah, ann, "MET")
    await graph.writer.apply(a_write(sarah, tom, ann, first, last, voided, back, other), {})
    pairs = [(tom.uuid, sarah.uuid), (sarah.uuid, tom.uuid), (ann.uuid, tom.uuid)]
    assert await graph.facts.facts_between("t1", pairs, 10) == [[back], [last, first], []]
    assert await graph.facts.facts_between("t1", pairs, 1) == [[back], [last], []]
    assert await graph.facts.facts_between("t2", pairs, 10) == [[], [], []]


async def test_a_fact_says_what_it_follows_from_while_that_is_there(graph: Graph) -> None:
    sarah, tom, decision = an_entity("Sarah"), an_entity("Tom"), an_entity("ADR 10")
    foreign = an_entity("Foreign", group_id="t2")
    reason = a_fact(sarah, tom, "MET", text="Sarah met Tom.", created_at=at(2025, 1))
    causes = {"decided": decision.uuid, "met": reason.uuid, "gone": "nothing", "foreign": foreign.uuid}
    following = {
        name: a_fact(sarah, tom, "KNOWS", text=name, attributes={"because_of": uuid}, created_at=at(2025, 2, day))
        for day, (name, uuid) in enumerate(causes.items(), 1)
    }
    await graph.writer.apply(a_write(sarah, tom, decision, reason, *following.values()), {})
    await graph.writer.apply(a_write(foreign), {})
    read = await graph.records.get_facts([one.uuid for one in following.values()], ["t1"])
    assert {one.text: one.cause for one in read} == {
        "decided": "ADR 10",
        "met": "Sarah met Tom.",
        "gone": "",
        "foreign": "",
    }
    assert not any(one.is_cause_confidential for one in read)
    wanted = FactFilter(group_ids=("t1",), now=NOW, because_of=(decision.uuid, reason.uuid))
    page = await graph.facts.group_facts(wanted, Window(limit=1))
    assert ([one.text for one in page.facts], page.total) == (["met"], 2)
    other = await graph.facts.group_facts(wanted.model_copy(update={"group_ids": ("t2",)}), Window(limit=1))
    assert other.total == 0


async def test_what_is_not_public_is_listed_and_marked_as_a_cause(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    secret = a_fact(sarah, tom, "MET", text="Sarah met Tom.", attributes={"confidential": True})
    so = a_fact(sarah, tom, "KNOWS", attributes={"because_of": secret.uuid})
    await graph.writer.apply(a_write(sarah, tom, secret, so), {})
    wanted = FactFilter(group_ids=("t1",), now=NOW, confidential=True)
    for page in (
        await graph.facts.group_facts(wanted, Window(limit=9)),
        await graph.facts.connections(tom.uuid, wanted, Window(limit=9)),
    ):
        assert [one.uuid for one in page.facts] == [secret.uuid]
        assert page.total == 1
    [read] = await graph.records.get_facts([so.uuid], ["t1"])
    assert (read.cause, read.is_cause_confidential) == ("Sarah met Tom.", True)


async def test_relations_are_counted_most_used_first(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    other = an_entity("Sarah", group_id="t2"), an_entity("Tom", group_id="t2")
    used = {"MET": 2, "MANAGES": 3, "KNOWS": 1}
    facts = [a_fact(sarah, tom, relation) for relation, times in used.items() for _ in range(times)]
    await graph.writer.apply(a_write(sarah, tom, *facts), {})
    await graph.writer.apply(a_write(*other, a_fact(*other, "LIKES")), {})
    assert list((await graph.facts.relations("t1", 10)).items()) == [("MANAGES", 3), ("MET", 2), ("KNOWS", 1)]
    assert await graph.facts.relations("t1", 2) == {"MANAGES": 3, "MET": 2}
    assert await graph.facts.relations("t2", 10) == {"LIKES": 1}
    assert await graph.facts.relations("t3", 10) == {}


async def test_measures_are_those_of_an_entitys_readings_most_used_first(graph: Graph) -> None:
    sarah, tom, target = an_entity("Sarah"), an_entity("Tom"), an_entity("sleep")
    readings = [a_fact(sarah, target, kind="reading", measure=name) for name in ("mood", "sleep", "sleep")]
    others = [
        a_fact(tom, target, kind="reading", measure="weight"),
        a_fact(target, sarah, kind="reading", measure="noise"),
        a_fact(sarah, target, kind="state", measure="height"),
    ]
    await graph.writer.apply(a_write(sarah, tom, target, *readings, *others), {})
    assert list((await graph.facts.measures("t1", sarah.uuid, 10)).items()) == [("sleep", 2), ("mood", 1)]
    assert await graph.facts.measures("t1", sarah.uuid, 1) == {"sleep": 2}
    assert await graph.facts.measures("t2", sarah.uuid, 10) == {}


async def test_the_newest_readings_of_a_series_come_oldest_first_with_their_number(graph: Graph) -> None:
    sarah, tom, target = an_entity("Sarah"), an_entity("Tom"), an_entity("sleep")

    def reading(value: str, **fields: Any) -> Fact:
        return a_fact(sarah, target, **{"kind": "reading", "measure": "sleep hours", "value": value, **fields})

    series = [reading(str(day), valid_at=at(2025, 1, day), created_at=at(2025, 2)) for day in (3, 1, 4, 2)]
    spelt = reading("5", measure="Sleep-Hours", valid_at=at(2025, 1, 5))
    others = [
        reading("6", measure="mood", valid_at=at(2025, 1, 6)),
        reading("7", valid_at=at(2025, 1, 7), voided=True),
        reading("8", valid_at=at(2025, 1, 8), kind="state"),
        a_fact(tom, target, kind="reading", measure="sleep hours", value="9", valid_at=at(2025, 1, 9)),
    ]
    await graph.writer.apply(a_write(sarah, tom, target, *series, spelt, *others), {})
    found, total = await graph.facts.readings("t1", sarah.uuid, measure_key("sleep hours"), 3)
    assert ([fact.value for fact in found], total) == (["3", "4", "5"], 5)
    found, total = await graph.facts.readings("t1", sarah.uuid, measure_key("sleep hours"), 10)
    assert ([fact.value for fact in found], total) == (["1", "2", "3", "4", "5"], 5)
    assert await graph.facts.readings("t1", sarah.uuid, measure_key("weight"), 3) == ([], 0)
    assert await graph.facts.readings("t2", sarah.uuid, measure_key("sleep hours"), 3) == ([], 0)


async def test_readings_of_one_instant_come_in_the_order_they_were_recorded(graph: Graph) -> None:
    sarah, target = an_entity("Sarah"), an_entity("sleep")
    readings = [
        a_fact(sarah, target, kind="reading", measure="sleep", value=str(n), valid_at=at(2025), created_at=at(2025, n))
        for n in (2, 1, 3)
    ]
    await graph.writer.apply(a_write(sarah, target, *readings), {})
    found, total = await graph.facts.readings("t1", sarah.uuid, "sleep", 2)
    assert ([fact.value for fact in found], total) == (["2", "3"], 3)


async def test_the_newest_current_facts_of_each_entity_come_newest_first(graph: Graph) -> None:
    sarah, tom, ann = an_entity("Sarah"), an_entity("Tom"), an_entity("Ann")
    facts = [a_fact(sarah, tom, f"R{year}", valid_at=at(year), created_at=at(2020)) for year in (2021, 2023, 2022)]
    unknown = a_fact(tom, sarah, "UNKNOWN", created_at=at(2020))
    ended = a_fact(sarah, tom, "ENDED", valid_at=at(2024), invalid_at=at(2025), expired_at=at(2025))
    event = a_fact(sarah, tom, "EVENT", valid_at=at(2025), kind="event")
    await graph.writer.apply(a_write(sarah, tom, ann, *facts, unknown, ended, event), {})
    found = await graph.facts.newest_facts([sarah.uuid, tom.uuid, ann.uuid], ["t1"], NOW, 10)
    expected = [facts[1], facts[2], facts[0], unknown]
    assert found.get(sarah.uuid) == expected
    assert found.get(tom.uuid) == expected
    assert found.get(ann.uuid, []) == []
    assert (await graph.facts.newest_facts([sarah.uuid], ["t1"], NOW, 2))[sarah.uuid] == expected[:2]
    assert (await graph.facts.newest_facts([sarah.uuid], ["t2"], NOW, 2)).get(sarah.uuid, []) == []
    assert (await graph.facts.newest_facts([sarah.uuid], ["t1"], at(2022), 10))[sarah.uuid][0] == facts[2]
    over = await graph.facts.newest_facts([sarah.uuid, tom.uuid], ["t1"], NOW, 10, status="ended")
    assert over == {sarah.uuid: [ended], tom.uuid: [ended]}


async def test_the_newest_readings_of_each_entity_come_newest_first_without_corrected_ones(graph: Graph) -> None:
    sarah, sleep = an_entity("Sarah"), an_entity("sleep")
    series = {"kind": "reading", "measure": "sleep", "created_at": at(2025)}
    readings = [a_fact(sarah, sleep, value=str(n), valid_at=at(2025, n), **series) for n in (2, 1, 3)]
    wrong = a_fact(sarah, sleep, value="9", valid_at=at(2025, 4), voided=True, expired_at=at(2025, 4), **series)
    state = a_fact(sarah, sleep, "NEEDS", valid_at=at(2025))
    await graph.writer.apply(a_write(sarah, sleep, *readings, wrong, state), {})
    found = await graph.facts.newest_facts([sarah.uuid, sleep.uuid], ["t1"], NOW, 2, status="reading")
    assert found == {entity.uuid: [readings[2], readings[0]] for entity in (sarah, sleep)}
    uuids = [wrong.uuid, state.uuid, "nothing"]
    assert await graph.facts.voided(uuids, ["t1"]) == {wrong.uuid}
    assert await graph.facts.voided(uuids, ["t2"]) == await graph.facts.voided([], ["t1"]) == set()


async def test_distances_are_hops_over_facts_in_any_direction_up_to_two(graph: Graph) -> None:
    chain = [an_entity(f"N{i}") for i in range(4)]
    alone = an_entity("alone")
    facts = [a_fact(chain[0], chain[1]), a_fact(chain[2], chain[1]), a_fact(chain[2], chain[3])]
    await graph.writer.apply(a_write(*chain, alone, *facts), {})
    asked = [*(one.uuid for one in chain), alone.uuid, "nothing"]
    assert await graph.part(NEIGHBOURS).fact_distances(chain[0].uuid, asked) == {
        chain[0].uuid: 0,
        chain[1].uuid: 1,
        chain[2].uuid: 2,
    }
    assert await graph.part(NEIGHBOURS).fact_distances(chain[3].uuid, [chain[2].uuid, chain[0].uuid]) == {
        chain[2].uuid: 1
    }
    assert await graph.part(NEIGHBOURS).fact_distances("nothing", asked) == {}


async def test_the_shortest_way_counts(graph: Graph) -> None:
    one, two, three = an_entity("One"), an_entity("Two"), an_entity("Three")
    facts = [a_fact(one, two), a_fact(two, three), a_fact(one, three), a_fact(one, one)]
    await graph.writer.apply(a_write(one, two, three, *facts), {})
    assert await graph.part(NEIGHBOURS).fact_distances(one.uuid, [three.uuid, one.uuid]) == {
        three.uuid: 1,
        one.uuid: 0,
    }


async def test_support_counts_mentions_and_facts_of_either_end_voided_ones_included(graph: Graph) -> None:
    sarah, tom, alone = an_entity("Sarah"), an_entity("Tom"), an_entity("alone")
    episodes = [an_episode() for _ in range(3)]
    facts = [a_fact(sarah, tom), a_fact(tom, sarah), a_fact(sarah, tom, voided=True), a_fact(sarah, sarah)]
    mentions = [*(a_mention(one, sarah) for one in episodes), a_mention(episodes[0], tom)]
    await graph.writer.apply(a_write(sarah, tom, alone, *episodes, *facts, *mentions), {})
    found = await graph.records.entity_support([sarah.uuid, tom.uuid, alone.uuid])
    assert found == {sarah.uuid: (3, 4), tom.uuid: (1, 3), alone.uuid: (0, 0)}


async def test_a_plan_that_a_status_of_its_target_ended_came_about_or_was_dropped(graph: Graph) -> None:
    sarah, garden, status = an_entity("Sarah"), an_entity("garden"), an_entity("status")
    over: dict[str, Any] = {"kind": "plan", "expired_at": at(2025, 6)}
    expected = {"Done": "fulfilled", "given-up": "dropped", "paused": "replaced"}
    plans = [a_fact(sarah, garden, text=word, **over) for word in (*expected, "of another", "a plan")]
    said = [a_fact(garden, status, "HAS_STATUS", value=word) for word in expected]
    said.append(a_fact(sarah, status, "HAS_STATUS", value="done"))
    said.append(a_fact(garden, status, "HAS_STATUS", value="done", kind="plan"))
    episode = an_episode()
    changes = [
        a_change(plan, episode, kind="retired", replaced_by=by.uuid) for plan, by in zip(plans, said, strict=True)
    ]
    await graph.writer.apply(a_write(sarah, garden, status, episode, *plans, *said, *changes), {})
    read = await graph.records.get_facts([plan.uuid for plan in plans], ["t1"])
    assert [one.outcome for one in read] == [*expected.values(), "replaced", "replaced"]
    assert [outcome_of(plan, by) for plan, by in zip(plans, said, strict=True)] == [one.outcome for one in read]


async def test_an_ended_plan_says_what_became_of_it_and_when_it_was_open(graph: Graph) -> None:
    sarah, boat, oslo = an_entity("Sarah"), an_entity("boat"), an_entity("Oslo")
    told, later = an_episode("Plans.", valid_at=at(2025, 1)), an_episode("So it is.", valid_at=at(2025, 3))
    over: dict[str, Any] = {"kind": "plan", "reference_time": at(2025, 1), "expired_at": at(2025, 6)}
    ended, fulfilled = a_fact(sarah, boat, text="ended", **over), a_fact(sarah, oslo, text="fulfilled", **over)
    moved, otherwise = a_fact(sarah, boat, text="moved", **over), a_fact(sarah, boat, text="otherwise", **over)
    so = a_fact(sarah, oslo, valid_at=at(2025, 3))
    new = a_fact(sarah, boat, text="new", kind="plan", reference_time=at(2025, 3))
    replacing = {ended.uuid: None, fulfilled.uuid: so.uuid, moved.uuid: new.uuid, otherwise.uuid: so.uuid}
    plans = [ended, fulfilled, moved, otherwise]
    changes = [
        a_change(plan, later, kind="retired", replaced_by=replacing[plan.uuid], recorded_at=at(2025, 6))
        for plan in plans
    ]
    await graph.writer.apply(a_write(sarah, boat, oslo, told, later, *plans, so, new, *changes), {})
    read = await graph.records.get_facts([one.uuid for one in (*plans, so, new)], ["t1"])
    assert [one.outcome for one in read] == [None, "fulfilled", "replaced", "replaced", None, None]
    wanted = FactFilter(group_ids=("t1",), now=NOW, status="planned")
    for as_of, expected in (
        (None, ["new"]),
        (at(2024), []),
        (at(2025, 2), sorted(one.text for one in plans)),
        (at(2025, 4), ["new"]),
    ):
        page = await graph.facts.group_facts(wanted.model_copy(update={"as_of": as_of}), Window(limit=10))
        assert sorted(one.text for one in page.facts) == expected
    newest = await graph.facts.newest_facts([boat.uuid], ["t1"], NOW, 2, status="planned")
    assert [one.text for one in newest[boat.uuid]] == ["new"]


async def test_what_is_open_comes_in_the_order_in_which_it_is_due(graph: Graph) -> None:
    sarah, boat, word = an_entity("Sarah"), an_entity("boat"), an_entity("status")
    told = {"reference_time": at(2025, 1), "created_at": at(2025, 1, 2)}
    due = int(at(2026, 8).timestamp())
    facts = [
        a_fact(sarah, boat, text="plan without a day", kind="plan", **told),
        a_fact(sarah, boat, text="later plan", kind="plan", valid_at=at(2026, 9), **told),
        a_fact(sarah, boat, text="past plan", kind="plan", valid_at=at(2025, 2), **told),
        a_fact(sarah, boat, "HAS_GOAL", text="goal", attributes={"due": due}, **told),
        a_fact(sarah, boat, "HAS_GOAL", text="goal without a day", **{**told, "created_at": at(2025, 1, 3)}),
        a_fact(boat, word, "HAS_STATUS", text="proposed", value="Under-discussion", valid_at=at(2025, 4), **told),
        a_fact(sarah, boat, text="may have ended", **{**told, "created_at": at(2025, 1, 4)}),
    ]
    closed = [
        a_fact(boat, word, "HAS_STATUS", text="accepted", value="accepted", **told),
        a_fact(sarah, boat, "HAS_GOAL", text="ended", invalid_at=at(2025, 6), expired_at=at(2025, 6), **told),
        a_fact(sarah, boat, text="over", kind="plan", expired_at=at(2025, 5), **told),
        a_fact(sarah, boat, text="rejected", **told),
        a_fact(sarah, boat, text="state", **told),
        a_fact(sarah, boat, text="event", kind="event", **told),
    ]
    note = an_episode("Notes.", valid_at=at(2025, 5))
    proposals = [a_change(one, note, kind="proposed", recorded_at=at(2025, 7)) for one in (facts[-1], closed[3])]
    rejected = a_change(closed[3], note, kind="rejected", recorded_at=at(2025, 8))
    over = a_change(closed[2], note, recorded_at=at(2025, 5))
    write = a_write(sarah, boat, word, note, *facts, *closed, *proposals, rejected, over)
    await graph.writer.apply(write, {})
    wanted = FactFilter(group_ids=("t1",), now=NOW, status="open", open_words=("proposed", "underdiscussion"))
    ordered = [
        *("past plan", "goal", "later plan"),
        *sorted(
            ["plan without a day", "proposed"], key=lambda text: next(one.uuid for one in facts if one.text == text)
        ),
        *("goal without a day", "may have ended"),
    ]
    page = await graph.facts.group_facts(wanted, Window(limit=10, newest=False))
    assert ([one.text for one in page.facts], page.total) == (ordered, 7)
    pages, after = [], None
    for _ in ordered:
        one = await graph.facts.group_facts(wanted, Window(limit=1, after=after, newest=False))
        pages.append(one.facts[0].text)
        after = one.keys[0]
    assert pages == ordered
    ofboat = await graph.facts.connections(boat.uuid, wanted, Window(limit=10, newest=False))
    assert [one.text for one in ofboat.facts] == ordered
    then = wanted.model_copy(update={"as_of": at(2025, 3)})
    earlier = await graph.facts.group_facts(then, Window(limit=10, newest=False))
    assert sorted(one.text for one in earlier.facts) == sorted(
        ["plan without a day", "later plan", "past plan", "over", "goal", "goal without a day", "ended"]
    )
