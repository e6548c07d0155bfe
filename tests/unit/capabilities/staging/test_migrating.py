"""Copies and moves between groups: once, whole, verified before anything goes, and only where a token may write."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.builders import (
    a_fact,
    a_mention,
    a_name,
    a_write,
    an_entity,
    an_episode,
    at,
)
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.curation.requests import ClearFlag, FlagForReview, SetConfidence
from graphiti_pkm.capabilities.history.requests import RetireFact, UpdateEntity, WhatChanged
from graphiti_pkm.capabilities.staging.requests import Promote
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import BECAUSE_OF, Entity, Fact
from graphiti_pkm.errors import DamagedStore, InvalidInput, NotAllowed, PermissionDenied, Unavailable

STAGING = "default_staging"


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Staging: four entities, of which two are in production too, and four facts, of which one is there too."""
    world = StagingWorld(tmp_path)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await world.note("Tom knows Eva.", "Tom", "KNOWS", "Eva")
    for source, relation, target in (
        ("Anna", "LIVES_IN", "Rome"),
        ("Anna", "KNOWS", "Ben"),
        ("Ben", "LIKES", "Chess"),
        ("Anna", "LIKES", "Chess"),
    ):
        body = f"{source} {relation.lower().replace('_', ' ')} {target}."
        await world.note(body, source, relation, target, group_id=STAGING)
    return world


def entity(world: StagingWorld, name: str, group: str) -> Entity:
    (found,) = [one for one in world.graph.tables.entities.values() if (one.name, one.group_id) == (name, group)]
    return found


async def test_everything_comes_over_once_and_joins_what_is_there(world: StagingWorld) -> None:
    staging = world.state(STAGING)
    done = await world.migrate()
    assert world.said() == [
        "Anna KNOWS Ben",
        "Anna LIKES Chess",
        "Anna LIVES_IN Rome",
        "Ben LIKES Chess",
        "Tom KNOWS Eva",
    ]
    assert (done.copied.entities, done.joined.entities, done.copied.facts, done.joined.facts) == (2, 2, 3, 1)
    assert (done.copied.episodes, done.left, done.held_back, done.conflicts) == (4, (), (), ())
    assert len(done.verified or "") == 64
    assert world.state(STAGING) == staging
    names = [one.name for one in world.graph.tables.entities.values() if one.group_id == "default"]
    assert sorted(names) == ["Anna", "Ben", "Chess", "Eva", "Rome", "Tom"]


