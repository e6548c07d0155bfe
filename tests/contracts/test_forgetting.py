"""Contracts of a write that forgets: the graph and the earlier rows of the journal lose the same."""

import json
from array import array

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    a_change,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_intent,
    an_update,
    at,
)
from tests.fakes import FakeClock

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.job_records import BackLinkJob, EraseJob
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, Window
from graphiti_pkm.core.model.records import (
    Deletions,
    EpisodeText,
    FactChange,
    Forgetting,
    RemainingNames,
    Vectors,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.ports import Journal

HIDDEN = "pregnant"
WORDS = f"Maria is {HIDDEN}. Tom runs."
LEFT = "[forgotten] Tom runs."


async def test_a_fact_with_another_relation_and_an_entity_without_its_type(graph: Graph, journal: Journal) -> None:
    spoon, tom = an_entity("Spoon", label="ZephyrinThing"), an_entity("Tom")
    episode = an_episode("Tom has a spoon.")
    fact = a_fact(tom, spoon, "ASKED_ZEPHYRIN", text="Tom asked", episodes=(episode.uuid,))
    told_by = a_write(spoon, tom, a_name(spoon), a_name(tom), episode, fact)
    await journal.append(told_by, {}, "hash", {})
    await graph.writer.apply(told_by, {})
    left = spoon.model_copy(update={"label": None}), fact.model_copy(update={"relation": "ASKED"})
    forgetting = a_write(*left, kind=WriteKind.FORGET, forgets=Forgetting())
    await journal.append(forgetting, {}, "hash", {})
    await graph.writer.apply(forgetting, {})
    assert await graph.facts.relations(GROUP, 9) == {"ASKED": 1}
    assert [one.label for one in await graph.records.get_entities([spoon.uuid], (GROUP,))] == [None]
    typed = EntityFilter(group_ids=(GROUP,), labels=("ZephyrinThing",))
    assert await graph.search.search_entities(["spoon"], typed, 9) == {}
    assert "zephyrin" not in str(await journal.row_contents(GROUP, 0, 9)).casefold()


class Story:
    """Maria's secret, told in an episode with a sentence about Tom; another fact was retired by it."""

    def __init__(self, group_id: str = GROUP) -> None:
        self.maria = an_entity("Maria", group_id=group_id, summary=f"Maria is {HIDDEN}")
        self.tom = an_entity("Tom", group_id=group_id, summary=f"Tom knows that Maria is {HIDDEN}")
        self.episode = an_episode(WORDS, group_id=group_id, name=f"Maria is {HIDDEN}")
        self.told = a_passage(self.episode, 0, 18)
        self.runs = a_passage(self.episode, 19, 28, sentence=1)
        self.secret = a_fact(
            self.maria, self.tom, "EXPECTS", text=f"Maria is {HIDDEN}", episodes=(self.episode.uuid,), quote=HIDDEN
        )
        self.fact = a_fact(
            self.tom,
            self.tom,
            "RUNS",
            text="Tom runs",
            episodes=(self.episode.uuid,),
            quote="Tom runs.",
            quote_start=19,
            quote_end=28,
            quote_episode_uuid=self.episode.uuid,
        )
        self.old = a_fact(self.tom, self.tom, "RESTS", text="Tom rests", invalid_at=at(2025))
        self.ended = a_change(self.old, self.episode, replaced_by=self.secret.uuid, reason=HIDDEN)
        self.voided = a_change(self.secret, self.episode, kind="voided", reason=HIDDEN)
        self.other = a_change(self.old, self.episode, kind="proposed", reason=HIDDEN)
        self.told_by = a_write(
            self.maria,
            self.tom,
            a_name(self.maria),
            a_name(self.tom),
            self.episode,
            self.told,
            self.runs,
            self.secret,
            self.fact,
            self.old,
            an_update(self.fact),
            self.ended,
            self.voided,
            self.other,
            a_mention(self.episode, self.maria),
            a_mention(self.episode, self.tom),
            BackLinkJob(entity_uuid=self.maria.uuid, names=("Maria",), before=at(2030)),
            steering={"custom_extraction_instructions": HIDDEN},
        )
        self.vectors: Vectors = {
            one.uuid: array("f", [1.0, 0.0]) for one in (self.maria, self.tom, self.told, self.runs, self.secret)
        }

    def forgetting(self) -> WriteIntent:
        moved = {"quote_start": 12, "quote_end": 21}
        return a_write(
            self.tom.model_copy(update={"summary": ""}),
            self.fact.model_copy(update=moved),
            self.runs.model_copy(update={"start": 12, "end": 21}),
            EraseJob(),
            kind=WriteKind.FORGET,
            deletions=Deletions(entities=(self.maria.uuid,)),
            forgets=Forgetting(
                episodes=(EpisodeText(uuid=self.episode.uuid, name="[forgotten]", content=LEFT),),
                facts=(self.secret.uuid,),
                passages=(self.told.uuid,),
                mentions=((self.episode.uuid, self.maria.uuid),),
                reasons=(self.other.uuid,),
            ),
        )


async def what_is_left(graph: Graph, story: Story) -> list[object]:
    groups = (GROUP,)
    found = await graph.search.search_episodes([HIDDEN], EpisodeFilter(group_ids=groups), 5)
    wanted = ChangeFilter(group_ids=groups, recorded_until=at(2030), since=at(2000))
    passages = await graph.episodes.passages(story.episode.uuid, without_vector=False, limit=9)
    return [
        await graph.records.get_episodes([story.episode.uuid], groups),
        await graph.records.get_entities([story.maria.uuid, story.tom.uuid], groups),
        await graph.records.get_facts([story.secret.uuid, story.fact.uuid, story.old.uuid], groups),
        await graph.part(CHANGE_LISTS).changes(wanted, Window(limit=20)),
        await graph.episodes.episode_entities([story.episode.uuid], groups, Window(limit=5)),
        passages,
        await graph.episodes.passages(story.episode.uuid, without_vector=True, limit=9),
        await graph.records.get_names([name.key for name in story.told_by.names]),
        found,
    ]


async def test_the_graph_keeps_no_word_of_it_and_all_that_was_said_beside_it(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.told_by, story.vectors)
    before = await graph.records.name_book(GROUP, None)
    await graph.writer.apply(story.forgetting(), {})
    left = await what_is_left(graph, story)
    assert HIDDEN not in str(left)
    (episode,) = await graph.records.get_episodes([story.episode.uuid], (GROUP,))
    assert (episode.content, episode.name, episode.valid_at) == (LEFT, "[forgotten]", story.episode.valid_at)
    assert await graph.search.search_episodes(["runs"], EpisodeFilter(group_ids=(GROUP,)), 5)
    (fact, old) = await graph.records.get_facts([story.fact.uuid, story.old.uuid], (GROUP,))
    assert (fact.quote, fact.quote_start, fact.quote_end) == ("Tom runs.", 12, 21)
    (passage,) = await graph.episodes.passages(story.episode.uuid, without_vector=False, limit=9)
    assert LEFT[passage.start : passage.end] == "Tom runs."
    assert await graph.episodes.passages(story.episode.uuid, without_vector=True, limit=9) == []
    changes = (await graph.changes.fact_changes([story.secret.uuid, old.uuid], (GROUP,), 9)).values()
    assert [[(one.kind, one.replaced_by, one.reason) for one in listed] for listed in changes] == [
        [],
        [("proposed", None, "[forgotten]"), ("retired", None, None)],
    ]
    assert before is not None
    assert await graph.records.name_book(GROUP, before.version) is not None


async def test_reasons_come_newest_recorded_first_from_one_group(graph: Graph) -> None:
    story, elsewhere = Story(), Story(OTHER_GROUP)
    later = a_change(story.old, story.episode, kind="restored", reason="later", recorded_at=at(2027))
    silent = a_change(story.old, story.episode, kind="restored", recorded_at=at(2028))
    await graph.writer.apply(story.told_by, {})
    await graph.writer.apply(elsewhere.told_by, {})
    await graph.writer.apply(a_write(later, silent, group_id=GROUP), {})
    found = await graph.changes.reasons(GROUP, 10)
    assert next(iter(found.items())) == (later.uuid, "later")
    assert found.keys() == {later.uuid, story.ended.uuid, story.voided.uuid, story.other.uuid}
    assert await graph.changes.reasons(GROUP, 1) == {later.uuid: "later"}


async def test_a_rebuild_from_the_redacted_journal_gives_the_same(graph: Graph, journal: Journal) -> None:
    story = Story()
    forgetting = story.forgetting()
    await journal.append(story.told_by, story.vectors, "hash", {"message": HIDDEN})
    await journal.append(forgetting, {}, "", {})
    await graph.writer.apply(story.told_by, story.vectors)
    await graph.writer.apply(forgetting, {})
    before = await what_is_left(graph, story)
    await graph.clear()
    for row in await journal.rows(0, 10):
        await graph.writer.apply(row.intent, row.vectors)
    assert await what_is_left(graph, story) == before


async def test_every_earlier_row_of_the_group_loses_it_whatever_its_state(journal: Journal) -> None:
    story, elsewhere = Story(), Story(OTHER_GROUP)
    failed = a_write(story.tom, story.episode, kind=WriteKind.JOB)
    await journal.append(story.told_by, story.vectors, "hash", {"message": HIDDEN})
    await journal.append(failed, {}, "", {})
    await journal.fail(failed.uuid, "refused")
    await journal.append(elsewhere.told_by, {}, "hash", {"message": HIDDEN})
    await journal.append(story.forgetting(), {}, "", {})
    mine, other, _ = await journal.rows(0, 10)
    assert HIDDEN not in mine.intent.model_dump_json()
    assert set(mine.vectors) == {story.tom.uuid, story.runs.uuid}
    assert mine.intent.episodes[0].content == LEFT
    assert other.intent == elsewhere.told_by
    assert await journal.stored_answer(story.episode.uuid) == ("", {})
    assert (await journal.claim_job("me", 60) or (0, ""))[1] == OTHER_GROUP


async def test_the_receipts_of_other_notes_keep_only_what_those_told(journal: Journal) -> None:
    story, note, elsewhere = Story(), an_episode("Tom swims."), an_episode(group_id=OTHER_GROUP)
    repeating = {
        "message": "Stored.",
        "related": [f"Maria is {HIDDEN}"],
        "retired": [{"uuid": "1", "fact": HIDDEN}],
        "needs_attention": [{"what": "possible_conflict", "detail": HIDDEN}],
        "facts": [{"uuid": "2", "outcome": "duplicate", "fact": HIDDEN, "series": [HIDDEN]}],
    }
    await journal.append(story.told_by, story.vectors, "hash", {})
    await journal.append(a_write(note, kind=WriteKind.ADD_MEMORY), {}, "same", repeating)
    await journal.append(a_write(elsewhere, kind=WriteKind.ADD_MEMORY, group_id=OTHER_GROUP), {}, "other", repeating)
    await journal.append(story.forgetting(), {}, "", {})
    assert await journal.stored_answer(note.uuid) == (
        "same",
        {
            "message": "Stored.",
            "related": [],
            "retired": [],
            "needs_attention": [],
            "facts": [{"uuid": "2", "outcome": "duplicate"}],
        },
    )
    assert await journal.stored_answer(elsewhere.uuid) == ("other", repeating)


async def test_a_deleted_episode_leaves_shells_for_what_became_of_its_facts(journal: Journal) -> None:
    story = Story()
    await journal.append(story.told_by, story.vectors, "hash", {"message": HIDDEN})
    gone = Deletions(episodes=(story.episode.uuid,), entities=(story.maria.uuid,), facts=(story.secret.uuid,))
    tom = story.tom.model_copy(update={"summary": ""})
    stays = an_update(story.fact, episodes=("other",))
    deleting = an_intent(
        kind=WriteKind.DELETE_EPISODE, deletions=gone, forgets=Forgetting(), entities=(tom,), fact_updates=(stays,)
    )
    await journal.append(deleting, {}, "", {})
    row = (await journal.rows(0, 10))[0]
    assert row.intent.episodes == ()
    assert {one.name for one in row.intent.entities} == {"[forgotten]", "Tom"}
    assert {one.text for one in row.intent.facts} == {"[forgotten]", "Tom runs", "Tom rests"}
    assert set(row.vectors) == {story.tom.uuid}
    reasons = {change.fact_uuid: change.reason for change in row.intent.changes}
    assert reasons[story.secret.uuid] is None
    assert "Maria" not in row.intent.model_dump_json()


async def test_what_a_write_gave_a_forgotten_fact_beside_its_words_goes_as_well(journal: Journal) -> None:
    story = Story()
    await journal.append(story.told_by, {}, "hash", {})
    later = an_update(story.secret, attributes={"because": "Maria"}), an_update(story.fact, attributes={"by": "Maria"})
    await journal.append(an_intent(fact_updates=later), {}, "", {})
    gone = Forgetting(facts=(story.secret.uuid,))
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=gone, facts=(story.fact,)), {}, "", {})
    left = [one for row in await journal.rows(0, 10) for one in row.intent.fact_updates if one.uuid == story.fact.uuid]
    assert left[-1].attributes == {"by": None}
    assert "Maria" not in "".join(one.model_dump_json() for one in left)


