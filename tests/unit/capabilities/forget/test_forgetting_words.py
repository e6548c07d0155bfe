"""Words of forgotten sentences that no text tells any more: what was made of those goes, what others tell stays."""

import pytest
from tests.builders import a_change, a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import UNKNOWN, World

from graphiti_pkm.capabilities.forget.check import NOTHING_FOUND
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode, Forget
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Entity, Episode, Record, Saga, WriteKind

HIDDEN = "Zephyrin4711"
WHO = "Wilhelmina Ostrander"
BODY = f"{WHO} whispered {HIDDEN} to Tobias. Later Tobias slept well."
NOTHING = [NOTHING_FOUND]
GONE = "Its words are gone from the database's and the journal's files."
CALL = "forget with query='zephyrin4711' takes it out"


class Notes(World):
    """A note in which Wilhelmina whispers something to Tobias; ``told`` are further records of it."""

    def __init__(self) -> None:
        super().__init__(default_group="t1")
        self.her, self.tobias = an_entity(WHO), an_entity("Tobias")
        self.days = 0
        self.episode = an_episode("")

    async def begin(self, *told: Record, body: str = BODY, **fields: object) -> Episode:
        known = (self.her, self.tobias)
        self.episode = await self.note(body, *known, *map(a_name, known), *told, mentions=known, **fields)
        return self.episode

    async def note(self, text: str, *records: Record, mentions: tuple[Entity, ...] = (), **fields: object) -> Episode:
        self.days += 1
        name = fields.pop("name", f"Note {self.days}")
        episode = an_episode(text, valid_at=at(2025, 3, self.days % 28 + 1), name=name, **fields)
        passages = [
            a_passage(episode, span.start, span.end, paragraph=span.paragraph, sentence=span.sentence)
            for span in split_passages(text)
        ]
        told = [
            one.model_copy(update={"episodes": (episode.uuid,)}) if getattr(one, "episodes", None) == ("here",) else one
            for one in records
        ]
        await self.keep(episode, *passages, *told, *(a_mention(episode, one) for one in mentions))
        return episode

    async def keep(self, *records: Record, **fields: object) -> None:
        write = a_write(*records, kind=WriteKind.ADD_MEMORY, **fields)
        await self.journal.append(write, {}, "hash", {"message": "Stored."})
        await self.given(write)
        await self.journal.written(write.uuid)

    async def preview(self, **target: object) -> ForgetResponse:
        return await self.forgetting.forget(self.caller, Forget(**target or {"entity_uuid": self.her.uuid}))  # type: ignore[arg-type]

    async def forget(self, **target: object) -> ForgetResponse:
        target = target or {"entity_uuid": self.her.uuid}
        preview = await self.preview(**target)
        assert preview.status == "preview", preview
        return await self.preview(**target, confirm=preview.confirm)

    @property
    def everything(self) -> str:
        """All that graph and journal hold."""
        return str(self.graph.tables) + str(self.journal.table) + str(self.journal.jobs)

    def heard(self, **fields: object) -> Record:
        """A fact without quote of the note that is written with it."""
        return a_fact(self.tobias, self.tobias, "HEARD", **{"episodes": ("here",), **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"text": f"Tobias heard: {HIDDEN}", "value": HIDDEN},
        {"text": "Tobias heard something", "value": HIDDEN},
        {"text": "Tobias heard something", "measure": HIDDEN},
        {"text": "Tobias heard something", "attributes": {"what": HIDDEN}},
        {"text": f"{HIDDEN} is known to Tobias"},
        {"text": "Tobias was whispered to"},
    ],
)
async def test_a_fact_without_quote_goes_with_the_words_that_told_it(fields: dict[str, object]) -> None:
    notes = Notes()
    await notes.begin(notes.heard(**fields))
    done = await notes.forget()
    assert notes.graph.tables.facts == {}
    assert HIDDEN not in notes.everything
    assert done.message.startswith(f"Forgotten. {GONE}")
    assert done.found_afterwards == NOTHING


@pytest.mark.parametrize("text", ["Tobias slept well", "Tobias sleeps", "Tobias slept well and whispered"])
async def test_a_fact_of_the_words_that_are_still_told_stays(text: str) -> None:
    notes = Notes()
    fact = notes.heard(text=text)
    await notes.begin(fact)
    done = await notes.forget()
    assert [one.text for one in notes.graph.tables.facts.values()] == [text]
    is_doubtful = "whispered" in text
    assert bool(done.ask_user) == is_doubtful


