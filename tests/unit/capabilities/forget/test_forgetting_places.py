"""A forgotten name in other places than sentences, and in other forms: it goes, or is reported if it may be meant."""

import json

import pytest
from tests.builders import a_change, a_fact, a_name, a_write, an_entity, an_episode, at
from tests.unit.capabilities.forget.test_forgetting_forms import ParsedRequest
from tests.unit.capabilities.forget.test_forgetting_names import NOTHING, Notes
from tests.worlds.reading_world import UNKNOWN

from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.core.model.records import Deletions, WriteKind
from graphiti_pkm.core.model.saga_records import Community, Saga
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent


class Placed(Notes):
    """Somebody introduced by one note, and a spoon and a cup that later notes tell of."""

    def __init__(self, name: str = "Bertrada", label: str | None = "Person") -> None:
        super().__init__()
        self.person = an_entity(name, label=label)
        self.cup = an_entity("Cup")

    async def introduced(self) -> None:
        await self.note(f"{self.person.name} joined.", self.person, a_name(self.person), mentions=(self.person,))

    async def spoon(self, label: str | None) -> str:
        """An entity of this type; its uuid."""
        spoon = an_entity("Spoon", label=label)
        await self.note("A spoon lay there.", spoon, a_name(spoon), mentions=(spoon,))
        return spoon.uuid

    async def related(self, relation: str, **fields: object) -> str:
        """A fact of others with this relation; its uuid."""
        fact = a_fact(self.henrik, self.cup, relation, text="Henrik asked her", **fields)
        await self.note("Henrik asked her.", self.henrik, self.cup, a_name(self.henrik), a_name(self.cup), fact)
        return fact.uuid

    async def forgotten(self, **what: str) -> ForgetResponse:
        """By its uuid, or by what is asked for."""
        asked = what or {"entity_uuid": self.person.uuid}
        preview = await self.forgetting.forget(self.caller, Forget(**asked))  # type: ignore[arg-type]
        return await self.forgetting.forget(self.caller, Forget(confirm=preview.confirm, **asked))  # type: ignore[arg-type]

    @property
    def everything(self) -> str:
        """All that graph and journal hold."""
        return f"{self.graph.tables}{self.journal.table}".casefold()


def says_gone(done: ForgetResponse) -> bool:
    return "Its words are gone" in done.message


@pytest.mark.parametrize(
    ("name", "relation", "left"),
    [
        ("Bertrada", "ASKED_BERTRADA", "ASKED"),
        ("Bertrada", "BERTRADA", "RELATES_TO"),
        ("Bertrada", "SENT_BERTRADA_TO", "SENT_TO"),
        ("Bertrada Stein", "BERTRADA_STEIN_ASKED", "ASKED"),
        ("Bertrada Stein", "ASKED_STEIN", "ASKED"),
        ("Анна", "СПРОСИЛ_АННА", "СПРОСИЛ"),
    ],
)
@pytest.mark.parametrize("by_query", [False, True])
async def test_a_relation_loses_the_name_and_its_fact_stays(
    name: str, relation: str, left: str, *, by_query: bool
) -> None:
    world = Placed(name)
    await world.introduced()
    fact = await world.related(relation)
    asked = {"query": next(word for word in name.split() if word.upper() in relation)} if by_query else {}
    done = await world.forgotten(**asked)
    if by_query and len(name.split()) > 1:
        return
    assert world.graph.tables.facts[fact].relation == left
    assert done.removed["relations"] == 1
    assert done.found_afterwards == [NOTHING]
    assert says_gone(done)
    assert name.split(maxsplit=1)[0].casefold() not in world.everything


async def test_a_relation_that_loses_a_name_is_shown_before() -> None:
    world = Placed()
    await world.introduced()
    await world.related("ASKED_BERTRADA")
    preview = await world.preview(world.person)
    assert preview.stays == ["Henrik asked her - with the relation ASKED instead of ASKED_BERTRADA"]


