"""Two entities that are one: what may be merged, what moves, and undoing it."""

import math
from array import array
from typing import Any

import pytest
from tests.builders import a_document, a_project, a_write, an_entry, an_instance, new_uuid
from tests.fakes import FakeEmbedder
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.curation.models import MergeResponse
from graphiti_pkm.capabilities.history.requests import UpdateEntity, WhatChanged
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import CONFIDENTIAL, Entity, Fact, Mention, Name, Vector, WriteKind
from graphiti_pkm.errors import ConflictingContent, InvalidInput, NotAllowed, NotFound, Unavailable, WritePending

STORE = "A store of rows with transactions and an optimizer."
KEPT, REMOVED = "Postgres DB", "The Postgres DB"


async def two(world: CurationWorld, *, flagged: bool = True, caller: Caller = LOCAL, **fields: Any) -> None:
    """Two entities that are alike, each with facts and a note of its own."""
    for name, host in ((KEPT, "Atlas"), (REMOVED, "Borealis")):
        world.clock.advance(seconds=1)
        await world.tell(
            f"{name} runs on {host}.",
            {"source": name, "relation": "HOSTED_ON", "target": host},
            {"source": "Billing", "relation": "USES", "target": name},
            entities=[{"name": name, "type": "Tool", "summary": STORE}],
            caller=caller,
            **fields,
        )
    if flagged:
        await world.flag_similar(caller)


State = tuple[dict[str, Entity], dict[str, Fact], dict[str, Name], dict[tuple[str, str], Mention], set[Any], Any]


def state(world: CurationWorld) -> State:
    """All that a merge may change, but for events."""
    db = world.graph.tables
    ends = {uuid: ends for uuid, ends in db.change_ends.items() if db.changes[uuid].kind not in ("merged", "unmerged")}
    return (
        dict(db.entities),
        dict(db.facts),
        dict(db.names),
        dict(db.mentions),
        set(db.apart),
        (ends, dict(db.qualities), dict(db.entries), dict(db.instances), dict(db.former)),
    )


def facts_of(world: CurationWorld, name: str) -> set[tuple[str, str, str]]:
    named = map(world.graph.tables.named, world.graph.tables.facts.values())
    return {
        (one.source_name, one.relation, one.target_name) for one in named if name in (one.source_name, one.target_name)
    }


def numbers(answer: MergeResponse) -> tuple[int | None, ...]:
    return answer.facts_moved, answer.facts_joined, answer.facts_dropped, answer.mentions_moved


@pytest.mark.parametrize("at_once", [1, 2, 500])
async def test_facts_mentions_and_names_move_and_undoing_gives_all_of_it_back(at_once: int) -> None:
    world = CurationWorld(at_once=at_once)
    await two(world)
    removed = world.entity(REMOVED).uuid
    await world.tell(f"{REMOVED} is fast.", entities=[{"name": REMOVED, "aliases": ["PGDB"]}])
    before = state(world)
    preview = await world.merge(KEPT, REMOVED)
    assert (preview.status, *numbers(preview)) == ("preview", 1, 1, 0, 2)
    assert state(world) == before
    done = await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    assert (done.status, *numbers(done)) == ("merged", 1, 1, 0, 2)
    assert facts_of(world, KEPT) == {
        (KEPT, "HOSTED_ON", "Atlas"),
        (KEPT, "HOSTED_ON", "Borealis"),
        ("Billing", "USES", KEPT),
    }
    assert REMOVED not in {one.name for one in world.graph.tables.entities.values()}
    kept = world.entity(KEPT).uuid
    assert {one.text for one in world.graph.tables.names.values() if one.entity_uuid == kept} == {KEPT, REMOVED, "PGDB"}
    await world.unmerge(removed)
    assert state(world) == before


