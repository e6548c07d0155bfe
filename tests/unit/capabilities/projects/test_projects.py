"""Projects: an entity with a record beside it, whose status is a fact."""

import asyncio
from typing import Any

import pytest
from tests.worlds.projects_world import ProjectsWorld

from graphiti_pkm.capabilities.projects.lookups import status_shown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotAllowed, NotFound

SIMON = Caller(principal="simon")


async def test_a_project_is_one_write_an_entity_and_a_fact_of_its_status() -> None:
    world = ProjectsWorld()
    answer = await world.create(description="A temporal memory", metadata={"a": {"b": [1, 2]}})
    assert (answer.name, answer.description, answer.status, answer.created_new) == (
        "Momento",
        "A temporal memory",
        "active",
        True,
    )
    assert answer.metadata == {"a": {"b": [1, 2]}}
    assert (answer.entries, answer.last_entry, answer.pinned) == (0, None, None)
    assert answer.project_id == world.entity("Momento").uuid
    assert world.entity("Momento").label == "Project"
    assert world.lines() == ["Momento HAS_STATUS status [active]"]
    (write,) = world.written
    assert [one.content for one in write.episodes] == ["Project Momento: A temporal memory. It is active."]
    assert answer.created == write.projects[0].created_at.isoformat()


async def test_a_second_call_with_the_name_returns_the_project_as_it_is() -> None:
    world = ProjectsWorld()
    first = await world.create(description="One", metadata={"a": 1})
    second = await world.create(" momento ", description="Two", metadata={"a": 2})
    assert not second.created_new
    assert "is there already" in second.message
    assert second.model_copy(update={"message": "", "created_new": True}) == first.model_copy(update={"message": ""})
    assert len(world.written) == 1


async def test_of_calls_at_the_same_time_one_makes_the_project() -> None:
    world = ProjectsWorld()
    answers = await asyncio.gather(*(world.create(metadata={"n": n}) for n in range(4)))
    assert sum(one.created_new for one in answers) == 1
    assert len({one.project_id for one in answers}) == 1
    made = next(one for one in answers if one.created_new)
    assert all(one.metadata == made.metadata for one in answers)
    assert len(world.written) == 1


async def test_what_else_has_the_name_is_named_and_nothing_is_stored() -> None:
    world = ProjectsWorld()
    await world.tell("Momento came.", entities=[{"name": "Momento", "type": "Person"}])
    with pytest.raises(InvalidInput, match=r"'Momento' is of type Person \([0-9a-f]{8}\).*Nothing was stored"):
        await world.create()
    with pytest.raises(InvalidInput, match="of type Person"):
        await world.create("me")
    assert len(world.written) == 1
    assert (await world.listed()).projects == []


async def test_an_entity_without_a_type_becomes_the_project_and_keeps_its_facts() -> None:
    world = ProjectsWorld()
    await world.tell("Tom works on Momento.", {"source": "Tom", "relation": "WORKS_ON", "target": "Momento"})
    before = world.entity("Momento").uuid
    answer = await world.create()
    assert answer.project_id == before
    assert "Tom WORKS_ON Momento" in world.lines()
    assert answer.created_new
    assert answer.message == "Made 'Momento', which was known, a project."


@pytest.mark.parametrize(
    ("word", "shown"), [("launched", "launched"), ("in progress", "active"), ("done", "completed")]
)
async def test_a_known_entity_keeps_its_status_when_it_becomes_a_project(word: str, shown: str) -> None:
    world = ProjectsWorld()
    await world.tell(
        "Orchard launch came.",
        {"source": "Orchard launch", "relation": "HAS_STATUS", "value": word},
        entities=[{"name": "Orchard launch", "type": "Project"}],
    )
    (before,) = world.facts
    world.clock.advance(seconds=1)
    answer = await world.create("Orchard launch", description="Launch of Orchard", metadata={"a": 1})
    assert (answer.status, answer.description, answer.metadata) == (shown, "Launch of Orchard", {"a": 1})
    assert answer.message == f"Made 'Orchard launch', which was known, a project. It is {shown}, as before."
    assert world.facts == [before]
    assert world.written[-1].changes == ()
    assert (await world.listed(status="active")).total == (shown == "active")
    assert (await world.update("Orchard launch", status="archived")).status == "archived"


async def test_a_status_that_is_planned_or_was_ended_stays_as_it_was_told() -> None:
    world = ProjectsWorld()
    await world.tell(
        "Momento is to be done in May 2030.",
        {"source": "Momento", "relation": "HAS_STATUS", "value": "done", "kind": "plan", "valid_at": "2030-05"},
    )
    await world.tell(
        "Momento was paused in 2020.",
        {"source": "Momento", "relation": "HAS_STATUS", "value": "paused", "valid_at": "2020", "invalid_at": "2021"},
    )
    before = world.facts
    assert (await world.create()).status == "active"
    assert [one for one in world.facts if one.value != "active"] == before