async def test_many_facts_come_in_few_writes_and_what_has_just_come_is_asked_for_nothing(
    world: StagingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write waits for the disk; a question for each fact would be most of the time that a copy takes."""
    ada, bob = (an_entity(name, group_id=STAGING) for name in ("Ada", "Bob"))
    facts = [a_fact(ada, bob, f"SAID_{i}", group_id=STAGING) for i in range(499)]
    await world.graph.writer.apply(a_write(ada, bob, a_name(ada), a_name(bob), *facts), {})
    asked: list[int] = []
    between = world.graph.facts.facts_between

    async def counted(group: str, pairs: Sequence[tuple[str, str]], limit: int) -> list[list[Fact]]:
        asked.append(len(pairs))
        return await between(group, pairs, limit)

    monkeypatch.setattr(world.graph.facts, "facts_between", counted)
    before = len(world.journal.table)
    done = await world.migrate("Ada", "Bob")
    assert (done.copied.facts, len(world.journal.table) - before, asked) == (499, 2, [])
    again = await world.migrate("Ada", "Bob")
    assert (again.known.facts, len(world.journal.table) - before, asked) == (499, 2, [])


async def test_episodes_are_asked_for_together(world: StagingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they mention, twenty at a time, when they are copied; and all at once before they go."""
    ada = an_entity("Ada", group_id=STAGING)
    episodes = [an_episode(f"Ada said {i}.", group_id=STAGING) for i in range(40)]
    mentions = [a_mention(one, ada) for one in episodes]
    await world.graph.writer.apply(a_write(ada, a_name(ada), *episodes, *mentions), {})
    asked: list[int] = []
    mentioned_by = world.graph.episodes.episode_entities

    async def counted(uuids: Sequence[str], groups: Sequence[str], window: Window) -> tuple[list[Entity], int]:
        asked.append(len(uuids))
        return await mentioned_by(uuids, groups, window)

    monkeypatch.setattr(world.graph.episodes, "episode_entities", counted)
    done = await world.migrate("Ada", moves=True)
    assert (done.removed.episodes, done.removed.entities, asked) == (40, 1, [20, 20, 40])
    copy = entity(world, "Ada", "default").uuid
    assert len([pair for pair in world.graph.tables.mentions if pair[1] == copy]) == 40


async def test_what_one_copy_joins_another_finds(world: StagingWorld) -> None:
    """A fact that the target stated already has a uuid there that cannot be told from that of the source."""
    (there,) = [one for one in world.facts if (one.relation, one.group_id) == ("LIVES_IN", STAGING)]
    (here,) = [one for one in world.facts if (one.relation, one.group_id) == ("LIVES_IN", "default")]
    because = {BECAUSE_OF: there.uuid}
    ben, chess = entity(world, "Ben", STAGING), entity(world, "Chess", STAGING)
    likes = a_fact(ben, chess, "PLAYS", group_id=STAGING, attributes=because)
    await world.migrate()
    await world.graph.writer.apply(a_write(likes), {})
    done = await world.migrate()
    (copy,) = [one for one in world.facts if (one.relation, one.group_id) == ("PLAYS", "default")]
    assert (done.known.facts, done.copied.facts, copy.cause_uuid) == (4, 1, here.uuid)


async def test_a_second_run_finds_nothing_to_do(world: StagingWorld) -> None:
    await world.migrate()
    before, rows = world.state(), len(world.journal.table)
    again = await world.migrate()
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (again.copied.facts, again.copied.episodes, again.copied.entities) == (0, 0, 0)
    assert (again.known.facts, again.known.episodes, again.known.entities) == (4, 4, 4)


async def test_copies_have_uuids_of_their_own_and_the_write_keeps_where_they_came_from(world: StagingWorld) -> None:
    await world.migrate()
    ben, origin = entity(world, "Ben", "default"), entity(world, "Ben", STAGING)
    assert ben.uuid != origin.uuid
    copies = [one for row in world.journal.table.values() for one in row.intent.copies]
    assert (ben.uuid, origin.uuid) in {(one.uuid, one.origin_uuid) for one in copies}
    uuids = {uuid for kind in ("entities", "episodes", "facts", "passages") for uuid in world.state()[kind]}  # type: ignore[attr-defined]
    there = {uuid for kind in ("entities", "episodes", "facts", "passages") for uuid in world.state(STAGING)[kind]}  # type: ignore[attr-defined]
    assert uuids.isdisjoint(there)


async def test_the_target_learns_it_now_with_words_dates_quotes_mentions_and_vectors(world: StagingWorld) -> None:
    await world.note(
        "Ben moved to Oslo in May 2020.",
        "Ben",
        "LIVES_IN",
        "Oslo",
        group_id=STAGING,
        fact={"valid_at": "2020-05-01", "quote": "Ben moved to Oslo"},
    )
    await world.migrate()
    db = world.graph.tables
    (fact,) = [
        one
        for one in db.facts.values()
        if (one.relation, one.group_id, one.valid_at) == ("LIVES_IN", "default", at(2020, 5))
    ]
    assert fact.created_at > max(one.created_at for one in db.facts.values() if one.group_id == STAGING)
    assert fact.quote == "Ben moved to Oslo"
    episode = db.episodes[str(fact.quote_episode_uuid)]
    assert (episode.group_id, fact.episodes) == ("default", (episode.uuid,))
    assert (episode.uuid, fact.source_uuid) in db.mentions
    assert db.origins["default", fact.created_at].created_by == "local"
    uuids = {*(one.uuid for one in db.passages.values()), *db.facts, *db.entities}
    assert uuids <= db.vectors.keys()


async def test_an_ended_fact_stays_ended_and_a_corrected_one_stays_away(world: StagingWorld) -> None:
    (lives,) = [one for one in world.facts if (one.relation, one.group_id) == ("LIVES_IN", STAGING)]
    (knows,) = [one for one in world.facts if (one.relation, one.group_id) == ("KNOWS", STAGING)]
    world.clock.advance(seconds=1)
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=lives.uuid, reason="Moved."))
    wrong = {"replaces": knows.uuid, "change": "corrected"}
    await world.note("Anna knows Eva.", "Anna", "KNOWS", "Eva", fact=wrong, group_id=STAGING)
    done = await world.migrate()
    assert "Anna KNOWS Ben" not in world.said()
    assert "Anna KNOWS Eva" in world.said()
    copies = [one for one in world.facts if (one.relation, one.group_id) == ("LIVES_IN", "default")]
    assert sorted(one.is_open for one in copies) == [False, True]
    assert done.conflicts == ()