async def test_two_current_facts_that_contradict_each_other_come_back_with_the_call() -> None:
    world = CurationWorld()
    await two(world)
    preview = await world.merge(KEPT, REMOVED)
    done = await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    assert preview.needs_attention == done.needs_attention
    (report,) = done.needs_attention
    (older,) = [
        one for one in map(world.graph.tables.named, world.graph.tables.facts.values()) if one.target_name == "Atlas"
    ]
    assert report.what == "possible_conflict"
    assert ["Atlas" in report.candidates[0], "Borealis" in report.candidates[1]] == [True, True]
    assert f'retire_fact {{"fact_uuid":"{older.uuid}","reason":"merged"}}' in report.call


async def test_statuses_that_differ_contradict_each_other_and_several_uses_do_not() -> None:
    world = CurationWorld()
    for name, status, used in ((KEPT, "active", "Java"), (REMOVED, "deprecated", "Rust")):
        await world.tell(
            f"{name} is {status}.",
            {"source": name, "relation": "HAS_STATUS", "value": status},
            {"source": name, "relation": "USES", "target": used},
            entities=[{"name": name, "type": "Tool", "summary": STORE}],
        )
    await world.flag_similar()
    (report,) = (await world.merge(KEPT, REMOVED)).needs_attention
    assert ["active" in report.candidates[0], "deprecated" in report.candidates[1]] == [True, True]


@pytest.mark.parametrize("kept", [KEPT, REMOVED])
async def test_the_call_ends_what_is_older_when_the_newer_began_whichever_entity_stays(kept: str) -> None:
    world = CurationWorld()
    for name, status, since in ((KEPT, "live", "2026-02-01"), (REMOVED, "on hold", "2026-01-01")):
        status_of = {"source": name, "relation": "HAS_STATUS", "value": status, "valid_at": since}
        tools = [{"name": name, "type": "Tool", "summary": STORE}]
        await world.tell(f"{name} is {status}.", status_of, entities=tools)
    await world.flag_similar()
    other = REMOVED if kept == KEPT else KEPT
    (report,) = (await world.merge(kept, other)).needs_attention
    (older,) = [one for one in world.graph.tables.facts.values() if one.value == "on hold"]
    call = f'retire_fact {{"fact_uuid":"{older.uuid}","reason":"merged","invalid_at":"2026-02-01T00:00:00+00:00"}}'
    assert call in report.call


@pytest.mark.parametrize("at_once", [1, 2, 500])
async def test_a_fact_that_both_have_is_joined_and_those_of_the_pair_go(at_once: int) -> None:
    world = CurationWorld(at_once=at_once)
    await two(world)
    pair = {"source": KEPT, "relation": "FOLLOWS", "target": REMOVED}
    itself = {"source": REMOVED, "relation": "REPLICATES", "target": REMOVED}
    secret = {"source": "Billing", "relation": "USES", "target": REMOVED}
    note = await world.tell(f"{KEPT} follows {REMOVED}.", pair, itself, secret, confidential=True)
    before = state(world)
    preview = await world.merge(KEPT, REMOVED)
    done = await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    assert numbers(preview) == numbers(done) == (2, 1, 1, 1), "the last note mentions both"
    assert [len(done.pair_facts or []), len(done.joined_facts or [])] == [1, 1]
    shown = {"pair_facts", "joined_facts", "needs_attention", "similarity"}
    assert preview.model_dump(include=shown) == done.model_dump(include=shown)
    for answer in (preview, done):
        assert "Moved: 2 facts and 1 mention. " in answer.message
        assert f"Joined with a fact of '{KEPT}' that says the same: 1 fact. " in answer.message
        assert "Dropped, since it is between both: 1 fact. " in answer.message
    assert (KEPT, "REPLICATES", KEPT) in facts_of(world, KEPT)
    assert (KEPT, "FOLLOWS", KEPT) not in facts_of(world, KEPT)
    (used,) = [one for one in world.graph.tables.facts.values() if one.relation == "USES"]
    assert note.episode_uuid in used.episodes
    assert used.attributes.get(CONFIDENTIAL)
    await world.unmerge(done.removed.entity_uuid)
    assert state(world) == before