async def test_a_fact_that_another_note_tells_too_stays_and_is_asked_about() -> None:
    notes = Notes()
    await notes.begin()
    other = await notes.note("He heard it again.")
    fact = a_fact(
        notes.tobias, notes.tobias, text=f"Tobias heard {HIDDEN}", episodes=(notes.episode.uuid, other.uuid)
    )  # fmt: skip
    await notes.keep(fact)
    done = await notes.forget()
    assert fact.uuid in notes.graph.tables.facts
    assert done.ask_user == [f"[{fact.uuid[:8]}] Tobias heard {HIDDEN}"]
    assert GONE not in done.message
    assert done.found_afterwards is not None
    assert f"fact {fact.uuid[:8]} still contains a word that no other text contains: {CALL}" in done.found_afterwards


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        (f"Knows {HIDDEN}.", ""),
        (f"A gardener. Knows {HIDDEN}. Sleeps well.", "A gardener. Sleeps well."),
        ("A gardener. Was whispered to.", "A gardener."),
        ("Slept well once.", "Slept well once."),
        ("A gardener.", "A gardener."),
    ],
)
async def test_a_summary_loses_what_the_words_told(summary: str, left: str) -> None:
    notes = Notes()
    notes.tobias = notes.tobias.model_copy(update={"summary": summary, "attributes": {"age": 7, "knows": HIDDEN}})
    await notes.begin()
    done = await notes.forget()
    tobias = notes.graph.tables.entities[notes.tobias.uuid]
    assert (tobias.summary, tobias.attributes) == (left, {"age": 7})
    assert HIDDEN not in notes.everything
    assert done.found_afterwards == NOTHING


async def test_words_that_another_note_tells_take_nothing_with_them() -> None:
    notes = Notes()
    notes.tobias = notes.tobias.model_copy(update={"summary": f"Knows {HIDDEN}."})
    fact = notes.heard(text=f"Tobias heard {HIDDEN}", value=HIDDEN)
    await notes.begin(fact, body=f"{WHO} whispered. Tobias wrote {HIDDEN} down.")
    await notes.note(f"{HIDDEN} lies in the drawer.")
    await notes.forget()
    assert HIDDEN in notes.graph.tables.entities[notes.tobias.uuid].summary
    assert len(notes.graph.tables.facts) == 1


async def test_words_that_only_the_graph_tells_count_as_told() -> None:
    notes = Notes()
    notes.tobias = notes.tobias.model_copy(update={"summary": f"Knows {HIDDEN}."})
    await notes.begin()
    await notes.given(a_write(an_episode(f"{HIDDEN} lies in the drawer.", group_id=notes.her.group_id)))
    await notes.forget()
    assert HIDDEN in notes.graph.tables.entities[notes.tobias.uuid].summary


async def test_an_older_summary_of_an_entity_that_the_notes_do_not_mention_leaves_the_journal() -> None:
    notes = Notes()
    await notes.begin()
    ingrid = an_entity("Ingrid", summary=f"{WHO} told her {HIDDEN}.")
    await notes.note("A visit.", ingrid, a_name(ingrid), mentions=(ingrid,))
    await notes.note("Ingrid is fine.", ingrid.model_copy(update={"summary": "A gardener."}), mentions=(ingrid,))
    preview = await notes.preview()
    assert preview.removed["journal"] == 1
    await notes.forget()
    assert HIDDEN not in notes.everything
    assert notes.graph.tables.entities[ingrid.uuid].summary == "A gardener."


async def test_names_of_others_titles_descriptions_reasons_and_instructions_go_too() -> None:
    notes = Notes()
    await notes.begin()
    ingrid = an_entity("Ingrid")
    alias = a_name(ingrid, f"keeper of {HIDDEN}", is_alias=True)
    visit = await notes.note(
        "It rained.", ingrid, a_name(ingrid), alias, a_name(ingrid, "Inge", is_alias=True), mentions=(ingrid,)
    )
    call = await notes.note("It snowed.", name=f"Call with {WHO} on {HIDDEN}", source_description=f"call of {WHO}")
    fact = a_fact(ingrid, ingrid, text="Ingrid rests", episodes=(visit.uuid,))
    reason = a_change(fact, visit, reason=f"as {HIDDEN} shows")
    await notes.keep(fact, reason)
    asked = an_episode("It thawed.")
    job = ExtractJob(uuid="job", episode_uuid=asked.uuid, instructions=f"mind {HIDDEN}")
    await notes.keep(asked, extractions=(job,), steering={"mind": HIDDEN})
    preview = await notes.preview()
    assert preview.removed["aliases"] == 1
    assert preview.summaries == [f"Ingrid, also called keeper of {HIDDEN}"]
    await notes.forget()
    tables = notes.graph.tables
    assert HIDDEN not in notes.everything
    assert WHO not in notes.everything
    assert (tables.episodes[call.uuid].name, tables.episodes[call.uuid].content) == ("[forgotten]", "It snowed.")
    assert (await notes.graph.records.aliases([ingrid.uuid], 5))[ingrid.uuid] == ["Inge"]
    assert tables.changes[reason.uuid].reason == "[forgotten]"
    assert fact.uuid in tables.facts