async def test_a_fact_that_was_deleted_before_is_left_without_words_when_its_episode_is_redacted(
    journal: Journal,
) -> None:
    story = Story()
    await journal.append(story.told_by, {}, "hash", {})
    text = EpisodeText(uuid=story.episode.uuid, name="A note", content=LEFT)
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(episodes=(text,))), {}, "", {})
    row = (await journal.rows(0, 10))[0]
    assert {one.text for one in row.intent.facts} == {"[forgotten]", "Tom rests"}
    assert {one.quote for one in (*row.intent.facts, *row.intent.fact_updates)} == {None}


async def test_an_earlier_forgetting_holds_the_words_it_left_no_longer(journal: Journal) -> None:
    story = Story()
    await journal.append(story.told_by, story.vectors, "hash", {})
    await journal.append(story.forgetting(), {}, "", {})
    nothing = EpisodeText(uuid=story.episode.uuid, name="[forgotten]", content="[forgotten]")
    gone = Forgetting(episodes=(nothing,), facts=(story.fact.uuid,), passages=(story.runs.uuid,))
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=gone), {}, "", {})
    rows = await journal.rows(0, 10)
    assert all("runs" not in row.intent.model_dump_json() for row in rows)


class Nicknames:
    """Tom, under two other names, one of which has to go."""

    def __init__(self) -> None:
        self.tom, self.maria = an_entity("Tom"), an_entity("Maria")
        self.stays = (a_name(self.tom), a_name(self.tom, "Tommy", spellings=("TOMMY",)))
        self.told_by = a_write(
            self.tom,
            self.maria,
            a_name(self.maria, "Mary"),
            *self.stays,
            a_name(self.tom, f"The {HIDDEN} one", spellings=(f"the {HIDDEN}-one",)),
            BackLinkJob(entity_uuid=self.tom.uuid, names=(f"The {HIDDEN} one", "Tommy"), before=at(2030)),
            BackLinkJob(entity_uuid=self.tom.uuid, names=(f"The {HIDDEN} one",), before=at(2030)),
        )

    def forgetting(self) -> WriteIntent:
        left = RemainingNames(entity_uuid=self.tom.uuid, names=self.stays)
        return an_intent(kind=WriteKind.FORGET, forgets=Forgetting(names=(left,)))