@pytest.mark.parametrize("at_once", [1, 500])
async def test_facts_that_the_removed_entity_told_apart_stay_two_however_many_move_at_once(at_once: int) -> None:
    world = CurationWorld(at_once=at_once)
    await two(world)
    (hosted,) = [one for one in world.graph.tables.facts.values() if one.text.startswith(REMOVED) and one.is_open]
    again = hosted.model_copy(update={"uuid": new_uuid(), "text": f"{REMOVED} is served by Borealis."})
    await world.graph.writer.apply(a_write(again), {})
    preview = await world.merge(KEPT, REMOVED)
    done = await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    assert numbers(preview) == numbers(done) == (2, 1, 0, 1)
    assert len([one for one in world.graph.tables.facts.values() if one.relation == "HOSTED_ON"]) == 3


async def test_what_was_told_since_stays_with_the_entity_that_was_kept() -> None:
    world = CurationWorld()
    await two(world)
    done = await world.merged(KEPT, REMOVED)
    await world.tell(f"{REMOVED} speaks SQL.", {"source": REMOVED, "relation": "SPEAKS", "target": "SQL"})
    assert (KEPT, "SPEAKS", "SQL") in facts_of(world, KEPT)
    await world.unmerge(done.removed.entity_uuid)
    assert (KEPT, "SPEAKS", "SQL") in facts_of(world, KEPT)
    assert (REMOVED, "HOSTED_ON", "Borealis") in facts_of(world, REMOVED)


async def test_what_changed_tells_of_a_merge_and_of_its_undoing_with_who_and_why() -> None:
    world = CurationWorld()
    await two(world)
    done = await world.merged(KEPT, REMOVED, caller=LOCAL)
    await world.unmerge(done.removed.entity_uuid)
    request = WhatChanged(since="2000", kinds=["updated"], entity_uuid=world.entity(KEPT).uuid)
    undone, merged, *flags = (await world.changes.what_changed(LOCAL, request)).changes
    assert {one.change for one in flags} == {"flagged"}
    assert [merged.change, undone.change] == ["merged", "unmerged"]
    assert [merged.reason, undone.reason] == ["One thing.", "Two things."]
    assert (merged.entity, merged.with_uuid) == (KEPT, done.removed.entity_uuid)
    assert merged.after is not None
    assert merged.after.aliases == [REMOVED]


async def test_the_uuid_that_went_names_the_one_that_stays() -> None:
    world = CurationWorld()
    await two(world)
    removed = world.entity(REMOVED).uuid
    await world.merged(KEPT, REMOVED)
    request = UpdateEntity(entity_uuid=removed[:8], add_aliases=["Elephant"])
    answer = await world.updating.update_entity(LOCAL, request)
    assert (answer.node.uuid, answer.node.name) == (world.entity(KEPT).uuid, KEPT)


async def test_entries_and_pins_of_projects_go_along_and_come_back() -> None:
    world = CurationWorld()
    await two(world)
    await world.tell("Work.", entities=[{"name": "Work", "type": "Project"}])
    kept, removed, work = (world.entity(name) for name in (KEPT, REMOVED, "Work"))
    db = world.graph.tables
    (episode, *_) = [one for one, entity in db.mentions if entity == removed.uuid]
    db.projects = {one.uuid: a_project(one, pins=(removed.uuid, kept.uuid)) for one in (work, removed)}
    db.entries[episode] = an_entry(db.episodes[episode], db.projects[removed.uuid])
    before, projects = state(world), dict(db.projects)
    await world.merged(KEPT, REMOVED)
    assert {one.uuid: one.pins for one in db.projects.values()} == dict.fromkeys((work.uuid, kept.uuid), (kept.uuid,))
    assert db.entries[episode].project_uuid == kept.uuid
    await world.unmerge(removed.uuid)
    assert state(world) == before
    assert {uuid: db.projects[uuid] for uuid in projects} == projects