async def test_a_name_that_no_alias_may_take_is_asked_about() -> None:
    notes = Notes()
    await notes.begin()
    safe = an_entity(f"Safe of {WHO}")
    note = await notes.note("Opened it again.", safe, a_name(safe), mentions=(safe,))
    fact = a_fact(safe, safe, "IS", text="It is open", episodes=(note.uuid,))
    await notes.keep(fact)
    done = await notes.forget()
    assert f"name of Safe of {WHO}" in (done.ask_user or [])
    assert safe.uuid in notes.graph.tables.entities
    assert GONE not in done.message


async def test_a_stored_answer_that_repeats_it_goes_alone() -> None:
    notes = Notes()
    await notes.begin()
    other = an_episode("It rained.")
    write = a_write(other, kind=WriteKind.ADD_MEMORY)
    await notes.journal.append(write, {}, "hash", {"message": f"Stored beside {HIDDEN}."})
    await notes.given(write)
    await notes.journal.written(write.uuid)
    await notes.forget()
    assert await notes.journal.stored_answer(other.uuid) == ("", {})
    assert HIDDEN not in notes.everything


@pytest.mark.parametrize("left", ["summary", "alias", "title", "description", "reason", "deleted", "name", "measure"])
async def test_words_are_forgotten_where_no_sentence_says_them(left: str) -> None:
    notes = Notes()
    ingrid = an_entity("Ingrid", summary=f"Hides {HIDDEN}." if left == "summary" else "")
    thing = an_entity(HIDDEN if left in {"name", "measure"} else "Thing")
    texts = {"title": {"name": f"On {HIDDEN}"}, "description": {"source_description": f"mail on {HIDDEN}"}}
    await notes.begin(body="Tobias came.")
    visit = await notes.note(
        "She hid it.",
        ingrid,
        thing,
        a_name(ingrid),
        a_name(thing),
        *([a_name(ingrid, HIDDEN, is_alias=True)] if left == "alias" else []),
        mentions=(ingrid, thing),
        **texts.get(left, {}),
    )
    fact = a_fact(
        ingrid,
        thing,
        text=f"Ingrid hides {HIDDEN}" if left in {"deleted", "measure"} else "Ingrid hides it",
        episodes=(visit.uuid,),
    )
    await notes.keep(fact)
    if left == "reason":
        await notes.keep(a_change(fact, visit, reason=f"she said {HIDDEN}"))
    if left == "summary":
        await notes.keep(ingrid.model_copy(update={"summary": "A gardener."}))
    if left == "deleted":
        await notes.deleting.delete_entity_edge(notes.caller, DeleteEntityEdge(uuid=fact.uuid))
    done = await notes.forget(query=HIDDEN)
    assert HIDDEN not in notes.everything
    assert notes.graph.tables.episodes[visit.uuid].content == "She hid it."
    assert (thing.uuid in notes.graph.tables.entities) == (left not in {"name", "measure"})
    assert (fact.uuid in notes.graph.tables.facts) == (left not in {"name", "measure", "deleted"})
    assert done.found_afterwards == NOTHING
    assert (await notes.preview(query=HIDDEN)).status == "nothing"


@pytest.mark.parametrize("way", ["delete_episode", "redact", "delete"])
async def test_what_only_a_whole_note_gave_goes_with_it(way: str) -> None:
    notes = Notes()
    tobias = notes.tobias.model_copy(update={"summary": f"Owes money to {HIDDEN}."})
    names = [a_name(tobias, text, is_alias=True) for text in (f"{HIDDEN} man", "Tobby", "Tobs")]
    gone = await notes.note("Tobias came by.", tobias, a_name(tobias), *names, mentions=(tobias,))
    later = await notes.note(
        "Tobias is fine, that Tobs.",
        tobias.model_copy(update={"summary": "A gardener."}),
        a_name(tobias),
        mentions=(tobias,),
    )
    reason = a_change(a_fact(tobias, tobias), later, reason="As Tobias came by.")
    await notes.keep(reason)
    if way == "delete_episode":
        answer = await notes.deleting.delete_episode(notes.caller, DeleteEpisode(uuid=gone.uuid))
        assert "its summary and aliases stay" in answer.kept_because[0]
    else:
        await notes.forget(episode_uuid=gone.uuid, episodes=way)
    assert HIDDEN not in notes.everything
    assert "Tobby" not in notes.everything
    assert (await notes.graph.records.aliases([tobias.uuid], 5))[tobias.uuid] == ["Tobs"]
    assert notes.graph.tables.entities[tobias.uuid].summary == "A gardener."
    assert "Tobias" in {name.text for name in notes.graph.tables.names.values()}


