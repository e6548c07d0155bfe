"""The words behind a fact."""

import pytest
from pydantic import ValidationError
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_passage, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import UNKNOWN, World, all_pages

from graphiti_pkm.capabilities.explore.requests import GetFactSources
from graphiti_pkm.core.facts.history import change_of
from graphiti_pkm.core.facts.rules import update_of
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import FactSourcesResponse, SourceView
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Episode, Fact, Passage
from graphiti_pkm.core.model.walks import SourceMode
from graphiti_pkm.errors import InvalidCursor, NotFound

MOVE = "🙂 It was late.\n\nSarah told me that she moved to Berlin in May. She likes it there.\n\nThen it rained a lot."
AGAIN = "Lunch with Tom. Sarah moved to Berlin, he said."
QUOTE = "she moved to Berlin"
SARAH, BERLIN = an_entity("Sarah"), an_entity("Berlin")


def passages(episode: Episode) -> list[Passage]:
    return [a_passage(episode, **span.model_dump()) for span in split_passages(episode.content)]


class Story:
    """A fact told by two episodes; the older one has its quote."""

    def __init__(self, world: World, **fact_fields: object) -> None:
        self.world = world
        self.old = an_episode(MOVE, name="May", valid_at=at(2025, 5))
        self.new = an_episode(AGAIN, name="June", valid_at=at(2025, 6))
        start = MOVE.index(QUOTE)
        quote = {
            "quote": QUOTE,
            "quote_start": start,
            "quote_end": start + len(QUOTE),
            "quote_episode_uuid": self.old.uuid,
        }
        self.fact = a_fact(
            SARAH,
            BERLIN,
            "MOVED_TO",
            **{"text": "Sarah moved to Berlin", "episodes": (self.new.uuid, self.old.uuid), **quote, **fact_fields},
        )

    async def given(self, *, has_passages: bool = True, is_embedded: bool = True) -> "Story":
        parts = [*passages(self.old), *passages(self.new)] if has_passages else []
        write = a_write(SARAH, BERLIN, self.old, self.new, self.fact, *parts)
        if is_embedded:
            await self.world.given(write)
        else:
            await self.world.graph.writer.apply(write, {})
        return self

    async def ask(self, mode: SourceMode = "quote", limit: int = 5, cursor: str | None = None) -> FactSourcesResponse:
        return await self.world.sources.get_fact_sources(
            self.world.caller, GetFactSources(fact_uuid=self.fact.uuid, mode=mode, limit=limit, cursor=cursor)
        )

    def is_verbatim(self, source: SourceView) -> bool:
        content = {self.old.uuid: MOVE, self.new.uuid: AGAIN}[source.episode_uuid]
        return source.text == content[source.start : source.end]


async def test_the_kept_quote_comes_first_then_the_nearest_sentences_verbatim() -> None:
    story = await Story(World()).given()
    answer = await story.ask()
    assert [one.text for one in answer.sources[:2]] == [QUOTE, "Sarah moved to Berlin, he said."]
    assert all(map(story.is_verbatim, answer.sources))
    first = answer.sources[0]
    assert (first.episode, first.episode_uuid, first.valid_at) == ("May", story.old.uuid, "2025-05-01T00:00:00+00:00")
    assert [one.is_quote for one in answer.sources] == [True, None]
    assert (answer.total, answer.returned, answer.truncated) == (2, 2, False)
    assert answer.fact.startswith("Sarah moved to Berlin (")
    assert answer.message == "Found 2 of 2 sentence(s) behind the fact, nearest first; its episodes hold 6"


async def test_paragraphs_and_episodes_hold_what_stands_around() -> None:
    story = await Story(World()).given()
    paragraphs = (await story.ask("paragraph")).sources
    assert paragraphs[0].text == "Sarah told me that she moved to Berlin in May. She likes it there."
    assert (paragraphs[0].is_quote, paragraphs[1].text) == (True, AGAIN)
    assert all(map(story.is_verbatim, paragraphs))
    whole = (await story.ask("episode")).sources
    assert [one.text for one in whole] == [MOVE, AGAIN]
    assert [one.cut for one in whole] == [None, None]


@pytest.mark.parametrize("mode", ["quote", "paragraph", "episode"])
async def test_pages_give_every_part_once(mode: SourceMode) -> None:
    story = await Story(World()).given()
    whole = (await story.ask(mode, limit=50)).sources
    pages = await all_pages(lambda cursor: story.ask(mode, limit=1, cursor=cursor))
    assert [one for page in pages for one in page.sources] == whole
    assert {page.total for page in pages} == {len(whole)}


