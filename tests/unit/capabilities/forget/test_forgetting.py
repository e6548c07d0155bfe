"""Forgetting: what a preview shows, what goes with it, what stays and why."""

import asyncio

import pytest
from tests.builders import (
    GROUP,
    a_change,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    at,
)
from tests.worlds.reading_world import UNKNOWN, World

from graphiti_pkm.capabilities.forget.check import NOTHING_FOUND
from graphiti_pkm.capabilities.forget.models import EpisodesMode, ForgetResponse
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode, Forget
from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Passage, WriteIntent
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound, WritePending

HIDDEN = "Maria is pregnant."
BODY = f"Tom met Sarah in Rome. {HIDDEN} Sarah runs every morning."


def passages_of(episode: Episode) -> list[Passage]:
    return [
        a_passage(episode, span.start, span.end, paragraph=span.paragraph, sentence=span.sentence)
        for span in split_passages(episode.content)
    ]


def quoting(source: Entity, target: Entity, episode: Episode, quote: str, **fields: object) -> Fact:
    start = episode.content.index(quote)
    return a_fact(
        source,
        target,
        episodes=fields.pop("episodes", (episode.uuid,)),
        quote=quote,
        quote_start=start,
        quote_end=start + len(quote),
        quote_episode_uuid=episode.uuid,
        **fields,
    )


class Story(World):
    """An episode about Tom, Sarah and Maria, and another that names Sarah alone."""

    def __init__(self) -> None:
        super().__init__(default_group=GROUP)
        self.tom, self.sarah, self.maria = an_entity("Tom"), an_entity("Sarah"), an_entity("Maria")
        self.rome = an_entity("Rome")
        self.episode = an_episode(BODY, name="Tom met Sarah…", valid_at=at(2025, 3, 1))
        self.later = an_episode("Sarah came again.", valid_at=at(2025, 4, 1))
        self.met = quoting(self.tom, self.sarah, self.episode, "Tom met Sarah in Rome.", text="Tom met Sarah")
        self.runs = quoting(
            self.sarah, self.sarah, self.episode, "Sarah runs every morning.", text="Sarah runs", relation="RUNS"
        )
        self.claim = quoting(self.maria, self.maria, self.episode, HIDDEN, text="Maria expects a child", relation="IS")

    async def told(self, *records: object) -> None:
        everyone = (self.tom, self.sarah, self.maria, self.rome)
        write = a_write(
            *everyone,
            *map(a_name, everyone),
            self.episode,
            self.later,
            *passages_of(self.episode),
            *passages_of(self.later),
            self.met,
            self.runs,
            self.claim,
            *(a_mention(self.episode, one) for one in everyone),
            a_mention(self.later, self.sarah),
            *records,  # type: ignore[arg-type]
        )
        await self.keep(write)

    async def keep(self, write: WriteIntent) -> None:
        await self.journal.append(write, {}, "hash", {"message": HIDDEN})
        await self.given(write)
        await self.journal.written(write.uuid)

    async def preview(self, **target: object) -> ForgetResponse:
        return await self.forgetting.forget(self.caller, Forget(**target))  # type: ignore[arg-type]

    async def forget(self, **target: object) -> ForgetResponse:
        preview = await self.preview(**target)
        assert preview.status == "preview"
        return await self.preview(**target, confirm=preview.confirm)

    @property
    def content(self) -> str:
        return self.graph.tables.episodes[self.episode.uuid].content


async def test_a_preview_shows_what_would_go_and_changes_nothing() -> None:
    story = Story()
    await story.told()
    before = str(story.graph.tables)
    answer = await story.preview(entity_uuid=story.maria.uuid[:8])
    assert answer.status == "preview"
    assert answer.removed == {"sentences": 1, "facts": 1, "entities": 1, "mentions": 1}
    assert answer.sentences == [f"2025-03-01 [{story.episode.uuid[:8]}] {HIDDEN}"]
    assert answer.entities == ["Maria"]
    assert answer.facts is not None
    assert "Maria expects a child" in answer.facts[0]
    assert answer.confirm is not None
    assert str(story.graph.tables) == before


async def test_an_entity_goes_with_its_sentences_and_those_of_others_stay() -> None:
    story = Story()
    await story.told()
    answer = await story.forget(entity_uuid=story.maria.uuid)
    assert answer.status == "forgotten"
    assert "chat's own log" in answer.message
    assert answer.found_afterwards == [NOTHING_FOUND]
    tables = story.graph.tables
    assert story.content == "Tom met Sarah in Rome. [forgotten] Sarah runs every morning."
    assert set(tables.facts) == {story.met.uuid, story.runs.uuid}
    assert story.maria.uuid not in tables.entities
    runs = tables.facts[story.runs.uuid]
    assert story.content[slice(runs.quote_start, runs.quote_end)] == runs.quote
    own = [one for one in tables.passages.values() if one.episode_uuid == story.episode.uuid]
    assert {story.content[one.start : one.end] for one in own} == {
        "Tom met Sarah in Rome.",
        "Sarah runs every morning.",
    }
    assert all(one.uuid in tables.vectors for one in own)
    assert "pregnant" not in str(story.journal.table)
    assert "Maria" not in str(story.journal.table)


