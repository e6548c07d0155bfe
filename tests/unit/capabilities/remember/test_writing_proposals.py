"""Endings that no caller named: which are done, which are only proposed, and how a proposal is settled."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

from graphiti_pkm.capabilities.history.models import ChangeView
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse

NOW = at(2026, 6, 1)
WITH_TOM = {"source": "me", "relation": "WORKS_WITH", "target": "Tom"}
AT_ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "replaces": "current"}
PLAN = {"source": "me", "relation": "LIVES_IN", "target": "Oslo", "kind": "plan", "valid_at": "2026-05-20"}
MOVED = {"source": "me", "relation": "LIVES_IN", "target": "Oslo", "valid_at": "2026-05-15"}


async def told(world: WritingWorld, *facts: dict[str, Any]) -> AddMemoryResponse:
    answer = await world.tell(f"Note {world.clock.instant}.", *facts, reference_time="2026-05-10")
    world.clock.advance(seconds=1)
    return answer


async def proposals(world: WritingWorld) -> list[ChangeView]:
    return (await world.changes.what_changed(LOCAL, WhatChanged(since="2026-06-01", kinds=["proposed"]))).changes


async def unrelated(policy: str = "guarded") -> tuple[WritingWorld, AddMemoryResponse]:
    """A newer fact with "current", where only a relation much like its own has a current fact."""
    world = WritingWorld(now=NOW, retirement=policy)
    await told(world, WITH_TOM)
    return world, await told(world, AT_ACME)


async def test_a_proposal_by_an_unrelated_newer_fact_is_visible_and_leaves_both_facts_valid() -> None:
    world, answer = await unrelated()
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_WITH Tom"]
    assert answer.retired == []
    assert "endings: 1 only proposed" in answer.message
    old, new = world.fact("me WORKS_WITH Tom"), world.fact("me WORKS_AT Acme")
    (proposal,) = await proposals(world)
    assert (proposal.fact_uuid, proposal.replaced_by, proposal.open) == (old.uuid, new.uuid, True)
    assert proposal.invalid_at == "2026-05-10T00:00:00+00:00"
    report = the(answer, "proposed_ending")
    assert old.uuid[:8] in report.candidates[0]
    assert f'retire_fact {{"fact_uuid":"{old.uuid}"' in report.call
    assert f'restore_fact {{"fact_uuid":"{old.uuid}"' in report.call


async def test_one_call_rejects_a_proposal_and_leaves_both_facts_as_they_were() -> None:
    world, _ = await unrelated()
    before = sorted(world.facts, key=lambda fact: fact.uuid)
    answer = await world.retiring.restore_fact(
        LOCAL, RestoreFact(fact_uuid=world.fact("me WORKS_WITH Tom").uuid, reason="Both hold.")
    )
    assert answer.changed
    assert sorted(world.facts, key=lambda fact: fact.uuid) == before
    (proposal,) = await proposals(world)
    assert proposal.open is False
    again = await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=proposal.fact_uuid, reason="Both hold."))
    assert again.changed is False


async def test_one_call_accepts_a_proposal_with_its_end_and_its_replacement_and_one_undoes_that() -> None:
    world, _ = await unrelated()
    old, new = world.fact("me WORKS_WITH Tom"), world.fact("me WORKS_AT Acme")
    answer = await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=old.uuid, reason="He left."))
    world.clock.advance(seconds=1)
    assert "as proposed" in answer.message
    assert world.lines() == ["me WORKS_AT Acme"]
    assert world.fact("me WORKS_WITH Tom").invalid_at == at(2026, 5, 10)
    assert [one.open for one in await proposals(world)] == [False]
    events = (await world.graph.changes.fact_changes([old.uuid], ["default"], 10))[old.uuid]
    assert [(event.kind, event.replaced_by) for event in events] == [("retired", new.uuid), ("proposed", new.uuid)]
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=old.uuid, reason="No, he is here."))
    assert world.fact("me WORKS_WITH Tom") == old
    assert [one.open for one in await proposals(world)] == [False]


async def test_another_replacement_than_the_proposed_one_gives_its_own_end() -> None:
    world, _ = await unrelated()
    await told(world, {"source": "me", "relation": "WORKS_WITH", "target": "Ann", "valid_at": "2026-05-30"})
    old, ann = world.fact("me WORKS_WITH Tom"), world.fact("me WORKS_WITH Ann")
    answer = await world.retiring.retire_fact(
        LOCAL, RetireFact(fact_uuid=old.uuid, reason="Ann came.", replaced_by=ann.uuid)
    )
    assert "as proposed" not in answer.message
    assert world.fact("me WORKS_WITH Tom").invalid_at == at(2026, 5, 30)
    assert [one.open for one in await proposals(world)] == [False]


async def test_a_proposal_whose_newer_fact_is_gone_can_still_be_accepted() -> None:
    world, _ = await unrelated()
    old, new = world.fact("me WORKS_WITH Tom"), world.fact("me WORKS_AT Acme")
    del world.graph.tables.facts[new.uuid]
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=old.uuid, reason="He left."))
    assert world.fact("me WORKS_WITH Tom").invalid_at == at(2026, 5, 10)


async def test_automatic_ends_what_the_server_chose() -> None:
    world, answer = await unrelated("automatic")
    assert world.lines() == ["me WORKS_AT Acme"]
    assert [one.kind for one in answer.retired] == ["retired"]
    assert await proposals(world) == []


async def test_propose_only_proposes_what_the_server_chose() -> None:
    world, _ = await unrelated("propose")
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_WITH Tom"]
    assert len(await proposals(world)) == 1


@pytest.mark.parametrize("policy", ["guarded", "automatic", "propose"])
async def test_what_the_caller_names_is_done_whatever_the_setting(policy: str) -> None:
    world = WritingWorld(now=NOW, retirement=policy)
    await told(world, WITH_TOM, {**AT_ACME, "replaces": None})
    await told(world, {**AT_ACME, "target": "Borg"})
    await told(world, {**AT_ACME, "target": "Cyan", "replaces": "Borg"})
    tom = world.fact("me WORKS_WITH Tom")
    await told(world, {**AT_ACME, "target": "Dune", "replaces": ["Cyan", tom.uuid]})
    answer = await told(world, {"source": "me", "relation": "WORKS_AT", "target": "Dune", "invalid_at": "2026-05-20"})
    assert len(answer.retired) == 1
    assert world.lines() == []
    assert await proposals(world) == []


@pytest.mark.parametrize(("policy", "outcome"), [("guarded", "ended"), ("automatic", "ended"), ("propose", "planned")])
async def test_a_plan_that_came_about_shares_all_with_what_fulfils_it(policy: str, outcome: str) -> None:
    world = WritingWorld(now=NOW, retirement=policy)
    await told(world, PLAN)
    answer = await told(world, MOVED)
    plan = next(fact for fact in world.facts if fact.kind == "plan")
    assert (plan.expired_at is None) == (outcome == "planned")
    assert [one.kind for one in answer.retired] == ([] if outcome == "planned" else ["fulfilled"])
    if outcome == "planned":
        assert attention(answer) == ["proposed_ending"]
        accepted = await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=plan.uuid, reason="It came about."))
        assert accepted.fact.status == "ended"


async def test_what_could_not_have_ended_then_is_not_proposed() -> None:
    world = WritingWorld(now=NOW)
    await told(world, {**WITH_TOM, "valid_at": "2026-05-20"})
    answer = await told(world, AT_ACME)
    assert await proposals(world) == []
    assert "proposed_ending" not in attention(answer)
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_WITH Tom"]


async def test_a_proposal_keeps_neither_the_new_fact_from_its_own_time() -> None:
    world, _ = await unrelated()
    new = world.fact("me WORKS_AT Acme")
    assert (new.valid_at, new.invalid_at) == (at(2026, 5, 10), None)


async def test_an_inflected_relation_is_the_same_one() -> None:
    world = WritingWorld(now=NOW)
    await told(world, {**WITH_TOM, "relation": "WORK_AT"})
    await told(world, AT_ACME)
    assert world.lines() == ["me WORKS_AT Acme"]