async def test_without_facts_and_episodes_only_the_entities_come(world: StagingWorld) -> None:
    before = world.said()
    done = await world.migrate("Ben", "Chess", has_facts=False, has_episodes=False)
    assert (done.copied.entities, done.copied.facts, done.copied.episodes) == (2, 0, 0)
    assert world.said() == before
    assert world.graph.tables.names[f"default\x1f{'ben'}"].entity_uuid == entity(world, "Ben", "default").uuid


async def test_facts_to_what_does_not_come_are_reported_and_dangle_nowhere(world: StagingWorld) -> None:
    done = await world.migrate("Ben", "Chess")
    assert (done.copied.entities, done.copied.facts) == (2, 1)
    assert (set(done.left), done.left_total) == ({"Anna knows Ben.", "Anna likes Chess."}, 2)
    assert "Ben LIKES Chess" in world.said()
    more = await world.migrate("Anna", "Ben", "Chess")
    assert more.left == ("Anna lives in Rome.",)
    assert {"Anna KNOWS Ben", "Anna LIKES Chess"} <= set(world.said())


async def test_values_come_with_what_they_are_of_and_without_what_else_has_such_values(world: StagingWorld) -> None:
    for number, status in ((18, "accepted"), (19, "proposed"), (20, "accepted")):
        status_fact = {"source": f"ADR {number}", "relation": "HAS_STATUS", "value": status}
        day = {"source": f"ADR {number}", "relation": "HAS_DATE", "value": "2024-03-02"}
        size = {
            "source": f"ADR {number}",
            "relation": "HAS_LENGTH",
            "value": "3",
            "measure": "pages",
            "kind": "reading",
        }
        cost = {"source": f"ADR {number}", "relation": "COSTS", "target": "Hosting", "value": "20"}
        body = f"ADR {number} is {status} since 2 March 2024; 3 pages; hosting costs 20."
        world.clock.advance(seconds=1)
        await world.tell(body, status_fact, day, size, cost, group_id=STAGING)
    uuids = [entity(world, f"ADR {number}", STAGING).uuid for number in (18, 19)]
    given = {"entity_uuids": uuids, "include_facts": True, "include_sources": True}
    preview = await world.migrating.promote(LOCAL, Promote.model_validate(given))
    done = await world.migrating.promote(LOCAL, Promote.model_validate({**given, "dry_run": False}))
    assert preview.copied == done.copied
    assert (done.copied.entities, done.copied.facts, done.copied.episodes) == (5, 6, 2), "status, date and pages come"
    said = [one for one in world.said() if "ADR" in one]
    assert len(said) == 6
    assert {"ADR 18 HAS_STATUS status [accepted]", "ADR 19 HAS_STATUS status [proposed]"} <= set(said)
    assert done.left_total == 2, "the hosting is a thing with a name"
    assert [one.name for one in done.approved] == ["ADR 18", "ADR 19"]
    again = await world.migrating.promote(LOCAL, Promote.model_validate({**given, "dry_run": False}))
    assert (again.copied.entities, again.copied.facts, again.copied.episodes) == (0, 0, 0)
    assert (again.known.entities, again.known.facts) == (5, 6)
    moved = await world.migrate("ADR 18", "ADR 19", moves=True)
    assert moved.removed.facts == 6
    assert {one.name for one in world.graph.tables.entities.values() if one.group_id == STAGING} >= {"status", "ADR 20"}
    assert len([one for one in world.said(STAGING) if one.startswith("ADR 20")]) == 4