async def test_the_graph_finds_an_entity_by_a_forgotten_name_no_longer(graph: Graph) -> None:
    story = Nicknames()
    await graph.writer.apply(story.told_by, {})
    before = await graph.records.name_book(GROUP, None)
    assert before is not None
    wanted = EntityFilter(group_ids=(GROUP,))
    assert set(await graph.search.search_entities([HIDDEN], wanted, 5)) == {story.tom.uuid}
    await graph.writer.apply(story.forgetting(), {})
    assert await graph.search.search_entities([HIDDEN], wanted, 5) == {}
    assert set(await graph.search.search_entities(["tommy"], wanted, 5)) == {story.tom.uuid}
    assert set(await graph.search.search_entities(["tom"], wanted, 5)) == {story.tom.uuid}
    assert set(await graph.search.search_entities(["mary"], wanted, 5)) == {story.maria.uuid}
    assert await graph.records.aliases([story.tom.uuid], 9) == {story.tom.uuid: ["TOMMY", "Tommy"]}
    after = await graph.records.name_book(GROUP, before.version)
    assert after is not None
    assert {name.text for name in after.names} == {"Tom", "Tommy", "Mary"}


async def test_a_forgotten_name_leaves_every_row_and_every_job(journal: Journal) -> None:
    story = Nicknames()
    await journal.append(story.told_by, {}, "", {})
    await journal.append(story.forgetting(), {}, "", {})
    row, forgetting = await journal.rows(0, 10)
    assert HIDDEN not in row.intent.model_dump_json()
    assert {name.text for name in row.intent.names} == {"Tom", "Tommy", "Mary"}
    (_, _, job) = await journal.claim_job("me", 60) or (0, "", None)
    assert isinstance(job, BackLinkJob)
    assert job.names == ("Tommy",)
    assert await journal.claim_job("me", 60) is None
    only = RemainingNames(entity_uuid=story.tom.uuid, names=story.stays[:1])
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(names=(only,))), {}, "", {})
    row, forgetting, _ = await journal.rows(0, 10)
    assert "Tommy" not in row.intent.model_dump_json() + forgetting.intent.model_dump_json()