@pytest.mark.parametrize("relation", ["WILL_VISIT", "MAY_VISIT"])
async def test_an_ordinary_word_of_a_relation_is_no_name_for_sure(relation: str) -> None:
    name = relation.split("_", maxsplit=1)[0].title()
    world = Placed(name)
    await world.introduced()
    fact = await world.related(relation)
    done = await world.forgotten()
    assert world.graph.tables.facts[fact].relation == relation
    call = f"forget with fact_uuid={fact[:8]} takes out the whole fact"
    assert done.found_afterwards == [f"1 relation holds '{relation[: len(name)]}', which may be meant: {call}"], (
        "by these words ordinary sentences would go"
    )


@pytest.mark.parametrize(
    ("name", "label"), [("Cunigund", "CunigundThing"), ("Cunigund", "Cunigund"), ("Cunigund", "OldCunigund")]
)
@pytest.mark.parametrize("by_query", [False, True])
async def test_an_entity_type_with_the_name_goes_and_its_entity_stays(name: str, label: str, *, by_query: bool) -> None:
    world = Placed(name)
    await world.introduced()
    spoon = await world.spoon(label)
    done = await world.forgotten(**({"query": name} if by_query else {}))
    assert world.graph.tables.entities[spoon].label is None
    assert done.removed["types"] == 1
    assert name.casefold() not in world.everything
    assert says_gone(done)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("Hildburg", "We met Hildburg2 there.", "Hildburg2"),
        ("Hildburg", "We met xHildburgx there.", "xHildburgx"),
        ("Hildburg", "We met hild-burg there.", "hild-burg"),
        ("Hildburg", "We met Hild burg there.", "Hild burg"),
        ("Hildburg", "We met HildburgMeier there.", "HildburgMeier"),
        ("Bob", "The account Bob99 is closed.", "Bob99"),
        ("Bob", "The account askedBob is closed.", "askedBob"),
        ("Ünal", "Uenal kam spät.", "Uenal"),
        ("Uenal", "Ünal kam spät.", "Ünal"),
        ("Ünal", "Unal kam spät.", "Unal"),
        ("Søren", "Soeren kam.", "Soeren"),
        ("Søren", "Soren kam.", "Soren"),
        ("Łukasz", "Lukasz przyszedł.", "Lukasz"),
        ("Göker", "Goekers Haus.", "Goekers"),
        ("王小明", "小明走了。", "小明"),
        ("김민수", "민수가 왔다.", "민수"),
        ("山田太郎", "山田さんが来た。", "山田"),
        ("WangXiaoming", "I saw Wang Xiaoming there.", "Wang Xiaoming"),
        ("WangXiaoming", "I saw Xiaoming Wang there.", "Xiaoming Wang"),
        ("Wang Xiaoming", "I saw XiaomingWang there.", "XiaomingWang"),
        ("wang xiaoming", "I saw Xiaoming, Wang there.", "Xiaoming, Wang"),
    ],
)
async def test_what_may_be_the_name_stays_and_the_call_for_it_takes_it_out(name: str, text: str, word: str) -> None:
    told = ParsedRequest(name)
    if " " in name or name == "WangXiaoming":
        told.person = told.person.model_copy(update={"label": "Cafe"})
    done, (left,) = await told.forgotten(text)
    assert left == text, "nothing goes on a guess"
    assert any(text in hint for hint in done.ask_user or []), done.ask_user
    assert not says_gone(done)
    assert done.found_afterwards == [
        f"1 episode holds {word!r}, which may be meant: forget with query={word!r} takes it out"
    ]
    preview = await told.forgetting.forget(told.caller, Forget(query=word))
    assert preview.removed["sentences"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Michael", "Michal came."),
        ("Anna", "Annapolis and Hannah."),
        ("Bob", "Bobsled races."),
        ("R2D2", "R2D20 is another."),
        ("Wang Xiaoming", "A wangle, an axiom."),
        ("王小明", "小王和明天。"),
    ],
)
async def test_other_words_are_not_reported(name: str, text: str) -> None:
    done, (left,) = await ParsedRequest(name).forgotten(text)
    assert left == text
    assert done.found_afterwards == [NOTHING]
    assert says_gone(done)