async def test_an_unknown_concept_stops_all_of_it(world: StagingWorld) -> None:
    before, rows = world.state(), len(world.journal.table)
    with pytest.raises(InvalidInput, match="has no entity 'Nobody'"):
        await world.migrate("Ben", "Nobody")
    assert (world.state(), len(world.journal.table)) == (before, rows)
    found = await world.migrate(entity(world, "Ben", STAGING).uuid[:8], has_facts=False, has_episodes=False)
    assert found.copied.entities == 1


async def test_one_name_of_two_types_is_not_one_thing(world: StagingWorld) -> None:
    await world.tell("Rome is a band.", entities=[{"name": "Ben", "type": "Project"}])
    done = await world.migrate()
    assert done.held_back == ("Ben: it is a Person, and of type Project in the target",)
    assert set(done.left) == {"Anna knows Ben.", "Ben likes Chess."}


async def test_two_facts_of_which_one_should_have_ended_are_reported_and_both_stay(world: StagingWorld) -> None:
    await world.note("Tom lives in Bern.", "Tom", "LIVES_IN", "Bern")
    await world.note("Tom lives in Oslo.", "Tom", "LIVES_IN", "Oslo", group_id=STAGING)
    done = await world.migrate()
    assert done.conflicts == ("Tom lives in Oslo. / Tom lives in Bern.",)
    assert {"Tom LIVES_IN Bern", "Tom LIVES_IN Oslo"} <= set(world.said())


async def test_a_preview_counts_and_writes_nothing(world: StagingWorld) -> None:
    before, rows = world.state(), len(world.journal.table)
    preview = await world.migrate(writes=False, moves=True)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    done = await world.migrate(moves=True)
    assert (preview.copied, preview.joined) == (done.copied, done.joined)
    assert (preview.done, preview.message[:19], preview.verified) == (False, "Nothing was changed", None)


# Moves


async def test_a_move_empties_the_source_of_what_came_over(world: StagingWorld) -> None:
    done = await world.migrate(moves=True)
    left = world.state(STAGING)
    assert (left["episodes"], left["entities"], left["facts"]) == ({}, {}, {})
    assert (done.removed.episodes, done.removed.entities, done.removed.facts, done.kept) == (4, 4, 4, 0)
    again = await world.migrate(moves=True)
    assert (again.copied.facts, again.removed.facts) == (0, 0)


async def test_a_move_of_some_leaves_what_others_need(world: StagingWorld) -> None:
    done = await world.migrate("Ben", "Chess", moves=True)
    assert world.said(STAGING) == ["Anna KNOWS Ben", "Anna LIKES Chess", "Anna LIVES_IN Rome"]
    assert (done.removed.facts, done.removed.episodes, done.removed.entities) == (1, 1, 0)
    assert done.kept == 4  # Ben and Chess, and the two episodes about Anna too


async def test_the_source_keeps_all_of_it_if_the_target_lacks_something(world: StagingWorld) -> None:
    """Whatever the database says of its writes: it is asked for them before anything goes."""
    before = world.state(STAGING)
    apply = world.graph.writer.apply

    async def forgetful(intent: object, vectors: object) -> None:
        await apply(intent, vectors)  # type: ignore[arg-type]
        for fact in intent.facts:  # type: ignore[attr-defined]
            world.graph.tables.facts.pop(fact.uuid, None)

    world.graph.apply = forgetful  # type: ignore[method-assign, assignment]
    with pytest.raises(DamagedStore, match=r"two groups differ.* Nothing was removed from default_staging"):
        await world.migrate(moves=True)
    assert world.state(STAGING) == before


