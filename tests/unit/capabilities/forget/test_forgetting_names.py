"""Forgetting a person whom later notes call by a part of the name only."""

import pytest
from tests.builders import a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.forget.check import NOTHING_FOUND
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Entity, Episode, Passage, Record

NOTHING = NOTHING_FOUND


def passages_of(episode: Episode) -> list[Passage]:
    return [
        a_passage(episode, span.start, span.end, paragraph=span.paragraph, sentence=span.sentence)
        for span in split_passages(episode.content)
    ]


class Notes(World):
    """Tobias Wenger, introduced by one note."""

    def __init__(self, label: str | None = "Person") -> None:
        super().__init__(default_group="t1")
        self.tobias, self.henrik = an_entity("Tobias Wenger", label=label), an_entity("Henrik", label="Person")
        self.told = 0

    async def begin(self, *others: Entity) -> Episode:
        """The note that introduces them."""
        known = (self.tobias, self.henrik, *others)
        write = [*known, *map(a_name, known)]
        return await self.note(
            "Tobias Wenger joined the ward with Henrik.", *write, mentions=(self.tobias, self.henrik)
        )

    async def note(self, text: str, *records: Record, mentions: tuple[Entity, ...] = (), **fields: object) -> Episode:
        self.told += 1
        episode = an_episode(text, **{"valid_at": at(2025, 3, self.told), "name": f"Note {self.told}", **fields})
        write = a_write(episode, *passages_of(episode), *records, *(a_mention(episode, one) for one in mentions))
        await self.journal.append(write, {}, "hash", {})
        await self.given(write)
        await self.journal.written(write.uuid)
        return episode

    async def preview(self, entity: Entity | None = None, **more: object) -> ForgetResponse:
        uuid = (entity or self.tobias).uuid
        return await self.forgetting.forget(self.caller, Forget(entity_uuid=uuid, **more))  # type: ignore[arg-type]

    async def forget(self) -> ForgetResponse:
        preview = await self.preview()
        return await self.preview(confirm=preview.confirm)

    def content(self, episode: Episode) -> str:
        return self.graph.tables.episodes[episode.uuid].content


async def test_sentences_with_the_first_name_or_the_last_alone_are_shown_and_go() -> None:
    notes = Notes()
    first = await notes.begin()
    later = [
        await notes.note(text) for text in ("Tobias was late. Henrik cooked.", "I saw WENGER's car.", "A quiet day.")
    ]
    preview = await notes.preview()
    assert [line.split("] ")[1] for line in preview.sentences or []] == [
        "Tobias Wenger joined the ward with Henrik.",
        "Tobias was late.",
        "I saw WENGER's car.",
    ]
    assert preview.ask_user is None
    done = await notes.forget()
    assert [notes.content(one) for one in (first, *later)] == [
        "[forgotten]",
        "[forgotten] Henrik cooked.",
        "[forgotten]",
        "A quiet day.",
    ]
    assert done.found_afterwards == [NOTHING]
    assert not {"Tobias", "WENGER"} & set(str(notes.journal.table).replace("'", " ").split())


async def test_a_name_shared_with_others_is_asked_about_and_found_afterwards() -> None:
    notes = Notes()
    keller = an_entity("Tobias Keller")
    await notes.begin(keller)
    asked = await notes.note("Tobias was late. Henrik cooked.")
    other = await notes.note("Tobias Keller sang.")
    gone = await notes.note("Wenger slept.")
    preview = await notes.preview()
    assert preview.ask_user == [f"[{asked.uuid[:8]}] Tobias was late."]
    done = await notes.forget()
    assert notes.content(asked) == "Tobias was late. Henrik cooked."
    assert notes.content(other) == "Tobias Keller sang."
    assert notes.content(gone) == "[forgotten]"
    call = f"forget with episode_uuid={asked.uuid[:8]} takes out the whole episode"
    assert done.found_afterwards == [f"episode {asked.uuid[:8]} {asked.name}: may still speak of it: {call}"]


async def test_facts_summaries_and_attributes_with_a_part_of_the_name_go() -> None:
    notes = Notes()
    rota = an_entity("Night rota", summary="Once held by Tobias. Now by Henrik.", attributes={"before": "Wenger"})
    await notes.begin()
    note = await notes.note("Handed over, as Tobias said.", rota, a_name(rota), mentions=(rota,))
    took = a_fact(notes.henrik, rota, "TOOK", text="Henrik took the night rota from Tobias", episodes=(note.uuid,))
    told = await notes.note("Henrik again.", took)
    both = (note.uuid, told.uuid)
    await notes.note(
        "Again.", a_fact(notes.henrik, rota, "HOLDS", text="Henrik holds it", quote="as Tobias said", episodes=both)
    )
    preview = await notes.preview()
    assert any("from Tobias" in fact for fact in preview.facts or [])
    assert (await notes.forget()).found_afterwards == [NOTHING]
    tables = notes.graph.tables
    assert [(fact.text, fact.quote) for fact in tables.facts.values()] == [("Henrik holds it", None)]
    assert (tables.entities[rota.uuid].summary, tables.entities[rota.uuid].attributes) == ("Now by Henrik.", {})
    assert "Tobias" not in str(tables)