async def test_an_answer_alone_may_go(journal: Journal) -> None:
    note, other, elsewhere = an_episode(), an_episode(), an_episode(group_id=OTHER_GROUP)
    write = a_write(note, kind=WriteKind.ADD_MEMORY)
    await journal.append(write, {}, "hash", {"message": HIDDEN})
    await journal.append(a_write(other, kind=WriteKind.ADD_MEMORY), {}, "hash", {"message": "Stored."})
    await journal.append(a_write(elsewhere, kind=WriteKind.ADD_MEMORY, group_id=OTHER_GROUP), {}, "", {})
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(answers=(write.uuid,))), {}, "", {})
    assert await journal.stored_answer(note.uuid) == ("", {})
    assert await journal.stored_answer(other.uuid) == ("hash", {"message": "Stored."})
    rows = await journal.row_contents(GROUP, 0, 2)
    assert [(row.intent.episodes, json.loads(row.answer)) for row in rows] == [
        ((note,), {}),
        ((other,), {"message": "Stored."}),
    ]
    assert [row.intent.kind for row in await journal.row_contents(GROUP, rows[-1].seq, 9)] == [WriteKind.FORGET]


async def test_rows_that_failed_are_read_too(journal: Journal) -> None:
    write = a_write(an_episode(HIDDEN))
    await journal.append(write, {}, "", {})
    await journal.fail(write.uuid, "refused")
    assert [row.intent for row in await journal.row_contents(GROUP, 0, 9)] == [write]


async def test_erasing_waits_for_its_time_and_counts_once_the_graph_has_the_write(
    journal: Journal, clock: FakeClock
) -> None:
    write = an_intent(kind=WriteKind.FORGET, forgets=Forgetting(), jobs=[EraseJob()])
    await journal.append(write, {}, "", {})
    assert await journal.open_erasures() == []
    await journal.written(write.uuid)
    (job,) = await journal.open_erasures()
    assert await journal.claim_job("me", 60) is None
    clock.advance(seconds=31)
    assert await journal.claim_job("me", 60) == (job, GROUP, EraseJob())
    assert await journal.erase()
    await journal.close_erasures([job])
    assert await journal.open_erasures() == []
    assert (await journal.counts())["jobs_running"] == 0


async def test_the_graph_makes_its_file_anew(graph: Graph) -> None:
    await graph.writer.apply(Story().told_by, {})
    assert await graph.erase()


def test_a_change_has_no_words_but_its_reason() -> None:
    texts = {name for name, field in FactChange.model_fields.items() if field.annotation == (str | None)}
    dates = {"previous_start_words", "previous_end_words"}  # as previous_valid_at, in words of ours
    assert texts - {"episode_uuid", "replaced_by", "caller"} - dates == {"reason"}