@pytest.mark.parametrize("failing", range(1, 12))
async def test_a_disk_that_is_full_at_any_write_loses_nothing_and_a_second_run_ends_it(
    world: StagingWorld, failing: int
) -> None:
    append, calls = world.journal.append, 0

    async def full(*given: object, **named: object) -> int:
        nonlocal calls
        calls += 1
        if calls >= failing:
            raise Unavailable("The disk is full.")
        return await append(*given, **named)  # type: ignore[arg-type]

    everything = {*world.said(), *world.said(STAGING)}
    world.journal.append = full  # type: ignore[method-assign]
    said = ""
    try:
        await world.migrate(moves=True)
    except Unavailable as error:
        said = error.message
    assert ("Repeat the command to go on." in said) is (calls >= failing)
    assert ("still holds a part of it" in said) <= (set(world.said()) == everything)
    assert {*world.said(), *world.said(STAGING)} == everything
    world.journal.append = append  # type: ignore[method-assign]
    await world.migrate(moves=True)
    assert (set(world.said()), world.said(STAGING)) == (everything, [])
    texts = [one.content for one in world.graph.tables.episodes.values() if one.group_id == "default"]
    assert len(texts) == 6
    assert len(set(texts)) == 5  # one sentence was in both groups


async def test_forgetting_in_one_group_says_that_the_other_has_copies(world: StagingWorld) -> None:
    await world.migrate()
    ben = entity(world, "Ben", STAGING)
    done = await world.forget(entity_uuid=ben.uuid, group_id=STAGING)
    assert "Copies in default stay; forget them there with group_id." in done.message
    there = await world.forget(entity_uuid=entity(world, "Ben", "default").uuid)
    assert "Copies in default_staging stay" in there.message
    assert "Ben" not in str([world.state(), world.state(STAGING)])
    alone = await world.note("Zoe knows Max.", "Zoe", "KNOWS", "Max", group_id="work")
    assert "Copies" not in (await world.forget(episode_uuid=alone, group_id="work")).message


# Promotion


async def test_promotion_leaves_what_is_flagged_unsure_or_alone(world: StagingWorld) -> None:
    await world.tell("Nothing.", entities=[], group_id=STAGING)
    ben, chess = (entity(world, name, STAGING).uuid for name in ("Ben", "Chess"))
    await world.reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=ben, reason="Who?"))
    world.clock.advance(seconds=1)
    await world.reviews.set_confidence(LOCAL, SetConfidence(entity_uuid=chess, confidence=0.2, reason="Hm."))
    done = await world.migrate(is_checked=True)
    assert set(done.held_back) == {"Ben: flagged", "Chess: confidence 0.2"}
    assert world.said() == ["Anna LIVES_IN Rome", "Tom KNOWS Eva"]
    assert set(done.left) == {"Anna knows Ben.", "Ben likes Chess.", "Anna likes Chess."}