@pytest.mark.parametrize(
    ("relation", "label", "kind", "word"),
    [
        ("ASKED_HILDBURG2", None, "relation", "HILDBURG2"),
        ("ASKED_HILDBURGS", None, "relation", "HILDBURGS"),
        ("ASKED", "Hildburg2Thing", "type", "Hildburg2Thing"),
    ],
)
async def test_what_may_be_the_name_in_a_relation_or_type_is_reported_with_its_count(
    relation: str, label: str | None, kind: str, word: str
) -> None:
    world = Placed("Hildburg")
    await world.introduced()
    for _ in range(3):
        fact, spoon = await world.related(relation), await world.spoon(label)
    done = await world.forgotten()
    assert world.graph.tables.facts[fact].relation == relation
    assert world.graph.tables.entities[spoon].label == label
    assert not says_gone(done)
    assert done.found_afterwards == [
        f"3 {kind}s hold {word!r}, which may be meant: forget with query={word!r} takes it out"
    ]
    again = await world.forgotten(query=word)
    assert again.removed == {f"{kind}s": 3}
    assert "hildburg" not in world.everything


async def test_a_measure_and_a_unit_with_the_name_take_their_fact() -> None:
    world = Placed()
    await world.introduced()
    measured = await world.related("HAS", measure="Bertrada's weight", value="70", kind="reading")
    unit = await world.related("HAS", value="3", unit="Bertrada")
    done = await world.forgotten()
    assert {measured, unit}.isdisjoint(world.graph.tables.facts)
    assert done.found_afterwards == [NOTHING]


async def test_what_may_be_the_name_in_a_measure_is_reported_and_the_call_takes_it_out() -> None:
    world = Placed()
    await world.introduced()
    fact = await world.related("HAS", measure="Bertrada2 weight", value="70")
    done = await world.forgotten()
    assert fact in world.graph.tables.facts
    assert done.found_afterwards == [
        "1 fact holds 'Bertrada2', which may be meant: forget with query='Bertrada2' takes it out"
    ]
    await world.forgotten(query="Bertrada2")
    assert "bertrada" not in world.everything


async def test_an_alias_that_may_be_the_name_is_reported_and_the_call_takes_it_out() -> None:
    world = Placed()
    await world.introduced()
    await world.note("A cup.", world.cup, a_name(world.cup), a_name(world.cup, "Bertradacup"), mentions=(world.cup,))
    done = await world.forgotten()
    assert "1 name holds 'Bertradacup', which may be meant: forget with query='Bertradacup' takes it out" in (
        done.found_afterwards or []
    )
    await world.forgotten(query="Bertradacup")
    assert "bertrada" not in world.everything


async def test_another_entity_of_which_the_name_may_be_it_is_reported_and_the_call_takes_it() -> None:
    world = Placed()
    await world.introduced()
    hall = an_entity("Bertradahalle")
    fact = a_fact(hall, world.cup, "HOLDS", text="It holds the cup")
    await world.note("It is large.", hall, world.cup, a_name(hall), a_name(world.cup), fact, mentions=(hall, world.cup))
    done = await world.forgotten()
    assert done.found_afterwards == [
        "1 name holds 'Bertradahalle', which may be meant: forget with query='Bertradahalle' takes it out"
    ]
    await world.forgotten(query="Bertradahalle")
    assert hall.uuid not in world.graph.tables.entities
    assert "bertrada" not in world.everything


async def test_a_query_that_finds_only_what_may_be_it_does_not_say_that_there_is_nothing() -> None:
    world = Placed()
    await world.note("We met Bertrada2 there.", valid_at=at(2025))
    asked = await world.forgetting.forget(world.caller, Forget(query="Bertrada"))
    assert asked.status == "nothing"
    assert "there is nothing to forget" not in asked.message
    assert asked.found_afterwards == [
        "1 episode holds 'Bertrada2', which may be meant: forget with query='Bertrada2' takes it out"
    ]


async def test_places_are_counted_and_more_than_ten_forms_are_counted_too() -> None:
    told = ParsedRequest("Hildburg")
    done, _ = await told.forgotten(*(f"We met Hildburg{number} there." for number in range(15)), "Hildburg3 left.")
    lines = done.found_afterwards or []
    assert len(lines) == 10
    assert lines[0].startswith("2 episodes hold 'Hildburg3'")
    assert lines[-1] == "and 6 more"


