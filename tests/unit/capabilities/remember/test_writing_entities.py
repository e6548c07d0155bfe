"""Entities, mentions and what is reported about names."""

import json
from typing import Any

import pytest
from tests.builders import a_name, a_write, an_entity, at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.job_records import BackLinkJob

KNOWS = {"source": "Sarah", "relation": "KNOWS", "target": "Tom", "fact": "Sarah knows Tom"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


def names(world: WritingWorld) -> list[str]:
    return sorted(entity.name for entity in world.graph.tables.entities.values())


@pytest.mark.parametrize("spelling", ["User Service", "user-service", "USER_SERVICE", "userservice", " user  service "])
async def test_a_name_in_another_spelling_is_the_same_entity(world: WritingWorld, spelling: str) -> None:
    first = await world.tell("x", entities=[{"name": "User Service"}])
    answer = await world.tell("x", entities=[{"name": spelling}])
    assert [(one.uuid, one.outcome) for one in answer.entities] == [(first.entities[0].uuid, "matched")]


@pytest.mark.parametrize("other", ["C", "C#", "c++ lib"])
async def test_other_punctuation_makes_another_entity(world: WritingWorld, other: str) -> None:
    await world.tell("x", entities=[{"name": "C++"}])
    assert (await world.tell("x", entities=[{"name": other}])).entities[0].outcome == "created"


async def test_an_alias_resolves_to_its_holder(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah Chen", "aliases": ["Sare"]}])
    answer = await world.tell("Sare came.", {**KNOWS, "source": "sare"})
    assert ("Sarah Chen", "matched") in [(one.name, one.outcome) for one in answer.entities]
    assert names(world) == ["Sarah Chen", "Tom"]


async def test_the_same_name_twice_in_a_call_is_one_entity(world: WritingWorld) -> None:
    declared = [{"name": "Sarah", "type": "Person"}, {"name": "sarah", "summary": "Runs."}]
    answer = await world.tell("Sarah", KNOWS, {**KNOWS, "relation": "LIKES"}, entities=declared)
    assert [one.name for one in answer.entities] == ["Sarah", "Tom"]
    assert (world.entity("Sarah").label, world.entity("Sarah").summary) == ("Person", "Runs.")


@pytest.mark.parametrize("word", ["me", "I", "i", "Me", "user", "the user", "The User", "myself"])
async def test_the_person_has_many_names(world: WritingWorld, word: str) -> None:
    await world.tell("x", {**KNOWS, "source": "me"})
    await world.tell("x", {**KNOWS, "source": word, "relation": "LIKES"}, entities=[{"name": word}])
    assert names(world) == ["Tom", "me"]
    assert world.mentions("me") == 2


async def test_the_person_is_named_by_the_setting_and_never_linked_by_mention() -> None:
    world = WritingWorld(now=at(2026, 6), person="Anna")
    await world.tell("I know Tom.", {**KNOWS, "source": "I", "fact": None})
    answer = await world.tell("Anna and the user and me: I am Anna.")
    assert world.facts[0].text == "Anna knows Tom"
    assert [one.name for one in answer.entities] == []
    again = await world.tell("x", {**KNOWS, "source": "Anna"})
    assert [(one.name, one.outcome) for one in again.entities] == [("Anna", "matched"), ("Tom", "matched")]


async def test_a_later_setting_keeps_the_person(world: WritingWorld) -> None:
    await world.tell("x", {**KNOWS, "source": "me"})
    renamed = WritingWorld(now=at(2026, 6), person="Anna")
    renamed.graph.tables = world.graph.tables
    answer = await renamed.tell("x", {**KNOWS, "source": "Anna", "relation": "LIKES"})
    assert [one.outcome for one in answer.entities] == ["matched", "matched"]
    assert names(world) == ["Tom", "me"]


async def test_each_principal_is_a_person_of_their_own() -> None:
    world = WritingWorld(now=at(2026, 6), user_names=True)
    await world.tell("x", {**KNOWS, "source": "me"}, caller=Caller(principal="ann"))
    await world.tell("x", {**KNOWS, "source": "me"}, caller=Caller(principal="bob"))
    assert names(world) == ["Tom", "Tom", "ann", "bob"]


@pytest.mark.parametrize(
    ("principal", "name"),
    [
        ("librechat:anna", "anna"),
        ("librechat:65f0c2d19b1e8a0012345678", "me"),
        ("0b0e8f0e-5a3c-4f57-9f3e-0d3a2a4f4c11", "me"),
        ("12345", "me"),
    ],
)
async def test_the_person_of_others_is_called_as_they_are_known_and_never_by_the_setting_or_an_id(
    principal: str, name: str
) -> None:
    world = WritingWorld(person="Ada", user_names=True)
    await world.tell("x", {**KNOWS, "source": "me"}, caller=Caller(principal=principal))
    assert names(world) == sorted(["Tom", name])


async def test_known_names_in_body_and_name_are_linked(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}, {"name": "Will"}, {"name": "Heron"}])
    answer = await world.tell("I will meet SARAH's team.", name="About Heron")
    assert [(one.name, one.outcome) for one in answer.entities] == [("Heron", "linked"), ("Sarah", "linked")]
    assert (world.mentions("Sarah"), world.mentions("Heron"), world.mentions("Will")) == (2, 2, 1)
    assert answer.next_steps is not None