async def test_a_status_that_is_told_meanwhile_is_kept() -> None:
    world = ProjectsWorld()
    told = world.tell("Momento is paused.", {"source": "Momento", "relation": "HAS_STATUS", "value": "paused"})
    _, answer = await asyncio.gather(told, world.create())
    assert answer.status in {"paused", "active"}
    assert world.lines() == ["Momento HAS_STATUS status [paused]"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "   "}, "name is blank"),
        ({"metadata": [1]}, "no JSON object"),
        ({"metadata": "{"}, "no JSON"),
        ({"metadata": {"a": float("nan")}}, "NaN"),
        ({"metadata": {"a": "x" * 10_000}}, "at most 10,000"),
        ({"metadata": {"a": "\0"}}, "NUL"),
        ({"metadata": {"a": "\ud800"}}, "surrogate"),
    ],
)
async def test_bad_input_stores_nothing(fields: dict[str, Any], said: str) -> None:
    world = ProjectsWorld()
    with pytest.raises(InvalidInput, match=said) as refused:
        await world.create(**{"name": "Momento", **fields})
    assert "Nothing was stored" in refused.value.message
    assert world.written == []
    assert world.graph.tables.entities == {}


async def test_metadata_nested_without_end_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(InvalidInput, match="nested"):
        await ProjectsWorld().create(metadata=deep)


async def test_metadata_may_come_as_a_text_and_is_empty_if_left_out() -> None:
    world = ProjectsWorld()
    assert (await world.create(metadata='{"a": 1}')).metadata == {"a": 1}
    assert (await world.create("Other")).metadata == {}


async def test_a_new_status_ends_the_former_one_which_stays_known() -> None:
    world = ProjectsWorld()
    made = await world.create()
    answer = await world.update(status="archived")
    assert (answer.status, answer.project_id, answer.needs_attention) == ("archived", made.project_id, [])
    assert [line for line in world.lines() if "HAS_STATUS" in line] == ["Momento HAS_STATUS status [archived]"]
    former = world.fact("Momento HAS_STATUS status [active]")
    assert former.invalid_at is not None
    back = await world.update(status="active")
    assert back.status == "active"
    assert len([fact for fact in world.facts if fact.relation == "HAS_STATUS"]) == 3


async def test_what_is_so_already_is_not_written_again() -> None:
    world = ProjectsWorld()
    await world.create(description="One", metadata={"a": 1})
    await world.update(metadata={"a": 2})
    writes = len(world.written)
    answer = await world.update(status="active", description="One", metadata={"a": 2})
    assert answer.message == "It is so already."
    assert len(world.written) == writes


async def test_description_metadata_and_pins_change_alone_and_the_rest_stays() -> None:
    world = ProjectsWorld()
    await world.create(description="One", metadata={"a": 1})
    await world.tell("Tom came.", entities=[{"name": "Tom"}, {"name": "Anna"}])
    assert (await world.update(description="Two")).metadata == {"a": 1}
    assert world.entity("Momento").summary == "Two"
    changed = await world.update(metadata={"b": 2}, pin=["Tom", world.entity("Anna").uuid[:8]])
    assert (changed.description, changed.metadata, changed.pinned) == ("Two", {"b": 2}, ["Tom", "Anna"])
    assert (await world.update(unpin=["tom"], pin=["Anna"])).pinned == ["Anna"]
    assert (await world.update(status="completed")).pinned == ["Anna"]
    kinds = [write.kind.value for write in world.written]
    assert kinds == ["add_memory", "add_memory", "add_memory", "update_project", "update_project", "add_memory"]


async def test_a_pin_that_is_no_entity_changes_nothing_and_near_names_are_told() -> None:
    world = ProjectsWorld()
    await world.create()
    await world.tell("Thomas came.", entities=[{"name": "Thomas Meyer"}])
    writes = len(world.written)
    with pytest.raises(NotFound, match=r"No entity 'Thomas'.*Near: Thomas Meyer.*Nothing was changed"):
        await world.update(pin=["Thomas"], metadata={"a": 1})
    with pytest.raises(InvalidInput, match="Nothing to change"):
        await world.update()
    with pytest.raises(InvalidInput, match=r"in pin and in unpin.*Nothing was changed"):
        await world.update(pin=["Thomas Meyer"], unpin=["thomas meyer"])
    assert len(world.written) == writes