async def test_what_waits_for_a_look_is_listed_by_kind_and_flagged_and_the_rest_is_approved(
    world: StagingWorld,
) -> None:
    await world.tell("No names.", entities=[{"name": "Zoe"}], group_id=STAGING)
    await world.note("Ben Bernd plays Go.", "Ben Bernd", "PLAYS", "Go", group_id=STAGING)
    await world.note("Bernd Ben plays.", "Bernd Ben", "PLAYS", "Go", group_id=STAGING)
    await world.note("Chess Club has rooms.", "Chess Club", "HAS", "rooms", group_id=STAGING)
    await world.note("Club Chess has rooms.", "Club Chess", "HAS", "rooms")
    db, zoe = world.graph.tables, entity(world, "Zoe", STAGING).uuid
    db.mentions = {pair: one for pair, one in db.mentions.items() if zoe not in pair}
    ben, chess = (entity(world, name, STAGING).uuid for name in ("Ben", "Chess"))
    await world.reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=ben, reason="Who?"))
    world.clock.advance(seconds=1)
    await world.reviews.set_confidence(LOCAL, SetConfidence(entity_uuid=chess, confidence=0.2, reason="Hm."))
    before, rows = world.state(STAGING), len(world.journal.table)
    preview = await world.migrate(is_checked=True, writes=False)
    assert (world.state(STAGING), len(world.journal.table)) == (before, rows)
    done = await world.migrate(is_checked=True)
    assert (preview.issues, preview.approved) == (done.issues, done.approved)
    assert {(one.kind, one.name) for one in done.issues} == {
        ("flagged", "Ben"),
        ("low_confidence", "Chess"),
        ("orphan", "Zoe"),
        ("duplicate", "Ben Bernd"),
        ("duplicate", "Bernd Ben"),
        ("duplicate", "Chess Club"),
    }
    assert {one.uuid for one in done.issues} <= {uuid for uuid, one in db.qualities.items() if one.is_flagged}
    assert db.qualities[ben].flag_reason == "Who?"
    assert [one.name for one in done.approved] == ["Anna", "Go", "Rome", "rooms"]
    assert (done.issues_total, done.approved_total) == (6, 4)


async def test_what_a_librarian_has_cleared_is_not_held_back_again(world: StagingWorld) -> None:
    await world.note("Ben Bernd plays Go.", "Ben Bernd", "PLAYS", "Go", group_id=STAGING)
    await world.note("Bernd Ben plays.", "Bernd Ben", "PLAYS", "Go", group_id=STAGING)
    held = (await world.migrate(is_checked=True)).issues
    assert [(one.kind, one.name) for one in held] == [("duplicate", "Ben Bernd"), ("duplicate", "Bernd Ben")]
    for issue in held:
        world.clock.advance(seconds=1)
        await world.reviews.clear_flag(LOCAL, ClearFlag(entity_uuid=issue.uuid, note="Two people."))
    assert (await world.migrate(is_checked=True)).issues == ()


async def test_a_copy_is_no_duplicate_of_what_it_was_copied_from(world: StagingWorld) -> None:
    await world.note("Ben Bernd plays.", "Ben Bernd", "PLAYS", "Go", group_id=STAGING)
    await world.migrate()
    await world.updating.update_entity(
        LOCAL, UpdateEntity(entity_uuid=entity(world, "Ben Bernd", STAGING).uuid, name="Bernd Ben")
    )
    assert (await world.migrate(is_checked=True)).issues == ()


async def test_without_a_model_nothing_is_called_a_duplicate(world: StagingWorld) -> None:
    await world.note("Ben Bernd plays Go.", "Ben Bernd", "PLAYS", "Go", group_id=STAGING)
    await world.note("Bernd Ben plays.", "Bernd Ben", "PLAYS", "Go", group_id=STAGING)
    world.embedder.is_available = False
    assert (await world.migrate(is_checked=True)).issues == ()


async def test_the_tool_takes_over_what_the_command_does_and_only_if_it_is_no_dry_run(world: StagingWorld) -> None:
    uuids = [entity(world, name, STAGING).uuid for name in ("Ben", "Chess")]
    before, rows = world.state(), len(world.journal.table)
    asked = {"entity_uuids": [uuid[:8] for uuid in uuids], "include_facts": True, "include_sources": True}
    preview = await world.migrating.promote(LOCAL, Promote.model_validate(asked))
    assert (preview.done, world.state(), len(world.journal.table)) == (False, before, rows)
    given = {**asked, "dry_run": False, "from": "staging", "to": "production"}
    done = await world.migrating.promote(LOCAL, Promote.model_validate(given))
    assert (done.done, done.copied, preview.copied) == (True, preview.copied, done.copied)
    assert [(one.entity_uuid, one.approved) for one in done.approved] == [(uuid, True) for uuid in uuids]
    assert "Ben LIKES Chess" in world.said()
    assert (set(done.left), done.left_total) == ({"Anna knows Ben.", "Anna likes Chess."}, 2)
    again = await world.migrating.promote(LOCAL, Promote.model_validate(given))
    assert (again.copied.facts, again.known.facts, again.copied.entities) == (0, 1, 0)