async def test_every_quote_that_is_evidence_goes_along_and_comes_back() -> None:
    world = CurationWorld(at_once=1)
    await two(world)
    kept, removed = (world.entity(name) for name in (KEPT, REMOVED))
    db = world.graph.tables
    episode, *_ = (one for one, entity in db.mentions if entity == removed.uuid)
    passage = next(one for one in db.passages.values() if one.episode_uuid == episode)
    document, sections = a_document(db.episodes[episode])
    quotes = [an_instance(removed, document, passage) for _ in range(3)]
    await world.graph.writer.apply(a_write(document, *sections, *quotes), {})
    before = state(world)
    await world.merged(KEPT, REMOVED)
    assert {uuid: one.entity_uuid for uuid, one in db.instances.items()} == {one.uuid: kept.uuid for one in quotes}
    await world.unmerge(removed.uuid)
    assert state(world) == before


async def test_a_flag_that_was_only_for_the_other_is_settled_and_comes_back() -> None:
    world = CurationWorld()
    await two(world)
    before = await world.flagged()
    done = await world.merged(KEPT, REMOVED)
    assert (await world.flagged()).flagged == []
    await world.unmerge(done.removed.entity_uuid)
    assert (await world.flagged()).flagged == before.flagged


async def test_a_flag_for_another_reason_is_after_undoing_as_it_was() -> None:
    world = CurationWorld()
    await two(world, flagged=False)
    await world.flag(KEPT)
    await world.flag_similar()
    before = state(world)
    done = await world.merged(KEPT, REMOVED)
    await world.unmerge(done.removed.entity_uuid)
    assert state(world) == before


async def test_a_flag_for_likeness_to_several_is_after_undoing_as_it_was() -> None:
    world = CurationWorld()
    await two(world, flagged=False)
    third = "Postgres DB server"
    await world.tell("A server.", entities=[{"name": third, "type": "Tool", "summary": STORE}])
    await world.flag_similar()
    before = state(world)
    others = {world.entity(name).uuid for name in (REMOVED, third)}
    assert set(before[5][1][world.entity(KEPT).uuid].similar_to) == others
    first = await world.merged(KEPT, REMOVED)
    between = state(world)
    second = await world.merged(KEPT, third)
    await world.unmerge(second.removed.entity_uuid)
    assert state(world) == between
    await world.unmerge(first.removed.entity_uuid)
    assert state(world) == before


async def test_undoing_keeps_what_librarians_said_since_the_merge() -> None:
    world = CurationWorld()
    await two(world)
    kept = world.entity(KEPT).uuid
    before = state(world)[5][1]
    done = await world.merged(KEPT, REMOVED)
    await world.rate(KEPT, 0.25)
    await world.bias(KEPT, 0.5)
    await world.unmerge(done.removed.entity_uuid)
    after = state(world)[5][1]
    said = {name: value for name, value in after[kept] if name.startswith(("confidence", "bias"))}
    assert (said["confidence"], said["bias"]) == (0.25, 0.5)
    assert {**after, kept: after[kept].model_copy(update=dict.fromkeys(said))} == before, "the flag is as it was"

    done = await world.merged(KEPT, REMOVED)
    await world.flag(KEPT, "Which version is it?")
    await world.unmerge(done.removed.entity_uuid)
    now = state(world)[5][1][kept]
    assert (now.flag_reason, now.note, now.cleared_at) == ("Which version is it?", None, None)
    assert now.similar_to == before[kept].similar_to

    done = await world.merged(KEPT, REMOVED)
    await world.clear(KEPT)
    cleared = state(world)[5][1][kept]
    await world.unmerge(done.removed.entity_uuid)
    assert state(world)[5][1][kept] == cleared, "a flag that was cleared since does not come back"


async def test_a_second_agent_gets_a_conflict_when_one_of_both_changed_since_the_preview() -> None:
    world = CurationWorld()
    await two(world)
    preview = await world.merge(KEPT, REMOVED)
    await world.tell(f"{REMOVED} is fast.", {"source": REMOVED, "relation": "RUNS", "target": "Ceres"})
    before = state(world)
    with pytest.raises(ConflictingContent, match="has changed since that preview"):
        await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    assert state(world) == before