@pytest.mark.parametrize("text", ["a tobias apple", "We may go to Atobias.", "In April we met.", "Of course."])
async def test_other_words_are_no_part_of_a_name(text: str) -> None:
    notes = Notes()
    notes.tobias = an_entity("Tobias of April Wenger", label="Person")
    await notes.begin()
    other = await notes.note(text)
    assert all(other.uuid[:8] not in line for line in (await notes.preview()).sentences or [])


async def test_a_word_in_the_name_of_a_thing_is_asked_about() -> None:
    notes = Notes(label="Cafe")
    await notes.begin()
    note = await notes.note("Tobias was full.")
    preview = await notes.preview()
    assert len(preview.sentences or []) == 1
    assert preview.ask_user == [f"[{note.uuid[:8]}] Tobias was full."]


async def test_an_alias_of_another_that_no_text_tells_goes_and_one_that_a_text_tells_is_told_afterwards() -> None:
    for text, left in (("Bread.", [NOTHING]), ("Bread of Tobias Wenger Bakery.", None)):
        notes = Notes()
        bakery = an_entity("Corner shop")
        await notes.begin(bakery)
        await notes.note(text, a_name(bakery, "Tobias Wenger Bakery"), mentions=(bakery,))
        preview = await notes.preview()
        is_explicit = left is None
        assert (preview.summaries is None) == is_explicit
        done = await notes.forget()
        if is_explicit:
            places = "1 episode and 1 name hold 'Tobias Wenger', which may be meant"
            assert done.found_afterwards == [f"{places}: forget with query='Tobias Wenger' takes it out"]
        else:
            assert preview.summaries == ["Corner shop, also called Tobias Wenger Bakery"]
            assert done.found_afterwards == left
            assert "Bakery" not in str(notes.journal.table) + str(notes.graph.tables)


async def test_how_many_more_there_are_to_ask_about_is_said() -> None:
    notes = Notes()
    await notes.begin(an_entity("Tobias Keller"))
    for _ in range(25):
        await notes.note("Tobias was late.")
    asked = (await notes.preview()).ask_user or []
    assert len(asked) == 20
    assert asked[-1] == "and 6 more"


async def test_texts_that_are_kept_are_told_afterwards() -> None:
    notes = Notes()
    await notes.begin()
    kept = await notes.note("Tobias was late.")
    preview = await notes.preview(episodes="keep")
    done = await notes.preview(episodes="keep", confirm=preview.confirm)
    call = f"forget with episode_uuid={kept.uuid[:8]} takes out the whole episode"
    assert f"episode {kept.uuid[:8]} {kept.name}: still says it: {call}" in (done.found_afterwards or [])


async def test_a_name_that_only_graphiti_knows_is_shared_as_well() -> None:
    notes = Notes()
    await notes.begin()
    asked = await notes.note("Tobias was late.", an_entity("Tobias Keller"))
    preview = await notes.preview()
    assert len(preview.sentences or []) == 1
    assert preview.ask_user == [f"[{asked.uuid[:8]}] Tobias was late."]


@pytest.mark.parametrize("mode", ["redact", "delete"])
async def test_a_title_alone_goes_too(mode: str) -> None:
    notes = Notes()
    first = await notes.begin()
    titled = await notes.note("A cake and a song.", name="Wenger's birthday")
    preview = await notes.preview(episodes=mode)
    shown = "Wenger's birthday" if mode == "redact" else "A cake and a song."
    assert (preview.sentences or [])[-1] == f"2025-03-02 [{titled.uuid[:8]}] {shown}"
    done = await notes.preview(episodes=mode, confirm=preview.confirm)
    assert done.found_afterwards == [NOTHING]
    if mode == "delete":
        assert {first.uuid, titled.uuid}.isdisjoint(notes.graph.tables.episodes)
    else:
        left = notes.graph.tables.episodes[titled.uuid]
        assert (left.name, left.content) == ("[forgotten]", "A cake and a song.")
        assert preview.removed["titles"] == 1
    assert "Wenger" not in str(notes.journal.table)