async def test_without_the_flags_the_tool_takes_the_entities_alone(world: StagingWorld) -> None:
    ben = entity(world, "Ben", STAGING).uuid
    done = await world.migrating.promote(LOCAL, Promote(entity_uuids=[ben], dry_run=False))
    assert (done.copied.entities, done.copied.facts, done.copied.episodes) == (1, 0, 0)


async def test_the_tool_refuses_what_the_command_refuses(world: StagingWorld) -> None:
    before, rows = world.state(), len(world.journal.table)
    ben, here = entity(world, "Ben", STAGING).uuid, entity(world, "Eva", "default").uuid
    nobody = "11111111-1111-4111-8111-111111111111"
    for uuid in (here, nobody):
        with pytest.raises(InvalidInput, match=f"has no entity '{uuid}'"):
            await world.migrating.promote(LOCAL, Promote(entity_uuids=[ben, uuid], dry_run=False))
    with pytest.raises(InvalidInput, match="are the same"):
        await world.migrating.promote(LOCAL, Promote(entity_uuids=[ben], target="staging"))
    with pytest.raises(InvalidInput, match="is staging or an archive itself"):
        await world.migrating.promote(LOCAL, Promote(entity_uuids=[ben], group_id=STAGING))
    with pytest.raises(PermissionDenied):
        await world.migrating.promote(Caller(tier="librarian"), Promote(entity_uuids=[ben], dry_run=False))
    with pytest.raises(NotAllowed):
        await world.migrating.promote(Caller(groups=("default",)), Promote(entity_uuids=[ben], dry_run=False))
    assert (world.state(), len(world.journal.table)) == (before, rows)


@pytest.mark.parametrize(("hops", "names"), [(0, {"Eva"}), (1, {"Eva", "Max"}), (2, {"Eva", "Max", "Ben"})])
async def test_a_cluster_is_copied_as_far_as_asked_and_the_source_stays(
    world: StagingWorld, hops: int, names: set[str]
) -> None:
    await world.note("Eva knows Max.", "Eva", "KNOWS", "Max", group_id=STAGING)
    await world.note("Ben knows Max.", "Ben", "KNOWS", "Max", group_id=STAGING)
    before = world.state(STAGING)
    done = await world.migrate("Eva", hops=hops, target="default_archive")
    assert (copied(world), done.copied.entities) == (names, len(names))
    assert world.state(STAGING) == before
    with pytest.raises(InvalidInput, match="0 to 2 hops"):
        await world.migrate("Eva", hops=3)


@pytest.mark.parametrize(
    ("word", "value"), [("status", "accepted"), ("accepted", None)], ids=["a value", "as earlier versions kept it"]
)
async def test_a_cluster_does_not_reach_what_only_has_the_same_status_or_measure(
    world: StagingWorld, word: str, value: str | None
) -> None:
    status, pages = (an_entity(name, group_id=STAGING) for name in (word, "pages"))
    for number in (18, 19):
        decision, cache = (an_entity(f"{what} {number}", group_id=STAGING) for what in ("ADR", "Cache"))
        facts = [
            a_fact(decision, status, "HAS_STATUS", value=value, group_id=STAGING),
            a_fact(decision, pages, "HAS_LENGTH", kind="reading", measure="pages", value="3", group_id=STAGING),
            a_fact(decision, cache, "DECIDES_ON", group_id=STAGING),
        ]
        new = (decision, cache, status, pages)
        await world.graph.writer.apply(a_write(*new, *map(a_name, new), *facts), {})
    done = await world.migrate("ADR 18", hops=2, target="default_archive")
    assert copied(world) == {"ADR 18", "Cache 18", "pages", word}
    assert (done.copied.facts, done.left_total) == (3, 0)
    await world.migrate(word, hops=1, target="default_archive")
    assert copied(world) == {"ADR 18", "ADR 19", "Cache 18", "pages", word}, "who names the status means all of them"