ORDINARY = (
    "walked to the market",
    "baked bread with rye",
    "read a long book",
    "painted the kitchen green",
    "fixed the old bicycle",
    "planted apple trees",
    "cooked soup for four",
    "slept badly again",
    "called the doctor twice",
    "cleaned every window",
)
PEOPLE = ("Tobias", "Ingrid", "Marek", "Leonie", "Casimir")


async def test_fifty_ordinary_notes_lose_no_other_word() -> None:
    notes = Notes()
    people = {name: an_entity(name, summary=f"{name} likes the market. Reads a book.") for name in PEOPLE}
    await notes.keep(notes.her, a_name(notes.her), *people.values(), *map(a_name, people.values()))
    kept = {}
    for number in range(50):
        one = people[PEOPLE[number % 5]]
        did = ORDINARY[number % 10]
        told = f"{one.name} {did} in week {number + 10}."
        said = f"{WHO} walked along and told {one.name} of {HIDDEN} and a long market book."
        facts = [
            a_fact(one, one, "DID", text=f"{one.name} {did}", value=did, episodes=("here",)),
            a_fact(one, notes.her, "MET", text=f"{one.name} met {WHO}", episodes=("here",)),
        ]
        body = f"{told} {said}" if number % 2 else told
        episode = await notes.note(
            body, *facts[: 1 + number % 2], mentions=(one, notes.her) if number % 2 else (one,), name=f"Week {number}"
        )
        kept[episode.uuid] = f"{told} [forgotten]" if number % 2 else told
    done = await notes.forget()
    tables = notes.graph.tables
    assert {uuid: episode.content for uuid, episode in tables.episodes.items()} == kept
    assert {episode.name for episode in tables.episodes.values()} == {f"Week {number}" for number in range(50)}
    assert sorted(fact.relation for fact in tables.facts.values()) == ["DID"] * 50
    assert {one.summary for one in tables.entities.values()} == {one.summary for one in people.values()}
    assert done.removed == {"sentences": 25, "facts": 25, "entities": 1, "mentions": 25}
    assert done.found_afterwards == NOTHING
    assert HIDDEN not in notes.everything


async def test_a_claim_in_the_same_words_in_another_note_goes_too() -> None:
    notes = Notes()
    claim = f"Tobias earns {HIDDEN} euros."
    fact = notes.heard(text=f"Tobias earns: {HIDDEN} euros", value=f"{HIDDEN} euros", quote=claim)
    await notes.begin(fact, body=f"{claim} It snowed.")
    again = await notes.note(f"Again: {claim} It rains.")
    other = await notes.note("Tobias earns praise. Euros are round.")
    (told,) = notes.graph.tables.facts
    preview = await notes.preview(fact_uuid=told)
    assert len(preview.sentences or []) == 2
    done = await notes.forget(fact_uuid=told)
    assert notes.graph.tables.episodes[again.uuid].content == "[forgotten] It rains."
    assert notes.graph.tables.episodes[other.uuid].content == "Tobias earns praise. Euros are round."
    assert HIDDEN not in notes.everything
    assert done.found_afterwards == NOTHING


async def test_the_rest_of_what_a_forgotten_person_said_is_asked_about() -> None:
    notes = Notes()
    body = f"{WHO}: Hello there. The code is {HIDDEN}.\nme: Thanks. All well."
    await notes.begin(body=body, source="message")
    preview = await notes.preview()
    assert [line.split("] ")[1] for line in preview.ask_user or []] == [f"The code is {HIDDEN}."]
    plain = Notes()
    await plain.begin(body=body)
    assert (await plain.preview()).ask_user is None


