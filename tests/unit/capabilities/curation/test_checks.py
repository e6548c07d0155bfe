"""Checks of a whole group flag what somebody should look at, once, and leave alone what somebody has settled."""

import math
from array import array

import pytest
from tests.fakes import FakeEmbedder
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.curation.models import CheckReport, CurateReport
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.quality_checks import CHECKS, REASONS, Check
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import NotAllowed, PermissionDenied

STORE = "A store of rows with transactions and an optimizer."


def of(report: CurateReport, check: Check) -> CheckReport:
    (found,) = (one for one in report.checks if one.check == check)
    return found


def found(report: CurateReport, check: Check) -> dict[str, str]:
    """Names with what became of each."""
    return {one.name: one.state for one in of(report, check).entities}


async def alone(world: CurationWorld, *names: str, group_id: str | None = None) -> None:
    """Entities whose only mentions are taken away."""
    await world.make(*names, group_id=group_id)
    uuids = {world.entity(name).uuid for name in names}
    mentions = world.graph.tables.mentions
    for key in [key for key in mentions if key[1] in uuids]:
        del mentions[key]


async def reasons(world: CurationWorld) -> dict[str, str | None]:
    return {one.name: one.reason for one in (await world.flagged()).flagged}


async def test_an_orphan_is_flagged_once_by_the_local_user() -> None:
    world = CurationWorld()
    await alone(world, "Nobody")
    await world.make("Tom")
    first = await world.check("orphans")
    assert (found(first, "orphans"), first.newly_flagged, first.done) == ({"Nobody": "new"}, 1, True)
    (flagged,) = (await world.flagged()).flagged
    assert (flagged.name, flagged.reason, flagged.flagged_by) == ("Nobody", REASONS["orphans"], "local")
    second = await world.check()
    assert (found(second, "orphans"), second.newly_flagged) == ({"Nobody": "flagged"}, 0)
    assert len(world.curated) == 1


async def test_what_only_a_relation_names_the_user_what_a_fact_measures_and_projects_are_no_orphans() -> None:
    world = CurationWorld()
    slept = {"source": "me", "relation": "SLEPT", "measure": "sleep", "value": "7", "unit": "h", "kind": "reading"}
    await world.tell("A night.", {**slept, "fact": "I slept 7 hours."})
    await world.tell(
        "A shelf.", {"source": "Tom", "relation": "OWNS", "target": "Shelf", "fact": "Tom owns the shelf."}
    )
    world.graph.tables.mentions.clear()
    assert len(world.graph.tables.entities) >= 4
    assert (await world.check("orphans")).newly_flagged == 0
    world.graph.tables.facts.clear()
    report = await world.check("orphans")
    assert set(found(report, "orphans")) == {"Tom", "Shelf"}


async def test_a_dry_run_says_the_same_and_changes_nothing() -> None:
    world = CurationWorld()
    await alone(world, "Nobody")
    await world.make("Tom")
    await world.rate("Tom", 0.3)
    before, writes = dict(world.graph.tables.qualities), len(world.curated)
    dry = await world.check(writes=False)
    assert (dry.done, dry.newly_flagged) == (False, 2)
    assert (world.graph.tables.qualities, len(world.curated)) == (before, writes)
    done = await world.check()
    assert {one.check: one.entities for one in done.checks} == {one.check: one.entities for one in dry.checks}


async def test_a_flag_that_somebody_cleared_is_not_set_again_for_the_same_reason() -> None:
    world = CurationWorld()
    await alone(world, "Nobody")
    await world.rate("Nobody", 0.2)
    await world.check()
    assert await reasons(world) == {"Nobody": REASONS["orphans"]}
    await world.clear("Nobody")
    again = await world.check()
    assert found(again, "orphans") == {"Nobody": "settled"}
    assert of(again, "orphans").settled == 1
    assert await reasons(world) == {"Nobody": REASONS["low-confidence"]}
    await world.clear("Nobody")
    assert (await world.check()).newly_flagged == 0
    await world.rate("Nobody", 0.1, "Worse than I thought.")
    assert found(await world.check(), "low-confidence") == {"Nobody": "new"}


async def test_a_flag_of_a_person_keeps_its_reason_and_settles_nothing_of_a_check() -> None:
    world = CurationWorld()
    await alone(world, "Nobody")
    await world.flag("Nobody", "Who is that?")
    assert found(await world.check("orphans"), "orphans") == {"Nobody": "flagged"}
    assert await reasons(world) == {"Nobody": "Who is that?"}
    await world.clear("Nobody")
    assert found(await world.check("orphans"), "orphans") == {"Nobody": "new"}