def copied(world: StagingWorld) -> set[str]:
    return {one.name for one in world.graph.tables.entities.values() if one.group_id == "default_archive"}


async def test_reviews_come_along(world: StagingWorld) -> None:
    ben = entity(world, "Ben", STAGING).uuid
    await world.reviews.set_confidence(LOCAL, SetConfidence(entity_uuid=ben, confidence=0.9, reason="Sure."))
    await world.migrate()
    copy = world.graph.tables.qualities[entity(world, "Ben", "default").uuid]
    assert (copy.confidence, copy.group_id) == (0.9, "default")


# Who may


@pytest.mark.parametrize(
    ("caller", "error"),
    [
        (Caller(groups=("default",)), NotAllowed),
        (Caller(groups=(STAGING,)), NotAllowed),
        (Caller(tier="librarian"), PermissionDenied),
        (Caller(read_only=True), PermissionDenied),
    ],
)
async def test_nothing_moves_that_a_token_may_not_read_there_and_write_here(
    world: StagingWorld, caller: Caller, error: type[Exception]
) -> None:
    before, rows = world.state(), len(world.journal.table)
    with pytest.raises(error):
        await world.migrate(caller=caller, moves=True)
    assert (world.state(), len(world.journal.table)) == (before, rows)


async def test_a_token_of_both_groups_moves_and_only_its_own_principals(world: StagingWorld) -> None:
    done = await world.migrate(caller=Caller(groups=("default", STAGING)))
    assert done.copied.facts == 3
    elsewhere = await world.migrate(caller=Caller(principal="eve"))
    assert (elsewhere.copied.facts, elsewhere.copied.entities) == (0, 0)


async def test_a_group_is_not_copied_into_itself(world: StagingWorld) -> None:
    with pytest.raises(InvalidInput, match="are the same"):
        await world.migrate(source="default")


async def test_a_copy_is_undone_by_a_rollback_and_comes_again(world: StagingWorld) -> None:
    before = world.state()
    world.clock.advance(seconds=1)
    since = world.clock.instant
    await world.migrate()
    after = world.said()
    await world.rollback(since)
    assert world.state() == before
    again = await world.migrate()
    assert (world.said(), again.copied.facts) == (after, 3)


async def test_the_target_tells_what_came_from_where_once(world: StagingWorld) -> None:
    asked = WhatChanged(kinds=["updated"])
    feed = (await world.changes.what_changed(LOCAL, asked)).feed_cursor
    await world.migrate(caller=Caller(principal="local", token="0a1b2c3d"))  # noqa: S106 the id of a token
    news = await world.changes.what_changed(LOCAL, asked.model_copy(update={"cursor": feed}))
    assert {(one.change, one.reason) for one in news.changes} == {("migrated", "from staging")}
    assert sorted(str(one.entity) for one in news.changes) == ["Anna", "Ben", "Chess", "Rome"]
    await world.migrate()
    again = await world.changes.what_changed(LOCAL, asked.model_copy(update={"cursor": news.feed_cursor}))
    assert again.total == 0


async def test_what_is_not_copied_is_said(world: StagingWorld) -> None:
    wrong = {"replaces": "Chess", "change": "corrected"}
    await world.note("Ben likes tennis.", "Ben", "LIKES", "Tennis", group_id=STAGING, fact=wrong)
    assert [one.relation for one in world.graph.tables.facts.values() if one.voided] == ["LIKES"]
    said = (await world.migrate()).not_copied
    assert (said.documents, said.quotes, said.sagas, said.corrected_facts) == (0, 0, 0, 1)
    again = (await world.migrate()).not_copied
    assert again == said
