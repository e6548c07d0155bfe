"""What was taken for one entity becomes two: what moves, what is refused, and merging them again."""

from typing import Any

import pytest
from tests.builders import a_document, a_project, a_write, an_instance
from tests.unit.capabilities.curation.test_merging import state
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.history.requests import RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.errors import ConflictingContent, InvalidInput, NotAllowed, NotFound

ANA, OTHER = "Ana", "Ana Rossi"
NOBODY = "11111111-1111-4111-8111-111111111111"


class Ana(CurationWorld):
    """Ana of Rome and Ana of Oslo, who were taken for one."""

    async def begin(self) -> None:
        here, there = "Ana lives in Rome.", "Ana rows in Oslo."
        facts = (
            {"source": ANA, "relation": "LIVES_IN", "target": "Rome", "quote": here},
            {"source": ANA, "relation": "ROWS_IN", "target": "Oslo", "quote": there},
        )
        named = [{"name": ANA, "type": "Person", "summary": "Somebody.", "aliases": ["Annie"]}]
        self.both = (await self.tell(f"{here} {there}", *facts, entities=named)).episode_uuid
        self.clock.advance(seconds=1)
        told = await self.tell("Tom knows Ana.", {"source": "Tom", "relation": "KNOWS", "target": ANA})
        self.alone = told.episode_uuid
        self.clock.advance(seconds=1)
        self.silent = (await self.tell("Ana is tired.", entities=[{"name": ANA}])).episode_uuid
        self.clock.advance(seconds=1)
        self.other = (await self.tell("Tom sings.", entities=[{"name": "Tom"}])).episode_uuid
        self.lives, self.rows, self.knows = (
            next(one.uuid for one in self.facts if one.relation == relation)
            for relation in ("LIVES_IN", "ROWS_IN", "KNOWS")
        )


@pytest.fixture
async def world() -> Ana:
    world = Ana()
    await world.begin()
    return world


def relations(world: CurationWorld, name: str) -> set[str]:
    return {one.relation for one in world.facts if name in (one.source_name, one.target_name)}


def mentioning(world: CurationWorld, name: str) -> set[str]:
    uuid = world.entity(name).uuid
    return {episode for episode, entity in world.graph.tables.mentions if entity == uuid}


async def test_facts_and_mentions_named_are_of_the_new_entity_with_all_they_have(world: Ana) -> None:
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=world.knows, reason="They fell out."))
    before, db = state(world), world.graph.tables
    asked = {"facts": [world.rows, world.knows[:8]], "episodes": [world.alone]}
    preview = await world.split(ANA, OTHER, **asked)
    assert (preview.status, preview.facts_moved, preview.mentions_moved, preview.new_uuid) == ("preview", 2, 1, None)
    assert (preview.mentioned_both, preview.facts_left, preview.mentions_left) == (1, 1, 2)
    assert state(world) == before
    done = await world.split(ANA, OTHER, **asked, confirm=preview.confirm)
    new, old = world.entity(OTHER), world.entity(ANA)
    assert (done.status, done.new_uuid, new.label, new.summary) == ("split", new.uuid, "Person", "")
    assert [relations(world, ANA), relations(world, OTHER)] == [{"LIVES_IN"}, {"ROWS_IN", "KNOWS"}]
    assert [mentioning(world, ANA), mentioning(world, OTHER)] == [
        {world.both, world.silent},
        {world.both, world.alone},
    ]
    for uuid, end in ((world.rows, "source"), (world.knows, "target")):
        given = {f"{end}_uuid": new.uuid, f"{end}_name": OTHER}
        assert db.named(db.facts[uuid]) == before[1][uuid].model_copy(update=given)
    assert db.mentions[world.alone, new.uuid].uuid == before[3][world.alone, old.uuid].uuid
    (ended,) = [uuid for uuid, one in db.changes.items() if one.fact_uuid == world.knows]
    assert db.change_ends[ended][1] == new.uuid
    assert db.origins[new.group_id, new.created_at].created_by == "local"
    assert {new.uuid, world.rows, world.knows} <= db.vectors.keys()