async def test_declared_entities_and_endpoints_are_mentioned_once(world: WritingWorld) -> None:
    await world.tell("Sarah, Sarah", KNOWS, entities=[{"name": "Sarah"}, {"name": "Not in the text"}])
    assert [world.mentions(name) for name in ("Sarah", "Tom", "Not in the text")] == [1, 1, 1]


async def test_a_new_entity_is_linked_to_earlier_episodes_that_name_it(world: WritingWorld) -> None:
    for body in ("Sarah came.", "Sarah Chen left.", "sarah", "Nobody.", "Sarah's house"):
        await world.tell(body)
    answer = await world.tell("x", entities=[{"name": "Sarah"}, {"name": "Sarah Chen"}])
    assert (answer.linked, answer.linking) == (3, 0)
    assert (world.mentions("Sarah"), world.mentions("Sarah Chen")) == (3, 2)


async def test_a_new_alias_is_linked_to_earlier_episodes(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}])
    await world.tell("Sare came.")
    answer = await world.tell("x", entities=[{"name": "Sarah", "aliases": ["Sare"]}])
    assert answer.linked == 1
    assert world.mentions("Sarah") == 3


@pytest.mark.parametrize(("name", "searched"), [("Sarah", "Sarah"), ("❤\ufe0f", "❤")])
async def test_links_beyond_the_first_are_left_to_a_job(name: str, searched: str) -> None:
    world = WritingWorld(now=at(2026, 6))
    for _ in range(201):
        await world.tell(f"{searched} came.")
    answer = await world.tell("x", entities=[{"name": name}])
    assert (answer.linked, answer.linking) == (200, 1)
    claimed = await world.journal.claim_job("test", 60)
    assert claimed is not None
    job = claimed[2]
    assert isinstance(job, BackLinkJob)
    assert (job.entity_uuid, job.names) == (answer.entities[0].uuid, (searched,))
    assert job.after is not None