async def test_no_project_has_more_than_fifty_pins() -> None:
    world = ProjectsWorld()
    await world.create()
    names = [f"Thing {n}" for n in range(51)]
    await world.tell("Things.", entities=[{"name": name} for name in names])
    await world.update(pin=names[:50])
    with pytest.raises(InvalidInput, match="at most 50 pinned"):
        await world.update(pin=names[50:])
    assert len((await world.update(unpin=names[:1], pin=names[50:])).pinned or []) == 50


async def test_an_unknown_project_is_an_error_with_near_names() -> None:
    world = ProjectsWorld()
    with pytest.raises(NotFound, match="this group has none"):
        await world.update("Momento", status="archived")
    await world.create("Momento memory")
    await world.create("Other")
    with pytest.raises(NotFound, match=r"No project 'Momento'. Near: Momento memory \([0-9a-f]{8}\)"):
        await world.update("Momento", status="archived")
    with pytest.raises(NotFound, match=r"No project 'Quite something'. The newest are .*Other"):
        await world.update("Quite something", status="archived")
    await world.tell("Tom came.", entities=[{"name": "Tom"}])
    with pytest.raises(NotFound, match="'Tom' is known, but no project"):
        await world.update("Tom", status="archived")


async def test_a_project_is_found_by_name_whole_uuid_and_its_first_characters() -> None:
    world = ProjectsWorld()
    made = await world.create()
    for text in ("momento", made.project_id, made.project_id[:8], made.project_id.upper()):
        assert (await world.update(text, metadata={"by": text})).metadata == {"by": text}


async def test_projects_are_listed_newest_first_in_pages_with_their_entries() -> None:
    world = ProjectsWorld()
    for name in ("One", "Two", "Three"):
        await world.create(name)
        world.clock.advance(seconds=5)
    await world.enter("First.", project_id="One", timestamp="2025-03-01")
    await world.enter("Second.", project_id="One", timestamp="2025-02-01")
    first = await world.listed(limit=2)
    assert [one.name for one in first.projects] == ["Three", "Two"]
    assert (first.total, first.returned, first.truncated) == (3, 2, True)
    world.clock.advance(seconds=5)
    await world.create("Four")
    second = await world.listed(limit=2, cursor=first.next_cursor)
    assert [(one.name, one.entries, one.last_entry) for one in second.projects] == [
        ("One", 2, "2025-03-01T00:00:00+00:00")
    ]
    assert (second.total, second.next_cursor) == (3, None)
    with pytest.raises(InvalidCursor):
        await world.listed(status="active", cursor=first.next_cursor)


async def test_projects_are_listed_by_status_in_whatever_word_it_was_told() -> None:
    world = ProjectsWorld()
    for name in ("One", "Two", "Three"):
        await world.create(name)
    await world.update("Two", status="archived")
    await world.tell("Three is done.", {"source": "Three", "relation": "HAS_STATUS", "value": "done"})
    found = {status: [one.name for one in (await world.listed(status=status)).projects] for status in
             ("active", "archived", "completed")}  # fmt: skip
    assert found == {"active": ["One"], "archived": ["Two"], "completed": ["Three"]}
    assert {one.name: one.status for one in (await world.listed()).projects} == {
        "One": "active", "Two": "archived", "Three": "completed"
    }  # fmt: skip


async def test_an_empty_list_says_so() -> None:
    answer = await ProjectsWorld().listed(status="archived")
    assert answer.message == "No archived project; create_project makes one."
    assert (answer.total, answer.projects) == (0, [])


@pytest.mark.parametrize(
    ("word", "shown"),
    [(None, "active"), ("Active", "active"), ("done", "completed"), ("in progress", "active"), ("on hold", "on hold")],
)
def test_the_status_that_is_shown(word: str | None, shown: str) -> None:
    assert status_shown(word) == shown


async def test_projects_of_one_caller_are_nothing_to_another() -> None:
    world = ProjectsWorld()
    mine = await world.create()
    with pytest.raises(NotFound):
        await world.update(mine.project_id, SIMON, status="archived")
    with pytest.raises(NotFound):
        await world.enter("A note.", SIMON, project_id="Momento")
    assert (await world.listed(SIMON)).total == 0
    theirs = await world.create(caller=SIMON)
    assert theirs.created_new
    assert theirs.project_id != mine.project_id


async def test_who_may_only_read_makes_and_changes_nothing() -> None:
    world = ProjectsWorld()
    await world.create()
    reader = Caller(read_only=True)
    for call in (world.create("Other", reader), world.update("Momento", reader, status="archived"),
                 world.enter("A note.", reader)):  # fmt: skip
        with pytest.raises(NotAllowed):
            await call
    assert len(world.written) == 1
