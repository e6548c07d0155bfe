"""Entries: episodes with a type, a project and metadata, and what mentions an entity among them."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.worlds.projects_world import ProjectsWorld

from graphiti_pkm.capabilities.projects.models import EntryContextResponse
from graphiti_pkm.capabilities.projects.requests import CreateEntry
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotFound

SIMON = Caller(principal="simon")
JWT = "The authentication module uses JWT tokens with refresh token rotation."
AUTHENTICATION: dict[str, Any] = {
    "entities": [
        {"name": "JWT tokens", "type": "technology"},
        {"name": "authentication module", "type": "component"},
        {"name": "refresh token rotation", "type": "security_pattern"},
    ],
    "facts": [{"source": "authentication module", "relation": "USES", "target": "JWT tokens"}],
}


def contents(answer: EntryContextResponse) -> list[str | None]:
    return [entry.content for entry in answer.entries]


async def test_an_entry_is_one_write_of_an_episode_with_its_record() -> None:
    world = ProjectsWorld()
    made = await world.create()
    text = "Zwei Zeilen\n  und \N{SNOWMAN} \u0301, unverändert. "
    answer = await world.enter(text, type="meeting", project_id="Momento", metadata={"a": {"b": [1, 2]}})
    assert (answer.status, answer.project_id) == ("processed", made.project_id)
    write = world.written[-1]
    assert [one.content for one in write.episodes] == [text]
    (entry,) = write.entries
    assert (entry.uuid, entry.type, entry.project_uuid, entry.metadata) == (
        answer.entry_id,
        "meeting",
        made.project_id,
        '{"a":{"b":[1,2]}}',
    )
    assert answer.timestamp == write.episodes[0].valid_at.isoformat()


async def test_project_by_name_and_by_uuid_is_the_same_and_an_entry_needs_none() -> None:
    world = ProjectsWorld()
    made = await world.create()
    answers = [await world.enter(f"Note {n}.", project_id=text) for n, text in
               enumerate(("Momento", made.project_id, made.project_id[:8], None))]  # fmt: skip
    assert [one.project_id for one in answers] == [made.project_id] * 3 + [None]


async def test_an_unknown_project_stores_nothing_and_names_near_ones() -> None:
    world = ProjectsWorld()
    await world.create("Momento memory")
    for text in ("Momento", "11111111-1111-4111-8111-111111111111", "deadbeef"):
        with pytest.raises(NotFound, match=r"No project .* Nothing was stored\.$"):
            await world.enter("A note.", project_id=text)
    with pytest.raises(NotFound, match="Near: Momento memory"):
        await world.enter("A note.", project_id="Momento")
    assert len(world.written) == 1


@pytest.mark.parametrize(
    ("given", "stored"),
    [("journal", "journal"), ("code_comment", "code_comment"), ("meeting", "meeting"), ("task", "task"),
     ("meeting_notes", "meeting"), (None, "journal")],
)  # fmt: skip
async def test_each_type_is_kept_and_meeting_notes_is_meeting(given: str | None, stored: str) -> None:
    world = ProjectsWorld()
    await world.enter("Tom came.", entities=[{"name": "Tom"}], **({} if given is None else {"type": given}))
    (entry,) = (await world.context_of("Tom")).entries
    assert entry.type == stored


def test_a_poem_is_no_type() -> None:
    with pytest.raises(ValidationError, match="journal"):
        CreateEntry(content="A note.", type="poem")  # type: ignore[arg-type]


async def test_an_entry_that_ends_facts_lists_them_as_a_note_does() -> None:
    answers = []
    for tool in ("create_entry", "add_memory"):
        world = ProjectsWorld()
        tom = {"source": "Tom", "relation": "WORKS_AT"}
        await world.tell("Tom works at Acme.", {**tom, "target": "Acme"})
        facts = [{**tom, "target": "Beta", "replaces": "Acme"}]
        said = "Tom works at Beta."
        answers.append(await (world.enter(said, facts=facts) if tool == "create_entry" else world.tell(said, *facts)))
    entry, note = (
        [one.model_dump(exclude={"uuid", "invalid_at", "replaced_by"}) for one in answer.retired] for answer in answers
    )
    assert [(one["kind"], "Acme" in one["fact"]) for one in entry] == [("retired", True)]
    assert entry == note


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": " \n "}, "content is blank"),
        ({"timestamp": "yesterweek"}, "timestamp"),
        ({"metadata": "no"}, "no JSON"),
        ({"entities": [{"name": "  "}]}, "name"),
    ],
)
async def test_bad_input_stores_nothing(fields: dict[str, Any], said: str) -> None:
    world = ProjectsWorld()
    with pytest.raises(InvalidInput, match=said):
        await world.enter(**{"content": "A note.", **fields})
    assert world.written == []


async def test_the_worked_example_of_the_authentication_module() -> None:
    world = ProjectsWorld()
    made = await world.create()
    answer = await world.enter(JWT, project_id="Momento", **AUTHENTICATION)
    assert [one.name for one in answer.entities] == ["JWT tokens", "authentication module", "refresh token rotation"]
    assert world.entity("refresh token rotation").label == "SecurityPattern"
    assert "authentication module USES JWT tokens" in world.lines()
    context = await world.context_of("JWT tokens")
    assert contents(context) == [JWT]
    assert context.entries[0].project_id == made.project_id


async def test_known_names_are_linked_unless_no_entities_are_to_be_extracted() -> None:
    world = ProjectsWorld()
    await world.tell("Tom came.", entities=[{"name": "Tom"}])
    linked = await world.enter("Tom went.")
    plain = await world.enter("Tom stayed.", extract_entities=False)
    assert [(one.name, one.outcome) for one in linked.entities] == [("Tom", "linked")]
    assert plain.entities == []
    assert contents(await world.context_of("Tom")) == ["Tom went."]


async def test_a_name_that_becomes_known_later_is_not_linked_to_what_links_no_names() -> None:
    world = ProjectsWorld()
    await world.enter("Anna went.", extract_entities=False)
    await world.enter("Anna stayed.")
    await world.tell("Anna came.", entities=[{"name": "Anna"}])
    assert contents(await world.context_of("Anna")) == ["Anna stayed."]


async def test_what_the_caller_names_is_linked_even_so() -> None:
    world = ProjectsWorld()
    await world.enter("She went.", extract_entities=False, entities=[{"name": "Anna"}])
    assert contents(await world.context_of("Anna")) == ["She went."]


async def test_with_a_model_an_entry_is_queued_for_it_unless_none_is_to_read_it() -> None:
    world = ProjectsWorld(has_model=True)
    await world.create()
    queued = await world.enter("Tom came.")
    unread = await world.enter("Tom went.", extract_entities=False)
    assert (queued.status, unread.status) == ("queued", "processed")
    jobs = [[job.episode_uuid for job in write.extractions] for write in world.written]
    assert jobs == [[], [queued.entry_id], []]


async def test_the_context_is_the_newest_page_in_order_of_time_and_pages_on_to_older_ones() -> None:
    world = ProjectsWorld()
    for week in range(25):
        month, day = divmod(week, 28)
        await world.enter(
            f"Week {week + 1} of the Django project.",
            entities=[{"name": "Django project"}],
            timestamp=f"2025-{month + 1:02d}-{day + 1:02d}",
        )
    first = await world.context_of("django project")
    assert (first.total, first.returned, first.truncated, first.entity) == (25, 20, True, "Django project")
    assert contents(first)[0] == "Week 6 of the Django project."
    assert contents(first)[-1] == "Week 25 of the Django project."
    second = await world.context_of("django project", cursor=first.next_cursor)
    assert [entry.timestamp[:10] for entry in second.entries] == [f"2025-01-0{n}" for n in range(1, 6)]
    assert (second.total, second.next_cursor) == (25, None)
    with pytest.raises(InvalidCursor):
        await world.context_of("django project", after="2025-01-02", cursor=first.next_cursor)


async def test_a_late_entry_with_an_older_date_comes_in_its_place() -> None:
    world = ProjectsWorld()
    for day in ("2025-03-03", "2025-03-01", "2025-03-02"):
        await world.enter(f"Tom on {day}.", entities=[{"name": "Tom"}], timestamp=day)
    assert [one.timestamp[:10] for one in (await world.context_of("Tom")).entries] == [
        "2025-03-01",
        "2025-03-02",
        "2025-03-03",
    ]


async def test_the_context_is_filtered_by_project_and_period() -> None:
    world = ProjectsWorld()
    for name in ("One", "Two"):
        await world.create(name)
        for day in ("2025-03-01", "2025-04-01"):
            await world.enter(f"Tom in {name} on {day}.", project_id=name, entities=[{"name": "Tom"}], timestamp=day)
    await world.enter("Tom alone.", entities=[{"name": "Tom"}], timestamp="2025-05-01")
    assert (await world.context_of("Tom")).total == 5
    assert contents(await world.context_of("Tom", project_id="One")) == [
        "Tom in One on 2025-03-01.",
        "Tom in One on 2025-04-01.",
    ]
    found = await world.context_of("Tom", project_id="Two", after="2025-04", before="2025-05")
    assert contents(found) == ["Tom in Two on 2025-04-01."]
    with pytest.raises(NotFound):
        await world.context_of("Tom", project_id="Three")
    with pytest.raises(InvalidInput, match="after"):
        await world.context_of("Tom", after="some day")


async def test_no_episode_but_entries_is_in_the_context_and_the_answer_says_where_others_are() -> None:
    world = ProjectsWorld()
    await world.tell("Tom came.", entities=[{"name": "Tom"}])
    answer = await world.context_of("Tom")
    assert (answer.total, answer.entries) == (0, [])
    assert answer.message == "No entry mentions Tom; 1 episode(s) do, see get_entity_timeline."


async def test_an_unknown_name_gives_near_ones_and_a_uuid_and_me_are_known() -> None:
    world = ProjectsWorld()
    await world.enter(
        "Thomas and I came.",
        entities=[{"name": "Thomas Meyer", "aliases": ["TM"]}],
        facts=[{"source": "me", "relation": "KNOWS", "target": "Thomas Meyer"}],
    )
    unknown = await world.context_of("Thomas")
    assert unknown.entries == []
    assert unknown.candidates == [f"Thomas Meyer ({world.entity('Thomas Meyer').uuid[:8]})"]
    for text in ("TM", world.entity("Thomas Meyer").uuid, world.entity("Thomas Meyer").uuid[:8], "me"):
        assert contents(await world.context_of(text)) == ["Thomas and I came."]
    assert (await world.context_of("Nobody")).candidates is None


async def test_long_contents_are_cut_and_say_so() -> None:
    world = ProjectsWorld()
    text = "Tom. " * 1_000
    await world.enter(text, entities=[{"name": "Tom"}])
    (cut,) = (await world.context_of("Tom")).entries
    assert (cut.content, cut.content_truncated, cut.content_chars) == (text[:2_000], True, len(text))
    (none,) = (await world.context_of("Tom", max_content_chars=0)).entries
    assert none.content is None


async def test_the_metadata_are_part_of_the_size_of_a_page() -> None:
    world = ProjectsWorld()
    for n in range(5):
        await world.enter(f"Tom {n}.", entities=[{"name": "Tom"}], metadata={"note": "x" * 9_000})
    page = await world.context_of("Tom")
    assert (page.total, page.returned, page.truncated) == (5, 2, True)
    assert page.next_cursor is not None


async def test_entries_of_one_caller_are_nothing_to_another() -> None:
    world = ProjectsWorld()
    await world.enter("Tom came.", entities=[{"name": "Tom"}])
    uuid = world.entity("Tom").uuid
    for text in ("Tom", uuid, uuid[:8]):
        answer = await world.context_of(text, SIMON)
        assert (answer.total, answer.entries, answer.candidates) == (0, [], None)