async def test_a_matched_entity_gains_what_it_lacks_and_a_new_summary_replaces_the_old(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}])
    gained = await world.tell("x", entities=[{"name": "Sarah", "type": "Person", "summary": "Runs."}])
    await world.tell("x", entities=[{"name": "Sarah", "type": "Robot"}])
    assert (world.entity("Sarah").label, world.entity("Sarah").summary) == ("Person", "Runs.")
    assert "summary replaced" not in gained.message
    replaced = await world.tell("x", entities=[{"name": "Sarah", "summary": "Swims."}])
    assert world.entity("Sarah").summary == "Swims."
    assert "summary replaced: Sarah" in replaced.message
    assert world.entity("Sarah").uuid in world.graph.tables.vectors


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("person", "Person"),
        ("software project", "SoftwareProject"),
        ("API", "API"),
        ("user_story", "UserStory"),
        ("softwareProject", "SoftwareProject"),
        ("3D model", None),
        ("人", None),
        ("Entity", None),
        ("group", None),
        ("`) DELETE n", "DELETEN"),
        ("  ", None),
    ],
)
async def test_types_become_labels(world: WritingWorld, given: str, label: str | None) -> None:
    answer = await world.tell("x", entities=[{"name": "Thing", "type": given}])
    assert world.entity("Thing").label == label
    assert ("left out" in answer.message) == (label is None and bool(given.strip()))


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (["Sare"], ["Sare"]),
        (["Sare", "SC", "Sare"], ["Sare", "SC"]),
        (["Sarah  Chen"], None),
        (["SarahChen"], ["SarahChen"]),
        (["Tom"], None),
        ([], None),
    ],
)
async def test_aliases_that_a_known_entity_gains_are_answered_once(
    world: WritingWorld, sent: list[str], told: list[str] | None
) -> None:
    await world.tell("x", entities=[{"name": "Sarah Chen"}, {"name": "Tom"}])
    for expected in (told, None):
        answer = await world.tell("y", entities=[{"name": "sarah chen", "aliases": sent}])
        first = answer.entities[0]
        assert (first.name, first.outcome, first.aliases) == ("Sarah Chen", "matched", expected)


async def test_aliases_of_a_new_entity_are_answered_without_those_that_others_hold(world: WritingWorld) -> None:
    await world.tell("x", {**KNOWS, "source": "me"})
    answer = await world.tell("y", entities=[{"name": "Sarah", "aliases": ["Sare", "Tom"]}, {"name": "me"}])
    sarah, me = (one.model_dump(mode="json") for one in answer.entities)
    assert sarah == {"uuid": sarah["uuid"], "name": "Sarah", "outcome": "created", "aliases": ["Sare"]}
    assert me == {"uuid": me["uuid"], "name": "me", "outcome": "matched"}