async def test_a_title_a_reason_and_a_saga_are_reported_and_the_call_takes_them_out() -> None:
    world = Placed()
    await world.introduced()
    fact = a_fact(world.henrik, world.cup, "HAS", text="Henrik has it", voided=True)
    saga = Saga(uuid=UNKNOWN, group_id="t1", name="About bertrada7", created_at=at(2025))
    named = (world.henrik, world.cup, a_name(world.henrik), a_name(world.cup))
    note = await world.note("It is so.", *named, fact, saga, name="On bertrada7")
    await world.note("It is not.", a_change(fact, note, reason="bertrada7 said so", kind="voided"))
    done = await world.forgotten()
    assert done.found_afterwards == [
        "1 saga, 1 title and 1 reason hold 'bertrada7', which may be meant: forget with query='bertrada7' takes it out"
    ]
    again = await world.forgotten(query="bertrada7")
    assert "bertrada7" not in world.everything
    assert again.found_afterwards == [NOTHING]


async def test_a_saved_graph_with_another_form_is_asked_about_and_reported() -> None:
    world = Placed()
    await world.introduced()
    content = json.dumps({"nodes": [["bertradaX", None, {}]], "edges": []})
    graph = SavedGraphContent(
        uuid=UNKNOWN,
        owner=world.caller.visibility,
        name="plan",
        saved_at=at(2025),
        groups=("t1",),
        nodes=1,
        edges=0,
        content=content,
    )
    await world.journal.saved_graphs.save(graph, 9, 9_000)
    done = await world.forgotten()
    assert done.ask_user == ["saved graph 'plan' holds a word of it; delete_graph with saved=true removes it"]
    assert done.found_afterwards == [
        "1 saved graph holds 'bertradaX', which may be meant: forget with query='bertradaX' takes it out"
    ]
    again = await world.forgotten(query="bertradaX")
    assert again.saved_graphs == ["plan"]


async def test_a_relation_and_a_type_that_only_the_journal_still_holds_leave_it() -> None:
    world = Placed()
    await world.introduced()
    fact = await world.related("ASKED_BERTRADA")
    spoon = await world.spoon("BertradaThing")
    gone = a_write(kind=WriteKind.DELETE_FACT, deletions=Deletions(facts=(fact,), entities=(spoon,)))
    await world.journal.append(gone, {}, "hash", {})
    await world.given(gone)
    await world.forgotten()
    assert "bertrada" not in world.everything


async def test_a_type_that_an_entity_had_before_leaves_the_journal_and_the_type_it_has_stays() -> None:
    world = Placed()
    await world.introduced()
    spoon = await world.spoon("BertradaThing")
    now = world.graph.tables.entities[spoon].model_copy(update={"label": "Tool"})
    await world.note("A tool.", now)
    await world.forgotten()
    assert world.graph.tables.entities[spoon].label == "Tool"
    assert "bertrada" not in world.everything


async def test_the_type_person_stays_whatever_is_asked_for() -> None:
    world = Placed("Person")
    await world.introduced()
    await world.note("Henrik ran.", world.henrik, a_name(world.henrik), mentions=(world.henrik,))
    ran = await world.note("A person ran.")
    await world.forgotten()
    await world.forgotten(query="person")
    assert world.graph.tables.entities[world.henrik.uuid].label == "Person"
    assert world.content(ran) == "[forgotten]"


async def test_another_group_with_the_same_words_is_left_alone() -> None:
    world = Placed()
    await world.introduced()
    other = an_entity("Fork", group_id="t2", label="BertradaThing")
    theirs = a_write(other, a_name(other), group_id="t2")
    await world.journal.append(theirs, {}, "hash", {})
    await world.given(theirs)
    done = await world.forgotten()
    assert done.found_afterwards == [NOTHING]
    assert world.graph.tables.entities[other.uuid].label == "BertradaThing"


@pytest.mark.parametrize(("name", "relation"), [("coffee", "DRINKS_COFFEE"), ("Lake Stein", "SWIMS_IN_STEIN")])
async def test_a_common_noun_and_a_part_of_the_name_of_a_thing_stay_in_a_relation(name: str, relation: str) -> None:
    world = Placed(name, label="Thing")
    await world.introduced()
    fact = await world.related(relation)
    await world.forgotten()
    assert world.graph.tables.facts[fact].relation == relation