async def test_a_fact_goes_with_its_sentence_and_its_entity_stays_if_it_is_named_elsewhere() -> None:
    story = Story()
    await story.told()
    answer = await story.forget(fact_uuid=story.met.uuid)
    assert story.content == f"[forgotten] {HIDDEN} Sarah runs every morning."
    assert answer.removed == {"sentences": 1, "facts": 1, "entities": 2, "mentions": 2}
    assert answer.stays is None
    assert set(story.graph.tables.entities) == {story.sarah.uuid, story.maria.uuid}
    assert story.graph.tables.episodes[story.episode.uuid].name == "[forgotten]"


async def test_a_fact_without_quote_takes_the_sentences_that_name_its_ends() -> None:
    story = Story()
    fact = a_fact(story.tom, story.rome, text="Tom was in the city", episodes=(story.episode.uuid,))
    await story.told(fact)
    await story.forget(fact_uuid=fact.uuid)
    assert story.content.startswith("[forgotten] Maria")
    assert story.met.uuid not in story.graph.tables.facts


async def test_what_another_episode_tells_too_stays_without_the_words_that_went() -> None:
    story = Story()
    shared = quoting(
        story.sarah, story.rome, story.episode, "met Sarah", text="Sarah is around", episodes=(
            story.episode.uuid, story.later.uuid,
        )
    )  # fmt: skip
    await story.told(shared)
    answer = await story.forget(fact_uuid=story.met.uuid)
    left = story.graph.tables.facts[shared.uuid]
    assert (left.episodes, left.quote, left.quote_episode_uuid) == ((story.later.uuid,), None, None)
    assert answer.stays == ["Sarah is around - 1 other episode(s) support it", "Rome - other mentions or facts"]


@pytest.mark.parametrize("mode", ["redact", "delete"])
async def test_what_was_first_told_by_what_goes_is_known_from_what_stays(mode: EpisodesMode) -> None:
    story = Story()
    both = (story.episode.uuid, story.later.uuid)
    shared = quoting(
        story.sarah, story.rome, story.episode, "met Sarah", episodes=both, reference_time=story.episode.valid_at
    )
    dated = a_fact(
        story.sarah, story.tom, episodes=both, valid_at=at(2020, 1), reference_time=story.episode.valid_at
    )  # fmt: skip
    await story.told(shared, dated)
    await story.forget(episode_uuid=story.episode.uuid, episodes=mode)
    facts = story.graph.tables.facts
    assert facts[shared.uuid].reference_time == story.later.valid_at
    assert facts[dated.uuid].valid_at == at(2020, 1)


async def test_the_same_claim_told_twice_goes_and_one_that_only_shares_its_value_stays() -> None:
    story = Story()
    twice = an_episode("Sarah runs every morning.", valid_at=at(2025, 5))
    again = quoting(story.sarah, story.sarah, twice, twice.content, text="Sarah runs", invalid_at=at(2025, 6))
    first = quoting(story.tom, story.rome, story.episode, "in Rome", text="Tom knows it", value="every morning")
    other = quoting(story.tom, story.tom, story.episode, "in Rome", text="Tom is there", value="every morning")
    await story.told(twice, *passages_of(twice), again, first, other)
    await story.forget(fact_uuid=story.runs.uuid)
    assert again.uuid not in story.graph.tables.facts
    assert story.graph.tables.episodes[twice.uuid].content == "[forgotten]"
    assert {first.uuid, other.uuid} < set(story.graph.tables.facts)


async def test_a_fact_without_quote_stays_if_the_sentence_that_names_most_of_its_ends_does() -> None:
    story = Story()
    fact = a_fact(story.tom, story.sarah, text="They are friends", episodes=(story.episode.uuid,))
    await story.told(fact)
    await story.forget(fact_uuid=story.runs.uuid)
    assert fact.uuid in story.graph.tables.facts


async def test_an_episode_is_emptied_or_deleted() -> None:
    for mode, left in (("redact", "[forgotten]"), ("delete", None)):
        story = Story()
        await story.told()
        answer = await story.forget(episode_uuid=story.episode.uuid, episodes=mode)
        episode = story.graph.tables.episodes.get(story.episode.uuid)
        assert (episode and episode.content) == left
        assert set(story.graph.tables.entities) == {story.sarah.uuid}
        assert story.graph.tables.facts == {}
        assert answer.removed["facts"] == 3
        assert "morning" not in str(story.journal.table)