@pytest.mark.parametrize(
    ("mode", "texts"),
    [
        ("quote", [QUOTE, "Sarah moved to Berlin, he said."]),
        ("paragraph", ["Sarah told me that she moved to Berlin in May. She likes it there.", AGAIN]),
        ("episode", [MOVE, AGAIN]),
    ],
)
@pytest.mark.parametrize("has_passages", [True, False])
async def test_without_vectors_words_choose_one_part_an_episode(
    mode: SourceMode, texts: list[str], has_passages: bool
) -> None:
    story = await Story(World()).given(has_passages=has_passages, is_embedded=False)
    answer = await story.ask(mode)
    assert [one.text for one in answer.sources] == texts
    assert all(map(story.is_verbatim, answer.sources))
    assert [one.score for one in answer.sources] == [None, None]
    assert answer.scope.note is not None
    assert "by words alone" in answer.scope.note


@pytest.mark.parametrize("is_embedded", [True, False])
async def test_a_heading_is_no_source_but_what_is_said_beneath_it(is_embedded: bool) -> None:
    world = World()
    note = an_episode("# Sarah moved to Berlin\n\n## News\n\nShe lives there now, with Tom.\n", name="May")
    fact = a_fact(SARAH, BERLIN, "MOVED_TO", text="Sarah moved to Berlin", episodes=(note.uuid,))
    write = a_write(SARAH, BERLIN, note, fact, *passages(note))
    if is_embedded:
        await world.given(write)
    else:
        await world.graph.writer.apply(write, {})
    asked = GetFactSources(fact_uuid=fact.uuid)
    answer = await world.sources.get_fact_sources(world.caller, asked)
    assert [one.text for one in answer.sources] == ["She lives there now, with Tom."]
    alone = an_episode("# Sarah moved to Berlin\n")
    other = a_fact(SARAH, BERLIN, "LIKES", text="Sarah likes Berlin", episodes=(alone.uuid,))
    await world.given(a_write(alone, other, *passages(alone)))
    answer = await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=other.uuid))
    assert [one.text for one in answer.sources] == ["# Sarah moved to Berlin"], "there is nothing else"


async def test_without_a_quote_the_nearest_sentence_comes_first() -> None:
    nothing = dict.fromkeys(("quote", "quote_start", "quote_end", "quote_episode_uuid"))
    story = await Story(World(), **nothing).given()
    answer = await story.ask(limit=2)
    assert answer.sources[0].text == "Sarah moved to Berlin, he said."
    assert answer.sources[0].score is not None
    assert answer.sources[0].score > 0.5
    assert {one.is_quote for one in answer.sources} == {None}


async def test_a_long_paragraph_is_cut_around_its_best_sentence() -> None:
    world = World()
    filler = "Nothing else happened that day at all. " * 200
    content = f"{filler}Sarah moved to Berlin. {filler}"
    episode = an_episode(content)
    fact = a_fact(SARAH, BERLIN, text="Sarah moved to Berlin", episodes=(episode.uuid,))
    await world.given(a_write(SARAH, BERLIN, episode, fact, *passages(episode)))
    for mode in ("paragraph", "episode"):
        (source,) = (
            await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=fact.uuid, mode=mode))
        ).sources
        assert "Sarah moved to Berlin." in source.text
        assert (source.cut, source.text) == (True, content[source.start : source.end])
        assert len(source.text) <= 2_000


@pytest.mark.parametrize(("is_wrong", "mark"), [(True, True), (False, None)])
async def test_sources_are_marked_by_what_became_of_their_own_fact(is_wrong: bool, mark: bool | None) -> None:
    """The note is marked in both cases: something that it told was corrected."""
    world = World()
    note = an_episode("Sarah moved to Berlin. She weighs 61 kg.", corrected=True)
    redacted = an_episode("[forgotten] Sarah moved to Berlin.")
    fact = a_fact(SARAH, BERLIN, episodes=(note.uuid, redacted.uuid), voided=is_wrong)
    await world.given(a_write(SARAH, BERLIN, note, redacted, fact))
    answer = await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=fact.uuid))
    marks = {one.episode_uuid: (one.corrected, one.redacted) for one in answer.sources}
    assert marks == {note.uuid: (mark, None), redacted.uuid: (mark, True)}


async def test_the_fact_is_found_by_a_prefix_within_what_the_caller_may_see() -> None:
    story = await Story(World()).given()
    world = story.world
    assert (
        await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=story.fact.uuid[:13]))
    ).total == 2
    with pytest.raises(NotFound):
        await world.sources.get_fact_sources(Caller(principal="anna"), GetFactSources(fact_uuid=story.fact.uuid))
    with pytest.raises(NotFound):
        await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=UNKNOWN))
    with pytest.raises(ValidationError, match="limit"):
        await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=story.fact.uuid, limit=51))