async def test_low_confidence_is_below_a_half() -> None:
    world = CurationWorld()
    await world.make("Tom", "Ann", "Zoe")
    await world.rate("Tom", 0.49)
    await world.rate("Ann", 0.5)
    assert found(await world.check("low-confidence"), "low-confidence") == {"Tom": "new"}


PLAN = {"source": "me", "relation": "VISITS", "target": "Lisbon", "kind": "plan", "fact": "I visit Lisbon."}


async def test_an_open_plan_whose_day_has_long_passed_flags_what_is_planned() -> None:
    world = CurationWorld()
    await world.tell("Lisbon in May.", {**PLAN, "valid_at": "2025-05-01"}, reference_time="2025-04-01")
    porto = {**PLAN, "target": "Porto", "fact": "I visit Porto."}
    await world.tell("Porto some day.", porto, reference_time="2025-04-01")
    rome = {**PLAN, "target": "Rome", "fact": "I visit Rome.", "valid_at": "2099-05-01"}
    await world.tell("Rome later.", rome)
    oslo = {**PLAN, "target": "Oslo", "fact": "I visit Oslo.", "valid_at": "2025-05-01", "invalid_at": "2099-01-01"}
    await world.tell("Oslo, any time.", oslo, reference_time="2025-04-01")
    report = await world.check("stale-plans")
    assert found(report, "stale-plans") == {"Lisbon": "new"}
    assert [one.detail for one in of(report, "stale-plans").entities] == ["I visit Lisbon."]
    await world.clear("Lisbon")
    assert found(await world.check("stale-plans"), "stale-plans") == {"Lisbon": "settled"}
    again = {**PLAN, "fact": "I visit Lisbon again.", "valid_at": "2025-06-01", "replaces": "nothing"}
    await world.tell("Lisbon in June, too.", again, reference_time="2025-05-20")
    assert found(await world.check("stale-plans"), "stale-plans") == {"Lisbon": "new"}


async def two_alike(world: CurationWorld, *names: str) -> None:
    for name in names:
        world.clock.advance(seconds=1)
        await world.tell(f"About {name}.", entities=[{"name": name, "type": "Tool", "summary": STORE}])


async def test_a_pair_is_flagged_with_each_other_and_once_cleared_only_with_a_third() -> None:
    world = CurationWorld()
    await two_alike(world, "Postgres DB", "The Postgres DB")
    report = await world.check("duplicates")
    (pair,) = of(report, "duplicates").entities
    assert {pair.entity_uuid, pair.other_uuid} == {
        world.entity(name).uuid for name in ("Postgres DB", "The Postgres DB")
    }
    assert (pair.name, pair.state, of(report, "duplicates").found) == ("Postgres DB", "new", 1)
    assert (pair.detail, of(report, "duplicates").newly_flagged) == ("The Postgres DB, 0.960", 2)
    (listed,) = (await world.flagged()).flagged
    names = {listed.name, *(text.split(" (")[0] for text in listed.similar_to or ())}
    assert names == {"Postgres DB", "The Postgres DB"}
    assert (await world.check("duplicates")).newly_flagged == 0
    await world.clear("Postgres DB")
    assert (await world.check("duplicates")).newly_flagged == 0
    await world.clear("The Postgres DB")
    assert found(await world.check("duplicates"), "duplicates") == {"Postgres DB": "settled"}
    await two_alike(world, "A Postgres DB")
    third = await world.check("duplicates")
    assert third.newly_flagged == 3
    assert [one.state for one in of(third, "duplicates").entities] == ["new"] * 3


class ByTopic(FakeEmbedder):
    """Texts are alike as far as the same topics are named in them."""

    topics = ("medicine", "comics", "cooking")

    def _vector(self, text: str) -> Vector:
        found = [float(topic in text.lower()) for topic in self.topics]
        length = math.sqrt(sum(found)) or 1.0
        rest = [0.0] * (self.dimension - len(found))
        return array("f", [*(value / length for value in found), *rest] if any(found) else [*found, 1.0, *rest[1:]])


async def linked(world: CurationWorld, name: str, *others: str, label: str = "Concept") -> None:
    """A thing that facts join with others, all but "bare" ones with a summary."""
    facts = [{"source": name, "relation": "NEAR", "target": one, "fact": f"{name} is near {one}."} for one in others]
    await world.tell(
        f"About {name}.",
        *facts,
        entities=[
            {
                "name": one,
                "type": label if one == name else "Concept",
                "summary": None if "bare" in one else f"It is {one}.",
            }
            for one in (name, *others)
        ],
    )


async def a_library() -> CurationWorld:
    """Long known: medicine, and comics."""
    world = CurationWorld(embedder=ByTopic())
    for topic in ("medicine", "comics"):
        await linked(world, f"{topic} 0", *(f"{topic} {place}" for place in range(1, 6)))
    world.clock.advance(days=30)
    return world