async def test_what_would_be_deleted_with_an_episode_is_shown_and_an_entity_that_others_mention_stays() -> None:
    story = Story()
    await story.told()
    preview = await story.preview(entity_uuid=story.maria.uuid, episodes="delete")
    assert preview.removed == {"sentences": 3, "episodes": 1, "facts": 3, "entities": 3}
    assert "Sarah runs every morning." in " ".join(preview.sentences or [])
    whole = await story.preview(episode_uuid=story.episode.uuid)
    assert whole.stays == ["Sarah - other mentions or facts"]


async def test_texts_may_be_kept_while_the_entity_and_its_facts_go() -> None:
    story = Story()
    await story.told()
    await story.forget(entity_uuid=story.maria.uuid, episodes="keep")
    assert story.content == BODY
    assert story.maria.uuid not in story.graph.tables.entities
    assert story.claim.uuid not in story.graph.tables.facts


async def test_words_take_every_sentence_and_fact_that_holds_all_of_them() -> None:
    story = Story()
    other = a_fact(story.tom, story.rome, text="Tom knows that Maria is pregnant", episodes=(story.later.uuid,))
    await story.told(other)
    answer = await story.forget(query="is Maria pregnant?")
    assert answer.removed["sentences"] == 1
    assert "pregnant" not in story.content
    assert other.uuid not in story.graph.tables.facts
    assert story.maria.uuid not in story.graph.tables.entities


async def test_summaries_attributes_and_reasons_lose_the_sentences_that_say_it() -> None:
    story = Story()
    story.tom = an_entity(
        "Tom", summary="Runs a shop. Maria told him everything.", attributes={"met": "Maria", "age": 4}
    )
    story.sarah = an_entity("Sarah", summary="Knows Maria")
    story.met = quoting(story.tom, story.sarah, story.episode, "Tom met Sarah in Rome.", text="Tom met Sarah")
    story.runs = quoting(story.sarah, story.sarah, story.episode, "Sarah runs every morning.", text="Sarah runs")
    change = a_change(story.met, story.later, reason="Maria said so")
    await story.told(change)
    preview = await story.preview(entity_uuid=story.maria.uuid)
    assert sorted(preview.summaries or []) == ["Sarah: all of it", "Tom: a part"]
    await story.forget(entity_uuid=story.maria.uuid)
    tables = story.graph.tables
    assert tables.entities[story.tom.uuid].summary == "Runs a shop."
    assert tables.entities[story.tom.uuid].attributes == {"age": 4}
    assert tables.entities[story.sarah.uuid].summary == ""
    assert tables.changes[change.uuid].reason == "[forgotten]"
    assert "Maria" not in str(story.journal.table)


async def test_an_older_summary_leaves_the_journal_though_the_graph_has_a_newer_one() -> None:
    story = Story()
    older = story.sarah.model_copy(update={"summary": "Told by Maria in secret"})
    await story.keep(a_write(older))
    await story.told()
    await story.forget(entity_uuid=story.maria.uuid)
    assert "in secret" not in str(story.journal.table)


async def test_what_a_forgotten_fact_had_ended_is_offered_and_no_change_tells_of_it() -> None:
    story = Story()
    old = a_fact(story.sarah, story.rome, text="Sarah rests", invalid_at=at(2025, 3), episodes=(story.later.uuid,))
    ended = a_change(old, story.episode, replaced_by=story.claim.uuid, reason="told so")
    await story.told(old, ended, a_change(story.claim, story.episode, kind="voided"))
    answer = await story.forget(entity_uuid=story.maria.uuid)
    assert answer.restorable is not None
    assert answer.restorable[0].startswith(old.uuid[:8])
    (left,) = story.graph.tables.changes.values()
    assert (left.fact_uuid, left.replaced_by, left.reason) == (old.uuid, None, None)
    restored = await story.retiring.restore_fact(story.caller, RestoreFact(fact_uuid=old.uuid, reason="wrong"))
    assert restored.changed


async def test_what_may_still_speak_of_it_is_left_to_the_user() -> None:
    story = Story()
    story.episode = an_episode("Maria is pregnant. She told nobody. I saw maria.", valid_at=at(2025, 3))
    story.met, story.runs = (a_fact(story.tom, story.sarah, episodes=(story.later.uuid,)) for _ in range(2))
    story.claim = quoting(story.maria, story.maria, story.episode, HIDDEN)
    unnamed = an_episode("My friend called.", name="A call")
    await story.told(unnamed, a_mention(unnamed, story.maria))
    answer = await story.preview(entity_uuid=story.maria.uuid)
    told = " ".join(answer.ask_user or [])
    assert "She told nobody." in told
    assert "I saw maria." in told
    assert "A call: mentions it without its name" in told


