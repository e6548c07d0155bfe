"""What a fact follows from, and what an answer says still rests on something that fell."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

from graphiti_pkm.capabilities.history.requests import RetireFact
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.queries import FactFilter, Window

GO = {"source": "Heron", "relation": "USES", "target": "Go"}
ADR = {"source": "ADR 10", "relation": "HAS_STATUS", "value": "accepted"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


async def test_only_the_uuid_is_kept_and_the_name_is_shown(world: WritingWorld) -> None:
    await world.tell("ADR 10 is accepted.", ADR, entities=[{"name": "ADR 10", "aliases": ["Go decision"]}])
    await world.tell("Heron uses Go.", {**GO, "because_of": "the Go decision"}, {**GO, "because_of": "Go decision"})
    fact = world.fact("Heron USES Go")
    assert fact.attributes == {"because_of": world.entity("ADR 10").uuid}
    assert fact.cause == "ADR 10"


async def test_an_unknown_cause_is_left_out_and_reported(world: WritingWorld) -> None:
    foreign = await world.tell("Elsewhere.", ADR, group_id="other")
    for cause in (foreign.facts[0].uuid[:8], "ADR 10"):
        answer = await world.tell("Heron uses Go.", {**GO, "because_of": cause})
        assert "stored without it" in the(answer, "unknown_cause").detail
    assert world.fact("Heron USES Go").attributes == {}


async def test_a_cause_told_later_is_an_update(world: WritingWorld) -> None:
    await world.tell("Heron uses Go. ADR 10 is accepted.", GO, ADR)
    answer = await world.tell("That is because of ADR 10.", {**GO, "because_of": "ADR 10"})
    assert [one.outcome for one in answer.facts] == ["updated"]
    assert [one.outcome for one in (await world.tell("As said.", {**GO, "because_of": "ADR 10"})).facts] == [
        "duplicate"
    ]


async def test_five_are_named_and_all_counted(world: WritingWorld) -> None:
    uses = [{"source": f"part {n}", "relation": "USES", "target": "Go", "because_of": "ADR 10"} for n in range(7)]
    await world.tell("Seven parts use Go by ADR 10.", ADR, *uses)
    answer = await world.tell(
        "ADR 12 supersedes ADR 10.", {"source": "ADR 12", "relation": "SUPERSEDES", "target": "ADR 10"}
    )
    report = the(answer, "still_rests")
    assert len(report.candidates) == 5
    adr = world.entity("ADR 10").uuid[:8]
    assert report.detail.startswith("may not hold any more, because ADR 10 has status: superseded (5 of 7; get")
    assert f'(5 of 7; get_entity_connections {{"entity_uuid":"{adr}"}} lists the others)' in report.detail
    assert "because of ADR 10" in report.candidates[0]
    assert [one.fact for one in answer.facts][1] == "ADR 10 has status: superseded"
    ended, _ = await world.settle(report)
    assert ended == 1


@pytest.mark.parametrize("relation", ["HAS_DATE", "DATED", "DECIDED_ON"])
async def test_what_a_decision_was_does_not_end_with_it(world: WritingWorld, relation: str) -> None:
    await world.tell("ADR 10 is accepted.", ADR, {"source": "ADR 10", "relation": relation, "value": "2017-08-01"})
    over = {"source": "ADR 12", "relation": "SUPERSEDES", "target": "ADR 10"}
    assert "still_rests" not in attention(await world.tell("ADR 12 supersedes ADR 10.", over))


async def test_retire_fact_names_what_follows_from_the_fact(world: WritingWorld) -> None:
    told = await world.tell("ADR 10 is accepted.", ADR)
    await world.tell("So Heron uses Go.", {**GO, "because_of": told.facts[0].uuid[:8]})
    retired = await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=told.facts[0].uuid, reason="Withdrawn."))
    assert retired.still_rests is not None
    assert "Heron uses Go" in retired.still_rests[0]
    assert "1 fact(s) that follow from it are still current." in retired.message


async def test_a_corrected_date_is_no_dropped_cause(world: WritingWorld) -> None:
    told = await world.tell("We use Go since February.", {**GO, "valid_at": "2026-02-01"})
    await world.tell(
        "Tests run in Go.", {"source": "tests", "relation": "RUN_IN", "target": "Go", "because_of": told.facts[0].uuid}
    )
    answer = await world.tell(
        "Since 3 February.", {**GO, "valid_at": "2026-02-03", "replaces": "Go", "change": "corrected"}
    )
    assert attention(answer) == []


FLU = {"source": "Lena", "relation": "HAS", "target": "flu"}
LEADS = {"source": "Tom", "relation": "LEADS", "target": "payments"}


async def test_what_follows_from_a_corrected_fact_follows_from_the_correction(world: WritingWorld) -> None:
    world.clock.instant = at(2026, 6, 9)
    flu = (await world.tell("Lena has flu.", FLU)).facts[0].uuid
    await world.tell("So Tom leads payments.", {**LEADS, "because_of": flu})
    right = {**FLU, "target": "covid", "replaces": ["flu"], "change": "corrected"}
    covid = (await world.tell("No, it is covid.", right)).facts[0].uuid
    tom = world.fact("Tom LEADS payments")
    assert (tom.cause_uuid, tom.cause) == (covid, "Lena has covid")
    world.clock.instant = at(2026, 7)
    answer = await world.tell("Lena is well.", {**FLU, "target": "covid", "invalid_at": "2026-06-20"})
    report = the(answer, "still_rests")
    assert "Tom leads payments" in report.candidates[0]
    assert report.detail == "may not hold any more, because this has ended: Lena has covid"


async def test_what_follows_from_a_wrong_fact_is_said_to_do_so(world: WritingWorld) -> None:
    flu = (await world.tell("Lena has flu.", FLU)).facts[0].uuid
    await world.tell("So Tom leads payments.", {**LEADS, "because_of": flu})
    answer = await world.tell("No, covid.", {**FLU, "target": "covid", "replaces": ["flu"], "change": "corrected"})
    assert the(answer, "still_rests").detail == "may not hold any more, because this was wrong: Lena has flu"


async def test_a_fact_does_not_follow_from_itself(world: WritingWorld) -> None:
    flu = (await world.tell("Lena has flu.", FLU)).facts[0].uuid
    answer = await world.tell("Because she has.", {**FLU, "because_of": flu})
    assert the(answer, "unknown_cause").detail == (
        "facts[0].because_of: the fact would follow from itself; stored without it"
    )
    assert world.fact("Lena HAS flu").cause_uuid is None
    right = {**FLU, "target": "covid", "replaces": ["flu"], "change": "corrected", "because_of": flu}
    assert "unknown_cause" in attention(await world.tell("No, it is covid.", right))
    assert world.fact("Lena HAS covid").cause_uuid is None


@pytest.mark.parametrize("between", [0, 1, 3])
async def test_facts_do_not_follow_from_each_other_in_a_circle(world: WritingWorld, between: int) -> None:
    first = cause = (await world.tell("Lena has flu.", FLU)).facts[0].uuid
    for number in range(between + 1):
        so = {"source": f"part {number}", "relation": "WAITS_FOR", "target": "Lena", "because_of": cause}
        cause = (await world.tell(f"So part {number} waits.", so)).facts[0].uuid
    answer = await world.tell("In a circle.", {**FLU, "because_of": cause})
    assert "follow from itself" in the(answer, "unknown_cause").detail
    assert world.fact("Lena HAS flu").cause_uuid is None
    assert first != cause


@pytest.mark.parametrize("status", [{"valid_at": "2026-03-08"}, {}])
async def test_a_plan_that_fell_with_its_target_ends_on_the_day_of_the_status(
    world: WritingWorld, status: dict[str, str]
) -> None:
    world.clock.instant = at(2026, 1, 10)
    plan = {"source": "me", "relation": "TAKES", "target": "sabbatical", "kind": "plan", "valid_at": "2026-09-01"}
    await world.tell("A sabbatical in September.", plan, reference_time="2026-01-10")
    world.clock.instant = at(2026, 6)
    dropped = {"source": "sabbatical", "relation": "HAS_STATUS", "value": "dropped", **status}
    report = the(await world.tell("No sabbatical.", dropped, reference_time="2026-03-10"), "still_rests")
    day = status.get("valid_at", "2026-03-10")
    assert f'"invalid_at":"{day}' in report.call
    assert await world.settle(report) == (1, set())
    end = datetime.fromisoformat(day).replace(tzinfo=UTC)
    assert world.fact("me TAKES sabbatical").invalid_at == end
    planned = FactFilter(group_ids=("default",), now=world.clock.instant, status="planned")
    for as_of, total in ((end - timedelta(minutes=1), 1), (end, 0)):
        asked = planned.model_copy(update={"as_of": as_of})
        assert (await world.graph.facts.group_facts(asked, Window(limit=5))).total == total


async def test_a_plan_made_after_its_cause_fell_is_not_said_to_end_before(world: WritingWorld) -> None:
    await world.tell("ADR 10 is accepted.", ADR, reference_time="2026-01-10")
    plan = {**GO, "kind": "plan", "because_of": "ADR 10"}
    await world.tell("Heron will use Go.", plan, reference_time="2026-04-10")
    dropped = {**ADR, "value": "dropped"}
    report = the(await world.tell("ADR 10 was dropped.", dropped, reference_time="2026-03-10"), "still_rests")
    assert "invalid_at" not in report.call