async def test_an_episode_of_another_group_shows_no_words() -> None:
    """The group of the fact does not open that of an episode: both are checked."""
    world = World()
    hidden = an_episode("Sarah moved.", group_id="0123456789abcdef0123456789abcdef_secret")
    fact = a_fact(SARAH, BERLIN, episodes=(hidden.uuid,))
    await world.given(a_write(SARAH, BERLIN, fact), a_write(hidden))
    answer = await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=fact.uuid))
    assert (answer.sources, answer.total) == ([], 0)
    assert answer.message.startswith("No episode supports this fact")


async def test_a_cursor_belongs_to_its_fact_and_mode() -> None:
    story = await Story(World()).given()
    cursor = (await story.ask(limit=1)).next_cursor
    with pytest.raises(InvalidCursor):
        await story.ask("episode", limit=1, cursor=cursor)


async def test_a_fact_of_the_other_group_keeps_its_own_scope() -> None:
    world = World()
    one, two = an_entity("A", group_id=OTHER_GROUP), an_entity("B", group_id=OTHER_GROUP)
    episode = an_episode("A knows B.", group_id=OTHER_GROUP)
    fact: Fact = a_fact(one, two, episodes=(episode.uuid,))
    await world.given(a_write(one, two, episode, fact, *passages(episode)), a_write(an_entity(group_id=GROUP)))
    answer = await world.sources.get_fact_sources(world.caller, GetFactSources(fact_uuid=fact.uuid))
    assert answer.scope.group_ids == [OTHER_GROUP]
    assert [source.text for source in answer.sources] == ["A knows B."]


async def test_an_end_that_a_later_note_moved_is_told_with_that_note_and_the_former_end() -> None:
    story = await Story(World(), text="Sarah lives in Berlin until 30 April", invalid_at=at(2026, 8)).given()
    assert (await story.ask()).scope.note is None
    before = story.fact.model_copy(update={"invalid_at": at(2026, 5)})
    said = {"episode_uuid": story.new.uuid, "invalid_at": at(2026, 8)}
    moved = change_of("change", before, "retired", at(2026, 2), **said)
    await story.world.given(a_write().model_copy(update={"changes": (moved,)}))
    assert (await story.ask()).scope.note == (
        f"The fact was told as until 2026-05-01; episode {story.new.uuid} moved the end, "
        "and the sentence of the fact is the older one."
    )


async def corrected_story(world: World) -> tuple[Story, Fact]:
    """Sarah moved to Bonn, as another note says; the older words stay behind the corrected version."""
    story = await Story(world).given()
    note = an_episode("No, Sarah moved to Bonn.", name="July", valid_at=at(2025, 7))
    bonn = an_entity("Bonn")
    right = a_fact(SARAH, bonn, "MOVED_TO", text="Sarah moved to Bonn", episodes=(note.uuid,))
    void = change_of("change", story.fact, "voided", at(2025, 7), replaced_by=right.uuid, episode_uuid=note.uuid)
    wrong = update_of(story.fact.model_copy(update={"voided": True, "expired_at": at(2025, 7)}), story.fact)
    write = a_write(bonn, note, right, *passages(note))
    await world.given(write.model_copy(update={"fact_updates": (wrong,), "changes": (void,)}))
    story.fact = right
    return story, right


async def test_a_correction_shows_the_words_of_the_corrected_version_after_its_own() -> None:
    story, _ = await corrected_story(World())
    answer = await story.ask()
    assert [(one.text, one.valid_at and one.valid_at[:7]) for one in answer.sources] == [
        ("No, Sarah moved to Bonn.", "2025-07"),
        (QUOTE, "2025-05"),
        ("Sarah moved to Berlin, he said.", "2025-06"),
    ]
    earlier = [one.corrected_version for one in answer.sources]
    assert earlier[0] is None
    assert all(said is not None and said.startswith("Sarah moved to Berlin (") for said in earlier[1:])
    assert [one.corrected for one in answer.sources] == [None, True, True]
    assert (answer.total, answer.truncated) == (3, False)


async def test_the_words_of_all_versions_come_page_by_page() -> None:
    story, _ = await corrected_story(World())
    whole = [one.text for one in (await story.ask()).sources]
    texts, cursor = [], None
    while True:
        page = await story.ask(limit=1, cursor=cursor)
        texts += [one.text for one in page.sources]
        assert page.total == 3
        cursor = page.next_cursor
        if cursor is None:
            break
    assert texts == whole