async def test_a_new_name_of_a_known_entity_is_an_alias_and_the_answer_says_how(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah Chen"}])
    answer = await world.tell("Sarah Miller.", entities=[{"name": "Sarah Miller", "aliases": ["Sarah Chen"]}])
    assert attention(answer) == ["alias_taken"]
    call = the(answer, "alias_taken").call
    assert f'delete_episode {{"uuid":"{answer.episode_uuid}"}}' in call
    assert '{"name":"Sarah Chen","aliases":["Sarah Miller"]}' in call
    again = await world.tell("Both.", entities=[{"name": "Sarah Miller", "aliases": ["Sarah Chen"]}])
    assert "delete_episode" not in the(again, "alias_taken").call


async def test_an_alias_that_another_entity_holds_stays_there(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Will Hewer", "aliases": ["Will"]}])
    answer = await world.tell("Will", entities=[{"name": "Will Joyce", "aliases": ["Will"]}])
    assert the(answer, "alias_taken").detail == "Will stays the name of Will Hewer, not of Will Joyce"
    apart = {"entity_uuid": world.entity("Will Joyce").uuid[:8], "not_same_as": world.entity("Will Hewer").uuid[:8]}
    assert f"Else: update_entity {json.dumps(apart, separators=(',', ':'))}" in the(answer, "alias_taken").call
    assert [(one.name, one.outcome) for one in answer.entities] == [("Will Joyce", "created"), ("Will Hewer", "linked")]


@pytest.mark.parametrize(
    ("settings", "caller", "is_named"),
    [
        ({"toolsets": ("memory", "curation")}, LOCAL, True),
        ({"toolsets": ("memory", "curation")}, Caller(principal="anna", tier="contributor"), False),
        ({"toolsets": ("memory", "curation"), "exclude_tools": ("split_entity",)}, LOCAL, False),
        ({"toolsets": ("memory", "curation"), "tools": ("add_memory",)}, LOCAL, False),
        ({}, LOCAL, False),
    ],
)
async def test_where_an_alias_may_come_from_a_mistake_a_split_is_named_to_those_who_have_it(
    settings: dict[str, Any], caller: Caller, *, is_named: bool
) -> None:
    world = WritingWorld(**settings)
    await world.tell("x", entities=[{"name": "Will Hewer", "aliases": ["Will"]}], caller=caller)
    answer = await world.tell("Will", entities=[{"name": "Will Joyce", "aliases": ["Will"]}], caller=caller)
    assert (' If "Will Hewer" has facts of both: split_entity.' in the(answer, "alias_taken").call) == is_named


async def test_in_one_call_a_name_wins_over_an_alias(world: WritingWorld) -> None:
    answer = await world.tell("x", entities=[{"name": "Will Hewer", "aliases": ["Will"]}, {"name": "Will"}])
    assert [one.outcome for one in answer.entities] == ["created", "created"]
    assert the(answer, "alias_taken").detail == "Will stays the name of Will, not of Will Hewer"


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Sarah Chen", "Sarah"),
        ("Sarah", "Dr. Sarah Chen"),
        ("PostgreSQL", "PostgreSLQ"),
        ("Project Atlas", "Atlas"),
        ("govuk/ADR 15", "ADR 15"),
    ],
)
async def test_a_similar_name_is_reported_and_never_merged(world: WritingWorld, known: str, new: str) -> None:
    first = await world.tell("x", entities=[{"name": known}])
    answer = await world.tell("x", entities=[{"name": new}])
    report = the(answer, "similar_existing")
    assert report.candidates == [f"{known} ({first.entities[0].uuid[:8]})"]
    assert answer.episode_uuid in report.call
    assert answer.entities[0].outcome == "created"


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Sprint 11", "Sprint 12"),
        ("ADR 4", "address plan of ADR 4"),
        ("Sarah", "Tom"),
        ("Ann", "Anna"),
        ("of", "University of London"),
    ],
)
async def test_other_names_are_not_similar(world: WritingWorld, known: str, new: str) -> None:
    await world.tell("x", entities=[{"name": known}])
    assert attention(await world.tell("x", entities=[{"name": new}])) == []


async def test_a_name_near_in_meaning_is_reported(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Chen, Sarah"}])
    answer = await world.tell("x", entities=[{"name": "sarah chen"}])
    assert "similar_existing" in attention(answer)


async def test_names_told_apart_in_one_call_are_not_similar(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}])
    answer = await world.tell("x", entities=[{"name": "Sarah"}, {"name": "Sarah Chen"}])
    assert attention(answer) == []


async def test_only_new_endpoints_are_reported_as_undeclared(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}])
    answer = await world.tell(
        "x", KNOWS, {"source": "Ann", "relation": "HAS_AGE", "value": 7}, entities=[{"name": "Ann"}]
    )
    assert the(answer, "undeclared_endpoint").candidates == ["Tom"]
    assert attention(await world.tell("x", {**KNOWS, "relation": "LIKES"})) == []