async def test_what_is_new_and_linked_only_to_what_is_distant_is_flagged_and_a_normal_newcomer_is_not() -> None:
    world = await a_library()
    await linked(world, "new comics", "medicine 1", "medicine 2")
    await linked(world, "new medicine", "medicine 1", "medicine 2")
    await linked(world, "a bridge from medicine to comics", "medicine 1", "comics 2")
    report = await world.check("placement")
    assert found(report, "placement") == {"new comics": "new"}
    assert [one.detail for one in of(report, "placement").entities] == ["linked to medicine 1, medicine 2"]
    assert await reasons(world) == {"new comics": "Linked to semantically distant concepts"}
    assert (await world.check("placement")).newly_flagged == 0


@pytest.mark.parametrize(
    ("name", "others", "label"),
    [
        ("comics of one link", ["medicine 1"], "Concept"),
        ("comics, linked to bare names", ["bare one", "bare two"], "Concept"),
        ("comics of mixed links", ["medicine 1", "comics 1"], "Concept"),
        ("cooking, like nothing there", ["medicine 1", "medicine 2"], "Concept"),
        ("Ann of comics", ["medicine 1", "medicine 2"], "Person"),
    ],
)
async def test_one_link_one_near_link_nothing_near_or_a_person_is_no_finding(
    name: str, others: list[str], label: str
) -> None:
    world = await a_library()
    await linked(world, name, *others, label=label)
    assert found(await world.check("placement"), "placement") == {}


async def test_after_a_week_a_thing_is_no_newcomer() -> None:
    world = await a_library()
    await linked(world, "new comics", "medicine 1", "medicine 2")
    world.clock.advance(days=8)
    assert found(await world.check("placement"), "placement") == {}


async def test_without_a_model_the_other_checks_are_made_and_the_report_says_what_was_not() -> None:
    world = CurationWorld()
    await alone(world, "Nobody")
    await two_alike(world, "Postgres DB", "The Postgres DB")
    world.embedder.is_available = False
    report = await world.check()
    assert found(report, "orphans") == {"Nobody": "new"}
    assert "embedding model" in (of(report, "duplicates").failed or "")
    assert of(report, "orphans").failed is None


async def test_in_clean_staging_all_are_approved_and_a_later_flag_takes_that_back() -> None:
    world = CurationWorld()
    await world.make("Tom", "Ann", group_id="default_staging")
    await alone(world, "Nobody", group_id="default_staging")
    await world.make("Zoe")
    assert (await world.check(group_id="default_staging", writes=False)).approved == 2
    assert [one.approved_at for one in world.graph.tables.qualities.values()] == []
    report = await world.check(group_id="default_staging")
    assert (report.newly_flagged, report.approved) == (1, 2)
    approved = {uuid for uuid, one in world.graph.tables.qualities.items() if one.approved_at}
    assert approved == {world.entity("Tom").uuid, world.entity("Ann").uuid}
    assert (await world.check(group_id="default_staging")).approved == 0
    await world.flag("Tom")
    assert world.graph.tables.qualities[world.entity("Tom").uuid].approved_at is None
    assert (await world.check()).approved == 0, "production is not approved"
    some = await world.check("orphans", group_id="default_staging")
    assert some.approved == 0, "only what all checks looked at is approved"


async def test_a_group_of_many_is_looked_through_in_parts() -> None:
    world = CurationWorld()
    await alone(world, *(f"Nobody {place}" for place in range(450)))
    report = await world.check("orphans")
    assert (of(report, "orphans").found, of(report, "orphans").newly_flagged) == (450, 450)
    assert len(of(report, "orphans").entities) == 100
    assert [len(write.qualities) for write in world.curated] == [200, 200, 50]


async def test_other_groups_are_not_touched_and_a_contributor_flags_nothing() -> None:
    world = CurationWorld()
    anna = Caller(principal="anna", tier="librarian")
    await alone(world, "Nobody")
    assert (await world.check("orphans", caller=anna)).newly_flagged == 0
    assert (await world.check("orphans", group_id="work")).newly_flagged == 0
    for caller in (anna.model_copy(update={"tier": "contributor"}), Caller(read_only=True)):
        with pytest.raises(PermissionDenied, match="for librarians"):
            await world.check("orphans", caller=caller)
    with pytest.raises(NotAllowed):
        await world.check("orphans", caller=anna.model_copy(update={"groups": ("home",)}), group_id="work")
    assert world.curated == []


def test_no_reason_is_worded_twice() -> None:
    assert len(set(REASONS.values())) == len(CHECKS)