@pytest.mark.parametrize("name", ["Annie", OTHER])
async def test_merging_gives_back_all_of_it_without_flag_or_likeness(world: Ana, name: str) -> None:
    before, db = state(world), world.graph.tables
    done = await world.parted(ANA, name, facts=[world.rows, world.knows], episodes=[world.alone, world.silent])
    assert "Annie" in {one.text for one in db.names.values()}
    assert done.new_uuid is not None
    merged = await world.merged(world.entity(ANA).uuid, done.new_uuid)
    assert (merged.joined_facts, merged.pair_facts, merged.needs_attention) == (None, None, [])
    after = state(world)
    ends = {uuid: one for uuid, one in after[5][0].items() if db.changes[uuid].kind != "split"}
    facts = {uuid: db.named(one) for uuid, one in after[1].items()}
    assert (after[0], facts, after[3], after[4]) == (before[0], before[1], before[3], before[4])
    assert (ends, after[5][1:4]) == (before[5][0], before[5][1:4])
    added = {one.text for key, one in after[2].items() if key not in before[2]}
    assert added == set() if name == "Annie" else {OTHER}
    assert {key: after[2][key] for key in before[2]} == before[2]


async def test_the_other_way_round_and_for_others_the_bar_holds(world: Ana) -> None:
    done = await world.parted(ANA, "Zoe", facts=[world.rows])
    assert done.new_uuid is not None
    with pytest.raises(InvalidInput, match="insufficient_similarity"):
        await world.merge(done.new_uuid, ANA)


async def test_an_alias_goes_to_the_new_entity_as_its_name(world: Ana) -> None:
    done = await world.parted(ANA, "annie", facts=[world.rows])
    held = {one.text: (one.entity_uuid, one.is_alias) for one in world.graph.tables.names.values()}
    assert held["Annie"] == (done.new_uuid, False)
    told = await world.tell("Annie won.", entities=[{"name": "Annie"}])
    assert [one.uuid for one in told.entities] == [done.new_uuid]


async def test_quotes_from_the_sections_named_go_along(world: Ana) -> None:
    ana, db = world.entity(ANA), world.graph.tables
    for episode in (world.both, world.silent):
        passage = next(one for one in db.passages.values() if one.episode_uuid == episode)
        document, sections = a_document(db.episodes[episode])
        quote = an_instance(ana, document, passage)
        await world.graph.writer.apply(a_write(document, *sections, quote), {})
    before = dict(db.instances)
    done = await world.parted(ANA, OTHER, episodes=[world.silent])
    assert done.evidence_moved == 1
    held = {one.episode_uuid: one.entity_uuid for one in db.instances.values()}
    assert held == {world.both: ana.uuid, world.silent: done.new_uuid}
    assert db.instances.keys() == before.keys()
    assert done.new_uuid is not None
    await world.merged(ana.uuid, done.new_uuid)
    assert db.instances == before


async def test_what_changed_tells_of_a_split(world: Ana) -> None:
    done = await world.parted(ANA, "Annie", facts=[world.knows], episodes=[world.alone])
    request = WhatChanged(since="2000", kinds=["updated"], entity_uuid=world.entity(ANA).uuid)
    (change,) = (await world.changes.what_changed(LOCAL, request)).changes
    assert (change.change, change.entity, change.with_uuid) == ("split", ANA, done.new_uuid)
    assert change.before is not None
    assert (change.before.aliases, change.before.linked) == (["Annie"], [world.alone])