async def test_facts_that_were_deleted_before_leave_the_journal_with_what_told_them() -> None:
    for target in ("entity_uuid", "episode_uuid", "deleted"):
        story = Story()
        await story.told()
        await story.deleting.delete_entity_edge(story.caller, DeleteEntityEdge(uuid=story.claim.uuid))
        assert "expects a child" in str(story.journal.table)
        if target == "deleted":
            await story.deleting.delete_episode(story.caller, DeleteEpisode(uuid=story.episode.uuid))
        else:
            await story.forget(**{target: (story.maria if target == "entity_uuid" else story.episode).uuid})
        assert "expects a child" not in str(story.journal.table)
        assert "pregnant" not in str(story.journal.table)


async def test_a_token_fits_only_what_was_shown() -> None:
    story = Story()
    await story.told()
    preview = await story.preview(entity_uuid=story.maria.uuid)
    more = an_episode("Maria once more.", valid_at=at(2025, 5))
    await story.keep(a_write(more, *passages_of(more), a_mention(more, story.maria)))
    for target in ({"entity_uuid": story.maria.uuid}, {"entity_uuid": story.tom.uuid}):
        with pytest.raises(InvalidInput, match="confirm is not valid"):
            await story.preview(**target, confirm=preview.confirm)
    assert story.content == BODY
    answer = await story.forget(entity_uuid=story.maria.uuid)
    assert answer.removed["sentences"] == 2


async def test_nothing_to_forget_is_said() -> None:
    story = Story()
    await story.told()
    answer = await story.preview(query="zebra crossing")
    assert (answer.status, answer.confirm) == ("nothing", None)


async def test_what_is_not_there_or_not_one_thing_or_not_allowed_is_refused() -> None:
    story = Story()
    me = an_entity("me")
    await story.told(me, a_name(me, is_linkable=False))
    with pytest.raises(NotFound):
        await story.preview(entity_uuid=UNKNOWN)
    with pytest.raises(InvalidInput, match="exactly one"):
        await story.preview(entity_uuid=UNKNOWN, query="x")
    with pytest.raises(InvalidInput, match="cannot be kept"):
        await story.preview(episode_uuid=story.episode.uuid, episodes="keep")
    with pytest.raises(NotAllowed, match="person the memory belongs to"):
        await story.preview(entity_uuid=me.uuid)
    with pytest.raises(NotAllowed):
        await story.forgetting.forget(Caller(principal="x", read_only=True), Forget(query="x"))


async def test_the_words_of_the_request_are_kept_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    story = Story()
    await story.told()
    caplog.set_level("DEBUG")
    await story.forget(query="pregnant maria")
    assert "pregnant" not in caplog.text
    assert "pregnant" not in str(story.journal.table)


async def test_a_start_erases_at_once_what_an_earlier_process_left() -> None:
    story = Story()
    await story.told()
    story.graph.is_durable = False
    assert (await story.forget(entity_uuid=story.maria.uuid)).status == "pending"
    story.graph.is_durable = True
    stop = asyncio.Event()
    stop.set()
    await story.jobs.run(stop)
    assert story.graph.erased == 1
    assert await story.journal.open_erasures() == []


async def test_a_database_that_dies_leaves_the_forgetting_to_the_next_writer() -> None:
    story = Story()
    await story.told()
    preview = await story.preview(entity_uuid=story.maria.uuid)
    story.graph.fail_next_apply()
    with pytest.raises(WritePending, match="the forgetting"):
        await story.preview(entity_uuid=story.maria.uuid, confirm=preview.confirm)
    assert "pregnant" not in str(story.journal.table)
    story.clock.advance(seconds=31)
    assert await story.jobs.run_once()
    assert "[forgotten]" in story.content
    assert story.graph.erased == 1


async def test_a_sentence_whose_vector_holds_a_forgotten_speaker_is_embedded_anew() -> None:
    story = Story()
    message = an_episode("Maria: I am ill. The train is late.\nTom: I wait. Come soon.", source="message")
    said = passages_of(message)
    await story.told(message, *said, a_mention(message, story.maria))
    await story.forget(entity_uuid=story.maria.uuid)
    tables = story.graph.tables
    content = tables.episodes[message.uuid].content
    assert content == "[forgotten] The train is late.\nTom: I wait. Come soon."
    own = {content[one.start : one.end]: one for one in tables.passages.values() if one.episode_uuid == message.uuid}
    assert set(own) == {"The train is late.", "Tom: I wait.", "Come soon."}
    renewed = own["The train is late."]
    assert renewed.uuid not in {one.uuid for one in said}
    assert renewed.uuid not in tables.vectors
    assert [own[text].uuid for text in ("Tom: I wait.", "Come soon.")] == [said[2].uuid, said[3].uuid]
    assert all(own[text].uuid in tables.vectors for text in ("Tom: I wait.", "Come soon."))
    assert said[1].uuid not in tables.vectors
