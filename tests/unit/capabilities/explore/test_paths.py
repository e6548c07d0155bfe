"""How two entities are connected, and what surrounds one."""

from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import OTHER_GROUP, a_fact, a_write, an_entity, at
from tests.worlds.reading_world import UNKNOWN, World, text_of

from graphiti_pkm.capabilities.explore.requests import FindEntityPath, GetEntitySubgraph
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import PathResponse
from graphiti_pkm.errors import NotFound

MARIA, ACME, TOM, ANNA = (an_entity(name) for name in ("Maria", "Acme", "Tom", "Anna"))
STRANGER = an_entity("Stranger")
FAR = an_entity("Far", group_id=OTHER_GROUP)


async def a_team() -> World:
    """Maria and Tom work at Acme, where Maria does no more; Tom knows Anna."""
    world = World()
    left = a_fact(MARIA, ACME, "WORKS_AT", valid_at=at(2020), invalid_at=at(2025), expired_at=at(2025))
    works, knows = a_fact(TOM, ACME, "WORKS_AT", valid_at=at(2021)), a_fact(TOM, ANNA, "KNOWS", quote="my friend Anna")
    await world.given(a_write(MARIA, ACME, TOM, ANNA, STRANGER, left, works, knows), a_write(FAR, a_fact(FAR, FAR)))
    return world


async def ask(world: World, source: str, target: str, **fields: Any) -> PathResponse:
    return await world.paths.find_entity_path(
        world.caller, FindEntityPath(source_uuid=source, target_uuid=target, **fields)
    )


async def test_a_path_reads_from_the_source_to_the_target() -> None:
    world = await a_team()
    answer = await ask(world, MARIA.uuid, ANNA.uuid)
    (path,) = answer.paths
    assert path.path == "Maria -WORKS_AT-> Acme <-WORKS_AT- Tom -KNOWS-> Anna"
    assert (answer.source, answer.target, answer.hops, answer.truncated) == ("Maria", "Anna", 3, False)
    assert path.fact_uuids == [fact.uuid for fact in answer.facts]
    assert [fact.status for fact in answer.facts] == ["ended", "current", "current"]
    assert answer.facts[2].quote is None
    back = await ask(world, ANNA.uuid, MARIA.uuid)
    assert back.paths[0].path == "Anna <-KNOWS- Tom -WORKS_AT-> Acme <-WORKS_AT- Maria"


@pytest.mark.parametrize(
    ("target", "fields", "reason"),
    [
        (ANNA.uuid, {"include_invalidated": False}, "under these time filters"),
        (ANNA.uuid, {"as_of": "2025-06"}, "under these time filters"),
        (ANNA.uuid, {"max_hops": 2}, "nothing within 2 hop(s) joins the two. max_hops can be 6."),
        (STRANGER.uuid, {"max_hops": 6}, "nothing within 6 hop(s) joins the two."),
        (MARIA.uuid, {}, "the same entity"),
        (FAR.uuid, {}, "different groups"),
        (UNKNOWN, {}, "target_uuid names no entity"),
    ],
)
async def test_no_path_comes_with_the_reason(target: str, fields: dict[str, Any], reason: str) -> None:
    answer = await ask(await a_team(), MARIA.uuid, target, **fields)
    assert (answer.paths, answer.facts, answer.hops, answer.truncated) == ([], [], None, False)
    assert answer.message.startswith("No path")
    assert reason in answer.message
    assert answer.scope.holds is not None


ADR_18, ADR_19, RDS, MYSQL, STATUS, DATE = (
    an_entity(name) for name in ("ADR 18", "ADR 19", "RDS", "MySQL", "status", "date")
)


def _decided() -> list[Any]:
    accepted = [a_fact(adr, STATUS, "HAS_STATUS", value="accepted") for adr in (ADR_18, ADR_19)]
    return [
        ADR_18,
        ADR_19,
        STATUS,
        DATE,
        *accepted,
        *(a_fact(adr, DATE, "HAS_DATE", value="2017") for adr in (ADR_18, ADR_19)),
    ]


async def test_values_of_one_kind_join_nothing() -> None:
    """Two decisions are not connected by both having a status and a date."""
    world = World()
    await world.given(a_write(*_decided()))
    answer = await ask(world, ADR_18.uuid, ADR_19.uuid)
    assert (answer.paths, answer.hops) == ([], None)
    assert answer.message == (
        "No path: nothing within 4 hop(s) joins the two; only values meet between them (date, status), "
        "which is no connection. max_hops can be 6."
    )
    assert (await ask(world, ADR_18.uuid, STATUS.uuid)).hops == 1


async def test_a_longer_way_over_things_is_found_behind_a_shared_value() -> None:
    world = World()
    uses = [a_fact(ADR_18, RDS, "USES"), a_fact(MYSQL, RDS, "RUNS_ON"), a_fact(ADR_19, MYSQL, "CENTRALISES")]
    await world.given(a_write(*_decided(), RDS, MYSQL, *uses))
    (path,) = (await ask(world, ADR_18.uuid, ADR_19.uuid)).paths
    assert path.path == "ADR 18 -USES-> RDS <-RUNS_ON- MySQL <-CENTRALISES- ADR 19"


async def test_a_measure_that_causes_something_lies_on_a_path() -> None:
    world = World()
    coffee, sleep = an_entity("coffee"), an_entity("sleep")
    drank = a_fact(MARIA, coffee, "DRANK", kind="reading", measure="coffee", value="3")
    await world.given(a_write(MARIA, coffee, sleep, drank, a_fact(coffee, sleep, "CAUSES")))
    assert (await ask(world, MARIA.uuid, sleep.uuid)).hops == 2