async def test_undeclared_endpoints_are_one_short_report_of_what_can_be_typed(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah Chen"}])
    facts = [{**KNOWS, "target": f"Friend {letter}"} for letter in "ABCDEFGHIJKL"]
    old = {"source": "Ann", "relation": "WORKS_AT", "target": "Beta", "replaces": "Old Ltd"}
    status = {"source": "Ann", "relation": "HAS_STATUS", "value": "new"}
    answer = await world.tell("x", *facts, old, status, entities=[{"name": "Ann"}])
    report = the(answer, "undeclared_endpoint")
    assert report.candidates == [f"Friend {letter}" for letter in "ABCDEFGHIJ"]
    assert report.detail.endswith("(10 of 13)")
    assert the(answer, "similar_existing").detail.startswith("Sarah is new")
    alone = await world.tell("x", {**KNOWS, "source": "Ben", "relation": "LIKES"})
    assert len(the(alone, "undeclared_endpoint").model_dump_json()) < 150
    assert report.call.startswith("Optional:")


async def test_types_come_with_the_next_note_and_no_note_is_made_up_for_them(world: WritingWorld) -> None:
    report = the(await world.tell("x", KNOWS), "undeclared_endpoint")
    assert ready_calls(report) == []
    call: dict[str, Any] = {
        "episode_body": "y",
        "entities": [{"name": name, "type": "?"} for name in report.candidates],
    }
    answer = await world.send(call)
    assert ([one.outcome for one in answer.entities], attention(answer)) == (["matched", "matched"], [])
    assert [entity.label for entity in world.graph.tables.entities.values()] == [None, None]
    call["entities"][0]["type"] = "Person"
    await world.send(call)
    assert world.entity("Sarah").label == "Person"


async def test_entities_without_a_name_record_are_found_by_name(world: WritingWorld) -> None:
    sarah = an_entity("Sarah", group_id="default", summary="From Graphiti.")
    await world.graph.writer.apply(a_write(sarah), {})
    answer = await world.tell("x", entities=[{"name": "Sarah", "type": "Person"}])
    assert [(one.uuid, one.outcome) for one in answer.entities] == [(sarah.uuid, "matched")]
    assert world.entity("Sarah").summary == "From Graphiti."


async def test_names_learned_by_another_process_are_known_at_once(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sarah"}])
    tom = an_entity("Tom", group_id="default")
    await world.graph.writer.apply(a_write(tom, a_name(tom)), {})
    answer = await world.tell("Tom and Sarah")
    assert [one.name for one in answer.entities] == ["Sarah", "Tom"]


async def test_only_facts_between_two_entities_of_the_note_are_related(world: WritingWorld) -> None:
    known = [
        {"source": "Sarah", "relation": "KNOWS", "target": "Tom", "fact": "Sarah knows Tom"},
        {"source": "Sarah", "relation": "KNOWS", "target": "Ann", "fact": "Sarah knows Ann"},
        {"source": "me", "relation": "KNOWS", "target": "Sarah", "fact": "I know Sarah"},
    ]
    await world.tell("x", *known, reference_time="2026-01-01")
    met = {"source": "me", "relation": "MET", "target": "Sarah"}
    assert (await world.tell("Sarah and I met.", met)).related == []
    answer = await world.tell("Sarah and I met, Tom came late.", met)
    assert answer.related == ["Sarah knows Tom (since at least 2026-01-01, start unknown)"]
    assert (await world.tell("Sarah and Tom.", {**known[0]})).related == []
    assert (await world.tell("Nobody.")).related == []


async def test_at_most_five_facts_are_related(world: WritingWorld) -> None:
    facts = [{"source": f"Person {one}", "relation": "KNOWS", "target": f"Person {one + 1}"} for one in range(8)]
    await world.tell("x", *facts)
    names = [{"name": f"Person {one}"} for one in range(9)]
    assert len((await world.tell("They met.", entities=names)).related) == 5


async def test_next_steps_only_where_something_is_missing(world: WritingWorld) -> None:
    assert "entities" in ((await world.tell("Sarah came.")).next_steps or "")
    assert (await world.tell("x", KNOWS)).next_steps is None
    said = (await world.tell("x", entities=[{"name": "Zanzibar"}])).next_steps or ""
    assert "search_nodes" in said
    assert said.startswith("Nothing in it was known before: right if you searched for it")
    assert len(said) < 130
    assert (await world.tell("Zanzibar", entities=[{"name": "Zanzibar"}])).next_steps is None


@pytest.mark.parametrize(
    ("name", "alias", "earlier"),
    [
        ("Whitehall", "White Hall", "By coach to White Hall."),
        ("Redis", "redis", "we run redis"),
        ("userservice", "user service", "The user-service is down."),
        ("userservice", "user-service", "The user service is down."),
    ],
)
async def test_an_alias_that_is_only_another_spelling_is_matched_and_listed(
    world: WritingWorld, name: str, alias: str, earlier: str
) -> None:
    told = await world.tell(earlier)
    answer = await world.tell("x", entities=[{"name": name, "aliases": [alias]}])
    uuid = answer.entities[0].uuid
    assert (told.episode_uuid, uuid) in world.graph.tables.mentions
    later = await world.tell(earlier)
    assert (later.episode_uuid, uuid) in world.graph.tables.mentions
    assert await world.graph.records.aliases([uuid], 10) == {uuid: [alias]}
    assert answer.needs_attention == []


async def test_a_known_name_gains_spellings_one_by_one(world: WritingWorld) -> None:
    told = [await world.tell(f"{spelling} answers.") for spelling in ("user service api", "User-ServiceAPI")]
    first = await world.tell("x", entities=[{"name": "userserviceapi"}])
    uuid = first.entities[0].uuid
    for spelling in ("user service api", "User-ServiceAPI"):
        answer = await world.tell("x", entities=[{"name": "userserviceapi", "aliases": [spelling]}])
        assert [(one.uuid, one.outcome) for one in answer.entities] == [(uuid, "matched")]
    assert {(one.episode_uuid, uuid) for one in told} <= world.graph.tables.mentions.keys()
    assert (await world.graph.records.aliases([uuid], 10))[uuid] == ["User-ServiceAPI", "user service api"]
    await world.tell("x", entities=[{"name": "userserviceapi", "aliases": ["user service api"]}])
    assert [row.intent.names for row in world.journal.table.values()][-1] == ()


async def test_the_name_of_a_declared_entity_is_a_spelling_as_well(world: WritingWorld) -> None:
    first = await world.tell("x", entities=[{"name": "Postgres"}])
    await world.tell("x", entities=[{"name": "postgres"}])
    later = await world.tell("we moved to postgres")
    assert (later.episode_uuid, first.entities[0].uuid) in world.graph.tables.mentions


async def test_an_end_of_a_fact_in_another_spelling_is_no_new_spelling(world: WritingWorld) -> None:
    first = await world.tell("x", entities=[{"name": "Rose"}])
    await world.tell("x", {**KNOWS, "source": "rose"})
    later = await world.tell("a rose is a rose")
    assert (later.episode_uuid, first.entities[0].uuid) not in world.graph.tables.mentions


async def test_names_of_emoji_and_symbols_are_names(world: WritingWorld) -> None:
    await world.tell("We won 🎉 with ❤️ and 1 + 1.")
    fact = {**KNOWS, "source": "🎉", "target": "👨‍👩‍👧"}
    answer = await world.tell("x", fact, entities=[{"name": "❤️"}, {"name": "+"}, {"name": "C++"}])
    assert names(world) == sorted(["🎉", "👨‍👩‍👧", "❤️", "+", "C++"])
    assert attention(answer) == ["undeclared_endpoint"]
    again = await world.tell("x", entities=[{"name": "🎉"}, {"name": "❤"}])
    assert [one.outcome for one in again.entities] == ["matched", "matched"]


async def test_an_emoji_is_linked_in_texts_before_and_after(world: WritingWorld) -> None:
    before = [await world.tell(text) for text in ("We won 🎉.", "Again 🎊", "None.")]
    answer = await world.tell("x", entities=[{"name": "🎉", "aliases": ["🎊"]}])
    assert (answer.linked, answer.entities[0].aliases) == (2, ["🎊"])
    later = await world.tell("A party 🎉")
    assert [one.name for one in later.entities] == ["🎉"]
    mentioning = {episode for episode, _ in world.graph.tables.mentions}
    assert {one.episode_uuid for one in (*before[:2], answer, later)} == mentioning