@pytest.mark.parametrize("is_quoted", [True, False])
async def test_the_sentence_that_told_a_fact_is_asked_about_if_it_does_not_name_her(is_quoted: bool) -> None:
    notes = Notes()
    await notes.begin(body=f"{WHO} came.")
    said = f"wilhelmina told me {HIDDEN}."
    quote = {"quote": said, "quote_start": 0, "quote_end": len(said)} if is_quoted else {}
    note = await notes.note(f"{said} It rained.", mentions=(notes.her,))
    quote |= {"quote_episode_uuid": note.uuid} if is_quoted else {}
    await notes.keep(a_fact(notes.her, notes.tobias, "TOLD", value=HIDDEN, episodes=(note.uuid,), **quote))
    preview = await notes.preview()
    assert f"[{note.uuid[:8]}] {said}" in (preview.ask_user or [])
    assert not any("It rained" in line for line in preview.ask_user or [])


async def test_a_fact_about_the_user_goes_with_the_words_that_told_it() -> None:
    notes = Notes()
    me = an_entity("me")
    heard = a_fact(me, me, "HEARD", text="me heard it", value=HIDDEN, episodes=("here",))
    slept = a_fact(me, me, "SLEPT", text="me slept well", episodes=("here",))
    body = f"{WHO} whispered {HIDDEN} to me. Later I slept well."
    await notes.begin(me, a_name(me, is_linkable=False), heard, slept, body=body)
    await notes.forget()
    assert [fact.relation for fact in notes.graph.tables.facts.values()] == ["SLEPT"]
    assert HIDDEN not in notes.everything


async def test_texts_that_are_kept_are_not_said_to_be_gone() -> None:
    notes = Notes()
    await notes.begin()
    target = {"entity_uuid": notes.her.uuid, "episodes": "keep"}
    done = await notes.forget(**target)
    assert GONE not in done.message
    assert "found_afterwards" in done.message


async def test_what_a_saga_holds_that_stays_is_told_afterwards() -> None:
    notes = Notes()
    await notes.begin()
    saga = Saga(uuid=UNKNOWN, group_id="t1", name=f"About {HIDDEN}", created_at=at(2025))
    await notes.keep(saga)
    done = await notes.forget()
    assert done.found_afterwards == [f"saga {UNKNOWN[:8]} still contains a word that no other text contains: {CALL}"]
    assert GONE not in done.message


@pytest.mark.parametrize(
    ("summary", "left"),
    [
        ("Born in Lisbon.", "Born in Lisbon."),
        ("Founded in 2019.", "Founded in 2019."),
        ("Weighs 100 kg.", "Weighs 100 kg."),
        ("Sings. Met her with Quolltext in Lisbon.", "Sings."),
        ("Sings. Knows the code 471147.", "Sings."),
    ],
)
async def test_one_word_in_the_summary_of_something_else_takes_nothing_with_it(summary: str, left: str) -> None:
    notes = Notes()
    casimir = an_entity("Casimir", summary=summary)
    body = f"In 2019 {WHO} went to Lisbon with 100 kg of Quolltext and code 471147. Tobias slept."
    await notes.begin(body=body)
    await notes.note("He was born here, in a place we know, and weighs much.", casimir, mentions=(casimir,))
    done = await notes.forget()
    assert notes.graph.tables.entities[casimir.uuid].summary == left
    asked = [line for line in done.ask_user or [] if "Casimir" in line]
    assert asked == ([f"summary of Casimir: {summary}"] if summary == left else [])


@pytest.mark.parametrize(
    "body", ["Tobias lives in Rome. Tobias lives with {who} in Rome.", "{who} likes Rome. Tobias lives in Rome."]
)
async def test_a_fact_that_the_rest_of_its_note_tells_stays_beside_its_end(body: str) -> None:
    notes = Notes()
    rome = an_entity("Rome", summary="A city.")
    lives = a_fact(notes.tobias, rome, "LIVES_IN", text="Tobias lives in Rome", episodes=("here",))
    await notes.begin(rome, a_name(rome), lives, body=body.format(who=WHO))
    done = await notes.forget()
    assert [fact.text for fact in notes.graph.tables.facts.values()] == ["Tobias lives in Rome"]
    assert notes.graph.tables.entities[rome.uuid].summary == "A city."
    assert done.ask_user is None


async def test_a_deleted_note_of_which_another_holds_a_word_is_not_said_to_be_gone() -> None:
    notes = Notes()
    gone = await notes.begin()
    other = await notes.note("It rained.", source_description=f"mail on {HIDDEN}")
    answer = await notes.deleting.delete_episode(notes.caller, DeleteEpisode(uuid=gone.uuid))
    assert GONE not in answer.message
    assert answer.kept_because == [f"title {other.uuid[:8]} contains a word that only the deleted text contained"]
    clean = Notes()
    answer = await clean.deleting.delete_episode(clean.caller, DeleteEpisode(uuid=(await clean.begin()).uuid))
    assert GONE in answer.message
    assert answer.kept_because == []