async def test_time_filters_choose_the_facts() -> None:
    world = await a_team()
    assert (await ask(world, MARIA.uuid, TOM.uuid, as_of="2024")).hops == 2
    assert (await ask(world, MARIA.uuid, TOM.uuid, valid_after="2020", valid_before="2022")).hops == 2
    assert (await ask(world, MARIA.uuid, TOM.uuid, valid_after="2021")).hops is None


async def test_more_paths_than_asked_for_are_announced() -> None:
    world = World()
    start, end = an_entity("Start"), an_entity("End")
    middles = [an_entity(f"Middle {i}") for i in range(5)]
    facts = [fact for one in middles for fact in (a_fact(start, one), a_fact(one, end))]
    await world.given(a_write(start, end, *middles, *facts))
    answer = await ask(world, start.uuid, end.uuid)
    assert (len(answer.paths), answer.truncated, len({path.path for path in answer.paths})) == (3, True, 3)
    assert "there are more" in answer.message
    whole = await ask(world, start.uuid, end.uuid, max_paths=5)
    assert (len(whole.paths), whole.truncated) == (5, False)


async def test_uuids_may_be_cut_and_stay_within_what_the_caller_may_see() -> None:
    world = await a_team()
    assert (await ask(world, MARIA.uuid[:13], TOM.uuid[:13])).hops == 2
    stranger = await world.paths.find_entity_path(
        Caller(principal="anna"), FindEntityPath(source_uuid=MARIA.uuid, target_uuid=TOM.uuid)
    )
    assert (stranger.paths, stranger.source) == ([], None)
    with pytest.raises(NotFound):
        await world.paths.get_entity_subgraph(Caller(principal="anna"), GetEntitySubgraph(entity_uuid=MARIA.uuid[:13]))


@pytest.mark.parametrize(("field", "value"), [("max_hops", 7), ("max_hops", 0), ("max_paths", 11)])
async def test_limits_are_checked(field: str, value: int) -> None:
    with pytest.raises(ValidationError, match=field):
        await ask(await a_team(), MARIA.uuid, TOM.uuid, **{field: value})


async def test_a_long_path_of_long_texts_fits_the_answer() -> None:
    world = World()
    people = [an_entity(f"Person {i} {'x' * 180}") for i in range(7)]
    await world.given(a_write(*people, *(a_fact(*ends, text="long " * 400) for ends in pairwise(people))))
    answer = await ask(world, people[0].uuid, people[-1].uuid, max_hops=6)
    assert (answer.hops, len(answer.facts)) == (6, 6)
    assert len(text_of(answer)) <= 24_000


async def test_what_surrounds_an_entity_comes_with_hops_and_the_facts_between() -> None:
    world = await a_team()
    answer = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=ACME.uuid, hops=2))
    assert [(node.name, node.hops) for node in answer.nodes] == [("Acme", 0), ("Maria", 1), ("Tom", 1), ("Anna", 2)]
    assert (answer.entity, answer.facts_total, len(answer.facts)) == ("Acme", 3, 3)
    assert (answer.truncated, answer.nodes_left_out) == (False, None)
    near = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=ACME.uuid))
    assert ([node.name for node in near.nodes], near.facts_total) == (["Acme", "Maria", "Tom"], 2)
    now = await world.paths.get_entity_subgraph(
        world.caller, GetEntitySubgraph(entity_uuid=ACME.uuid, include_invalidated=False)
    )
    assert [node.name for node in now.nodes] == ["Acme", "Tom"]


async def test_what_only_has_the_same_status_does_not_surround_a_decision() -> None:
    world = World()
    one, other, third = (an_entity(f"Decision {n}") for n in (1, 2, 3))
    status = an_entity("status")
    facts = [a_fact(each, status, "HAS_STATUS", value="accepted") for each in (one, other, third)]
    await world.given(a_write(one, other, third, status, *facts, a_fact(one, other, "DEPENDS_ON")))
    for hops in (2, 3):
        asked = GetEntitySubgraph(entity_uuid=one.uuid, hops=hops)
        answer = await world.paths.get_entity_subgraph(world.caller, asked)
        assert [node.name for node in answer.nodes] == ["Decision 1", "Decision 2", "status"]
        assert answer.message.endswith("values lead no further: status")
    asked = GetEntitySubgraph(entity_uuid=status.uuid)
    answer = await world.paths.get_entity_subgraph(world.caller, asked)
    assert len(answer.nodes) == 4


async def test_around_nothing_the_answer_says_so() -> None:
    world = await a_team()
    unknown = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=UNKNOWN))
    assert (unknown.nodes, unknown.entity, unknown.truncated) == ([], None, False)
    assert "search_nodes" in unknown.message
    alone = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=STRANGER.uuid))
    assert ([node.name for node in alone.nodes], alone.message) == (
        ["Stranger"],
        "Stranger has no facts under these filters and groups",
    )


async def test_the_surroundings_of_a_hub_are_bounded_and_say_that_they_are_cut() -> None:
    world = World()
    hub, spokes = an_entity("Hub"), [an_entity(f"Spoke {i} {'x' * 150}", summary="y" * 300) for i in range(70)]
    facts = [a_fact(hub, spoke, text="long " * 200) for spoke in spokes for _ in range(4)]
    await world.given(a_write(hub, *spokes, *facts))
    for asked in ({}, {"max_nodes": 50, "max_facts": 200, "hops": 2}):
        answer = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=hub.uuid, **asked))
        assert answer.truncated
        assert answer.nodes_left_out
        assert answer.nodes_left_out + len(answer.nodes) == 71
        assert len(answer.nodes) <= asked.get("max_nodes", 20)
        assert len(answer.facts) <= asked.get("max_facts", 50)
        assert "get_entity_connections" in answer.message
        assert len(text_of(answer)) <= (80_000 if asked else 24_000)