async def test_of_two_agents_with_a_preview_the_second_gets_a_conflict() -> None:
    world = CurationWorld()
    agents = [Caller(principal="anna", tier="librarian", token=token) for token in ("0a1b2c3d", "4e5f6a7b")]
    await two(world, caller=agents[0])
    kept, removed = world.entity(KEPT).uuid, world.entity(REMOVED).uuid
    previews = [await world.merge(kept, removed, caller=agent) for agent in agents]
    await world.merge(kept, removed, caller=agents[0], confirm=previews[0].confirm)
    after = state(world)
    with pytest.raises(ConflictingContent, match="merge_entities without confirm"):
        await world.merge(kept, removed, caller=agents[1], confirm=previews[1].confirm)
    assert state(world) == after


async def test_a_token_is_of_these_two_entities_in_this_order() -> None:
    world = CurationWorld()
    await two(world)
    preview = await world.merge(KEPT, REMOVED)
    for keep, remove, token in ((REMOVED, KEPT, preview.confirm), (KEPT, REMOVED, "0" * 12)):
        with pytest.raises(ConflictingContent):
            await world.merge(keep, remove, confirm=token)


async def test_a_pair_that_is_not_like_enough_or_not_flagged_is_refused_with_the_hint() -> None:
    world = CurationWorld()
    await two(world, flagged=False)
    with pytest.raises(InvalidInput, match="missing_flag"):
        await world.merge(KEPT, REMOVED)
    await world.flag(KEPT)
    assert (await world.merge(KEPT, REMOVED)).status == "preview"
    await world.tell("Redis came.", entities=[{"name": "Redis", "type": "Tool", "summary": "Keeps sessions."}])
    with pytest.raises(InvalidInput, match=r"insufficient_similarity.* above 0.85"):
        await world.merge(KEPT, "Redis")


class Near(FakeEmbedder):
    """Gives the two entities vectors of a certain cosine."""

    cosine = 1.0

    def _vector(self, text: str) -> Vector:
        is_other = text.startswith(REMOVED)
        own = (self.cosine, math.sqrt(1 - self.cosine**2)) if is_other else (1.0, 0.0)
        return array("f", [*own, *[0.0] * (self.dimension - 2)])


async def test_the_similarity_has_to_be_above_the_bar_and_one_of_both_flagged() -> None:
    world = CurationWorld(embedder=(near := Near()))
    await two(world, flagged=False)
    near.cosine = 0.86
    with pytest.raises(InvalidInput, match=r"missing_flag.* flag_similar_entities"):
        await world.merge(KEPT, REMOVED)
    await world.flag(REMOVED)
    for cosine in (0.85, 0.8499, 0.5):
        near.cosine = cosine
        kept, removed = (world.entity(name).uuid[:8] for name in (KEPT, REMOVED))
        with pytest.raises(
            InvalidInput,
            match=rf"insufficient_similarity.* must be above 0\.85.* update_entity with entity_uuid {kept}, then with "
            rf"{removed}, each time with the same summary.* merge_entities again",
        ):
            await world.merge(KEPT, REMOVED)
    near.cosine = 0.86
    preview = await world.merge(KEPT, REMOVED)
    assert preview.similarity == 0.86
    assert (await world.merge(KEPT, REMOVED, confirm=preview.confirm)).status == "merged"