async def test_bad_input_is_refused_and_nothing_changes(world: Ana) -> None:
    await world.tell("I sing.", {"source": "me", "relation": "SINGS", "target": "songs"})
    me = next(one for one in world.graph.tables.names.values() if not one.is_linkable).entity_uuid
    there = await world.tell("Ana swims.", {"source": ANA, "relation": "SWIMS", "target": "Elbe"}, group_id="other")
    fact = next(one.uuid for one in world.facts if one.group_id == "other")
    sings = next(one.uuid for one in world.facts if one.relation == "SINGS")
    ana = next(
        one.uuid for one in world.graph.tables.entities.values() if one.group_id == "default" and one.name == ANA
    )
    before = state(world)
    every = [world.lives, world.rows, world.knows]
    refused: list[tuple[type[Exception], str, str, str, dict[str, Any]]] = [
        (InvalidInput, "fact_uuids, episode_uuids or both", ana, OTHER, {}),
        (InvalidInput, "is no fact of it", ana, OTHER, {"facts": [world.rows, sings]}),
        (NotFound, fact, ana, OTHER, {"facts": [fact]}),
        (NotFound, there.episode_uuid, ana, OTHER, {"episodes": [there.episode_uuid]}),
        (NotFound, NOBODY, ana, OTHER, {"facts": [NOBODY]}),
        (NotFound, NOBODY, NOBODY, OTHER, {"facts": [world.rows]}),
        (InvalidInput, "does not mention it", ana, OTHER, {"episodes": [world.other]}),
        (InvalidInput, "name belongs to another entity", ana, "Tom", {"facts": [world.rows]}),
        (InvalidInput, "its own name", ana, " ana ", {"facts": [world.rows]}),
        (InvalidInput, "name is blank", ana, "  ", {"facts": [world.rows]}),
        (InvalidInput, "at most 200", ana, "a" * 201, {"facts": [world.rows]}),
        (InvalidInput, "a word for the user", ana, "me", {"facts": [world.rows]}),
        (InvalidInput, "it is the user", me, OTHER, {"facts": [sings]}),
        (
            *(InvalidInput, "nothing would be left", ana, OTHER),
            {"facts": every, "episodes": [world.both, world.alone, world.silent]},
        ),
    ]
    for error, said, entity, name, asked in refused:
        with pytest.raises(error, match=said):
            await world.split(entity, name, **asked)
    with pytest.raises(NotAllowed):
        await world.split(ana, OTHER, facts=[world.rows], caller=Caller(principal="local", read_only=True))
    assert state(world) == before


async def test_a_project_and_what_was_merged_are_refused(world: Ana) -> None:
    work = a_project(world.entity("Tom"))
    await world.graph.writer.apply(a_write(work), {})
    with pytest.raises(InvalidInput, match="it is a project"):
        await world.split("Tom", OTHER, episodes=[world.other])
    done = await world.parted(ANA, OTHER, facts=[world.rows])
    assert done.new_uuid is not None
    await world.merged(world.entity(ANA).uuid, done.new_uuid)
    with pytest.raises(InvalidInput, match=r"was merged into .*unmerge_entities"):
        await world.split(done.new_uuid, "Zoe", facts=[world.rows])


async def test_a_second_agent_gets_a_conflict(world: Ana) -> None:
    preview = await world.split(ANA, OTHER, facts=[world.rows])
    for name, facts in (("Zoe", [world.rows]), (OTHER, [world.rows, world.knows])):
        with pytest.raises(ConflictingContent, match="split_entity"):
            await world.split(ANA, name, facts=facts, confirm=preview.confirm)
    await world.tell("Ana swims.", {"source": ANA, "relation": "SWIMS", "target": "Elbe"})
    before = state(world)
    with pytest.raises(ConflictingContent, match="has changed since"):
        await world.split(ANA, OTHER, facts=[world.rows], confirm=preview.confirm)
    assert state(world) == before


async def test_a_split_is_one_write(world: Ana) -> None:
    await world.parted(ANA, OTHER, facts=[world.rows], episodes=[world.silent])
    kinds = [row.intent.kind for row in world.journal.table.values()]
    assert kinds.count(WriteKind.SPLIT) == 1
    assert kinds[-1] is WriteKind.SPLIT
