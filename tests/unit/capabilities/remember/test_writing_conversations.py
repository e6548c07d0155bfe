"""A coaching conversation and superseding decisions: one add_memory a message, no search before it."""

from tests.acceptance.coaching import MESSAGES
from tests.acceptance.decisions import TOLD
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, line

from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.requests import AddMemory


async def conversation() -> tuple[WritingWorld, list[AddMemoryResponse]]:
    world = WritingWorld(now=at(2026, 6, 10))
    requests = [AddMemory.model_validate(message) for message in MESSAGES]
    return world, [await world.writing.add_memory(LOCAL, request) for request in requests]


async def test_the_conversation_gives_the_right_current_facts() -> None:
    world, _ = await conversation()
    assert world.lines() == [
        "Heron HAS_DEADLINE deadline [2026-05-29]",
        "Heron HAS_STATUS status [done]",
        "me REPORTS_TO Henrik",
        "me WORKS_AT Larkfield",
    ]


async def test_the_conversation_gives_the_right_history() -> None:
    world, answers = await conversation()
    first = world.fact("Heron HAS_DEADLINE deadline [2026-04-30]")
    assert (first.valid_at, first.invalid_at) == (None, at(2026, 3, 16, 18))
    priya, ines = world.fact("me REPORTS_TO Priya"), world.fact("me REPORTS_TO Ines")
    assert priya.voided
    assert (ines.valid_at, ines.reference_time, ines.invalid_at) == (None, at(2026, 3, 2, 18), at(2026, 5, 1))
    assert world.graph.tables.episodes[answers[0].episode_uuid].corrected
    plan = next(fact for fact in world.facts if fact.kind == "plan")
    assert plan.expired_at is not None
    changes = world.graph.tables.changes.values()
    assert {(change.fact_uuid, change.kind, change.episode_uuid) for change in changes} == {
        (first.uuid, "retired", answers[2].episode_uuid),
        (priya.uuid, "voided", answers[3].episode_uuid),
        (ines.uuid, "retired", answers[6].episode_uuid),
        (plan.uuid, "retired", answers[6].episode_uuid),
    }


async def test_the_conversation_gives_the_right_series() -> None:
    _, answers = await conversation()
    assert answers[0].facts[3].series == ["6.5 hours (2026-03-02)"]
    assert answers[7].facts[1].series == [
        "4-5 hours (2026-03-09)",
        "7 (2026-04-20)",
        "8 hours (2026-06-01)",
    ]
    assert answers[7].facts[2].series == ["7/10 (2026-03-09)", "3/10 (2026-06-01)"]


async def test_the_conversation_leaves_nothing_to_settle_and_one_entity_a_name() -> None:
    world, answers = await conversation()
    assert {what for answer in answers for what in attention(answer)} == {"undeclared_endpoint"}
    names = [entity.name for entity in world.graph.tables.entities.values()]
    assert len(names) == len(set(names))
    assert world.entity("me").label == "Person"
    assert all(len(answer.model_dump_json(exclude_none=True)) < 2_600 for answer in answers)


async def test_decisions_supersede_each_other() -> None:
    world = WritingWorld(now=at(2026, 6, 10))
    for number, told in sorted(TOLD.items()):
        await world.writing.add_memory(LOCAL, AddMemory.model_validate({"episode_body": f"Decision {number}.", **told}))
    current = world.lines()
    assert [one for one in current if one.startswith(("ADR 3 ", "ADR 4 "))] == [
        "ADR 3 HAS_STATUS status [partly superseded]",
        "ADR 4 HAS_STATUS status [superseded]",
    ]
    assert [one for one in current if "HAS_STATUS" not in one and "ADR" not in one.split()[0]] == [
        "Content Store READS_FROM mongo cluster",
        "GOV.UK VPCs HAS_ADDRESS_PLAN address plan of ADR 33",
        "GOV.UK databases RUNS_ON RDS",
        "MySQL databases RUNS_ON single RDS instance",
        "Redis RUNS_ON Elasticache",
        "Rummager USES backend-redis",
        "Terraform data LAID_OUT_BY common, project and stack",
        "Terraform data STORED_IN private data repository",
    ]
    by_uuid = {fact.uuid: line(fact) for fact in world.facts}
    assert {
        (by_uuid[change.fact_uuid], by_uuid[change.replaced_by or ""]) for change in world.graph.tables.changes.values()
    } == {
        ("ADR 4 HAS_STATUS status [accepted]", "ADR 4 HAS_STATUS status [superseded]"),
        ("ADR 3 HAS_STATUS status [accepted]", "ADR 3 HAS_STATUS status [partly superseded]"),
        ("Content Store READS_FROM api-mongo cluster", "Content Store READS_FROM mongo cluster"),
        (
            "GOV.UK VPCs HAS_ADDRESS_PLAN address plan of ADR 3",
            "GOV.UK VPCs HAS_ADDRESS_PLAN address plan of ADR 33",
        ),
        ("GOV.UK databases RUNS_ON VM instances managed with Puppet", "GOV.UK databases RUNS_ON RDS"),
        ("Redis RUNS_ON own Redis instances", "Redis RUNS_ON Elasticache"),
        ("Rummager USES api-redis", "Rummager USES backend-redis"),
        (
            "Terraform data LAID_OUT_BY one directory per project",
            "Terraform data LAID_OUT_BY common, project and stack",
        ),
    }