async def test_two_types_are_refused_with_the_calls_that_give_both_one_type() -> None:
    world = CurationWorld()
    other, bare = "Postgres DB Ana", "Postgres DB twin"
    await two(world)
    named = [{"name": other, "type": "Person", "summary": STORE}, {"name": bare, "summary": STORE}]
    await world.tell("A note.", entities=named)
    kept, person, untyped = (world.entity(name).uuid for name in (KEPT, other, bare))
    before = state(world)
    with pytest.raises(InvalidInput) as two_types:
        await world.merge(KEPT, other)
    assert two_types.value.message == (
        f"{kept[:8]} is of type Tool and {person[:8]} of type Person, and only two of one type are merged. If they are "
        f'one, call update_entity with entity_uuid {person[:8]} and type "Tool", or with {kept[:8]} and "Person"; then '
        "call merge_entities again."
    )
    for keep, remove in ((KEPT, bare), (bare, KEPT)):
        with pytest.raises(InvalidInput) as no_type:
            await world.merge(keep, remove)
        assert no_type.value.message == (
            f"{kept[:8]} is of type Tool and {untyped[:8]} has no type, and only two of one type are merged. If they "
            f'are one, call update_entity with entity_uuid {untyped[:8]} and type "Tool"; then call merge_entities '
            "again."
        )
    assert state(world) == before
    await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=untyped[:8], type="Tool"))
    await world.flag(bare)
    assert (await world.merged(KEPT, bare)).status == "merged", "the call that was named settles it"


async def test_what_can_never_be_one_is_refused_and_nothing_changes() -> None:
    world = CurationWorld()
    await two(world)
    await world.tell("Ana.", entities=[{"name": "Postgres DB Ana", "type": "Person", "summary": STORE}])
    await world.tell("I sing.", {"source": "me", "relation": "SINGS", "target": "songs"})
    me = next(one for one in world.graph.tables.names.values() if not one.is_linkable).entity_uuid
    before = state(world)
    kept, nobody = world.entity(KEPT).uuid, "11111111-1111-4111-8111-111111111111"
    for keep, remove, said in (
        (KEPT, KEPT, "the same entity"),
        (me, KEPT, "the user, a value or a measure"),
        (me, me[:8], "the same entity"),
        (kept, "xyz", "is not a uuid"),
    ):
        with pytest.raises(InvalidInput, match=said):
            await world.merge(keep, remove)
    for keep, remove in ((KEPT, nobody), (nobody, KEPT)):
        with pytest.raises(NotFound, match=nobody):
            await world.merge(keep, remove)
    for reason in ("", "  \n "):
        with pytest.raises(InvalidInput, match="reason needs 1 to 500"):
            await world.merge(KEPT, REMOVED, reason=reason)
    reader = Caller(principal="anna", tier="reader", read_only=True)
    with pytest.raises(NotAllowed):
        await world.merge(KEPT, REMOVED, caller=reader)
    with pytest.raises(NotAllowed):
        await world.unmerge(kept, caller=reader)
    world.embedder.is_available = False
    with pytest.raises(Unavailable, match="similarity needs the embedding model"):
        await world.merge(KEPT, REMOVED)
    assert state(world) == before


async def test_two_that_somebody_told_apart_are_never_one() -> None:
    world = CurationWorld()
    await two(world)
    request = UpdateEntity(entity_uuid=world.entity(KEPT).uuid, not_same_as=world.entity(REMOVED).uuid)
    await world.updating.update_entity(LOCAL, request)
    with pytest.raises(InvalidInput, match="they are not the same"):
        await world.merge(KEPT, REMOVED)


async def test_entities_of_another_group_and_merged_ones_are_refused() -> None:
    world = CurationWorld()
    await two(world)
    await world.tell("There.", entities=[{"name": "Elsewhere DB", "type": "Tool", "summary": STORE}], group_id="other")
    with pytest.raises(InvalidInput, match="different groups"):
        await world.merge(KEPT, "Elsewhere DB")
    done = await world.merged(KEPT, REMOVED)
    for keep, remove in ((KEPT, done.removed.entity_uuid), (done.removed.entity_uuid, KEPT)):
        with pytest.raises(InvalidInput, match="already; unmerge_entities undoes that"):
            await world.merge(keep, remove)