@pytest.mark.parametrize("by_query", [False, True])
async def test_a_saga_loses_a_name_and_a_summary_and_a_community_goes(*, by_query: bool) -> None:
    world = Placed()
    await world.introduced()
    saga = Saga(uuid=UNKNOWN, group_id="t1", name="About Bertrada", summary="Bertrada left.", created_at=at(2025))
    whole = Community(
        uuid=UNKNOWN, group_id="t1", name="Friends of Bertrada", summary="", created_at=at(2025), members=(UNKNOWN,)
    )
    write = a_write(saga, kind=WriteKind.BUILD_COMMUNITIES).model_copy(update={"communities": (whole,)})
    await world.journal.append(write, {}, "hash", {})
    await world.given(write)
    done = await world.forgotten(**({"query": "Bertrada"} if by_query else {}))
    assert done.removed["sagas"] == 1
    assert "bertrada" not in world.everything
    assert done.found_afterwards == [NOTHING]


async def test_a_word_of_a_forgotten_fact_in_the_relation_of_another_is_reported() -> None:
    world = Placed()
    fact = a_fact(world.henrik, world.cup, "TOLD", text="Henrik told Zephyrin4711")
    await world.note("Henrik told Zephyrin4711.", world.henrik, world.cup, a_name(world.henrik), fact)
    other = await world.related("KNOWS_ZEPHYRIN4711")
    done = await world.forgotten(fact_uuid=fact.uuid)
    assert not says_gone(done)
    call = "forget with query='zephyrin4711' takes it out"
    assert done.found_afterwards == [f"relation {other[:8]} still contains a word that no other text contains: {call}"]
    await world.forgotten(query="zephyrin4711")
    assert world.graph.tables.facts[other].relation == "KNOWS"
    assert "zephyrin" not in world.everything


async def test_the_name_of_an_attribute_goes_and_another_form_in_one_is_reported() -> None:
    world = Placed()
    await world.introduced()
    cup = world.cup.model_copy(
        update={"attributes": {"given_by_Bertrada": True, "bertrada2_owns": "no", "colour": "red"}}
    )
    await world.note("A cup.", cup, a_name(cup), mentions=(cup,))
    fact = await world.related("HAS", attributes={"forBertrada": 1})
    await world.note("Again.", cup)
    done = await world.forgotten()
    assert fact not in world.graph.tables.facts
    assert world.graph.tables.entities[cup.uuid].attributes == {"bertrada2_owns": "no", "colour": "red"}
    (line,) = done.found_afterwards or []
    assert line == "1 summary holds 'bertrada2', which may be meant: forget with query='bertrada2' takes it out"
    await world.forgotten(query="bertrada2")
    assert "bertrada" not in world.everything


async def answered(world: Placed) -> str:
    """A note whose answer is kept, as ``add_memory`` answers; the uuid of its write."""
    answer = {
        "message": "Stored 'A cup' (2025-03-01): entities: 1 created.",
        "status": "stored",
        "group_id": "t1",
        "name": "A cup",
        "entities": [{"uuid": UNKNOWN, "name": "Bertrada", "outcome": "created"}],
        "next_steps": "search_nodes shows what is known by default.",
        "related": ["Bertrada likes zebras."],
    }
    write = a_write(an_episode("A cup stood there.", name="A cup"))
    await world.journal.append(write, {}, "hash", answer)
    await world.given(write)
    await world.journal.written(write.uuid)
    return write.uuid


@pytest.mark.parametrize("query", ["stored", "created", "name", "uuid", "default", "null", "t1", "next_steps"])
async def test_words_of_the_server_in_an_answer_are_no_words_of_the_memory(query: str) -> None:
    """Without its answer a write cannot be repeated safely."""
    world = Placed()
    uuid = await answered(world)
    preview = await world.forgetting.forget(world.caller, Forget(query=query))
    assert preview.status == "nothing", preview
    assert "Bertrada" in str(world.journal.table[uuid].answer)


async def test_an_answer_with_words_of_others_goes() -> None:
    world = Placed()
    uuid = await answered(world)
    done = await world.forgotten(query="zebras")
    assert says_gone(done)
    assert "zebras" not in str(world.journal.table[uuid].answer)