async def test_only_what_was_merged_can_be_undone_and_the_last_merge_first() -> None:
    world = CurationWorld()
    await two(world)
    third = "A Postgres DB"
    await world.tell(f"{third} came.", entities=[{"name": third, "type": "Tool", "summary": STORE}])
    kept = world.entity(KEPT).uuid
    before = state(world)
    with pytest.raises(InvalidInput, match="was not merged into another entity"):
        await world.unmerge(kept)
    with pytest.raises(NotFound):
        await world.unmerge("11111111-1111-4111-8111-111111111111")
    first = await world.merged(KEPT, REMOVED)
    between = state(world)
    await world.flag(KEPT)
    flagged = state(world)
    second = await world.merged(third, KEPT)
    with pytest.raises(InvalidInput, match="Undo this one first"):
        await world.unmerge(first.removed.entity_uuid)
    assert (await world.merging._anchor(LOCAL, first.removed.entity_uuid, None)).uuid == world.entity(third).uuid
    await world.unmerge(second.removed.entity_uuid)
    assert state(world) == flagged
    await world.clear(KEPT)
    assert between[:2] == state(world)[:2]
    await world.unmerge(first.removed.entity_uuid)
    assert before[:5] == state(world)[:5]


@pytest.mark.parametrize("undoes", [False, True])
async def test_a_merge_that_a_process_left_half_done_is_finished_by_another(*, undoes: bool) -> None:
    world, whole = CurationWorld(at_once=1), CurationWorld(at_once=1)
    for one in (world, whole):
        await two(one)
    removed = world.entity(REMOVED).uuid
    before = state(world)
    if undoes:
        await world.merged(KEPT, REMOVED)
        world.graph.fail_next_apply(when="after")
        with pytest.raises(WritePending):
            await world.unmerge(removed)
    else:
        preview = await world.merge(KEPT, REMOVED)
        world.graph.fail_next_apply(when="after")
        with pytest.raises(WritePending):
            await world.merge(KEPT, REMOVED, confirm=preview.confirm)
        with pytest.raises(InvalidInput, match="is being finished"):
            await world.merge(KEPT, REMOVED)
    await world.unmerging.finish_all()
    assert await world.unmerging._stored.heads(None, None, 9) == []
    if undoes:
        assert state(world) == before
    else:
        assert (KEPT, "HOSTED_ON", "Borealis") in facts_of(world, KEPT)
        await world.unmerge(removed)
        assert state(world) == before


async def test_a_hub_is_merged_in_writes_that_are_all_bounded() -> None:
    world = CurationWorld(at_once=4)
    await two(world)
    facts = [{"source": REMOVED, "relation": "USES", "target": f"part {number}"} for number in range(10)]
    await world.tell(f"{REMOVED} has parts.", *facts)
    await world.merged(KEPT, REMOVED)
    merges = [row.intent.merge for row in world.journal.table.values() if row.intent.kind is WriteKind.MERGE]
    sizes = [len({*one.moved.sources, *one.moved.targets, *one.facts}) for one in merges if one]
    assert max(sizes) == 4
    assert sum(sizes) == 12
    assert [one.is_last for one in merges if one] == [False] * (len(merges) - 1) + [True]


async def test_a_merge_and_its_undoing_leave_others_a_while_after_each_write_but_the_last() -> None:
    world = CurationWorld(at_once=4)
    await two(world)
    removed = world.entity(REMOVED).uuid
    await world.merged(KEPT, REMOVED)
    assert world.rests == []  # a merge of one write keeps nobody waiting
    await world.unmerge(removed)
    facts = [{"source": REMOVED, "relation": "USES", "target": f"part {number}"} for number in range(10)]
    await world.tell(f"{REMOVED} has parts.", *facts)
    preview = await world.merge(KEPT, REMOVED)
    assert world.rests == []  # a preview only reads
    await world.merge(KEPT, REMOVED, confirm=preview.confirm)
    merges = [row for row in world.journal.table.values() if row.intent.kind is WriteKind.MERGE]
    rests = len(merges) - 2  # of the merge before, and the last of this one
    assert len(world.rests) == rests == 2
    await world.unmerge(removed)
    assert len(world.rests) == 2 * rests
    assert all(0 < seconds <= 0.3 for seconds in world.rests)
