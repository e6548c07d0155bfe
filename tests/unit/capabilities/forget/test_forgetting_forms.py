"""Forgetting a name however it is written: what is the name goes, what may be it stays and is reported."""

import pytest
from tests.builders import a_name, an_entity
from tests.unit.capabilities.forget.test_forgetting_names import NOTHING, Notes

from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import Forget

QUIET = "A quiet day."


class ParsedRequest(Notes):
    """One person of any name, introduced by one note, and notes that follow."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.person = an_entity(name, label="Person")

    async def forgotten(self, *texts: str) -> tuple[ForgetResponse, list[str]]:
        first = f"{self.person.name} joined."
        await self.note(first, self.person, a_name(self.person), mentions=(self.person,))
        later = [await self.note(text) for text in texts]
        preview = await self.preview(self.person)
        done = await self.preview(self.person, confirm=preview.confirm)
        return done, [self.content(one) for one in later]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Anna", "We met An\u200bna there."),
        ("Anna", "We met An\u00adna there."),
        ("An\u200bna", "We met Anna there."),
        ("Anna", "We met \uff21\uff4e\uff4e\uff41 there."),
        ("R2D2", "We met R2D2 there."),
        ("Unit 734", "We met Unit 734 there."),
        ("Bo", "We met Bo there."),
        ("Анна", "Мы видели, что Анна пришла."),
    ],
)
async def test_the_name_itself_goes_however_it_is_encoded(name: str, text: str) -> None:
    done, (left,) = await ParsedRequest(name).forgotten(text)
    assert left == "[forgotten]"
    assert done.status == "forgotten"
    assert done.found_afterwards == [NOTHING]


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("Anna", "Annas Haus ist rot.", "annas"),
        ("Анна", "Я говорил об Анне вчера.", "анне"),
        ("Анна", "Это дом Анны.", "анны"),
        ("Анна", "Я видел Анну.", "анну"),
        ("Anna", "Write to anna@example.org soon.", "anna@example.org"),
        ("Anna", "See https://example.org/anna for more.", "example.org/anna"),
        ("Anna", "The user anna_1987 wrote.", "anna_1987"),
        ("R2D2", "The robot r2d2 came.", "r2d2"),
        ("Bo", "Bos Hund bellt.", "bos"),
        ("Agent7", "Agent7s car stood there.", "agent7s"),
        ("Henrik", "Henrikin talo on punainen.", "henrikin"),
        ("Li Bo", "Then Bo came.", "'bo'"),
        ("R2D2", "The robot R2-D2 came.", "r2-d2"),
    ],
)
async def test_what_may_be_the_name_stays_and_is_reported_with_the_call_that_settles_it(
    name: str, text: str, word: str
) -> None:
    told = ParsedRequest(name)
    done, (left,) = await told.forgotten(text)
    assert left == text, "nothing goes on a guess"
    assert any(text in hint for hint in done.ask_user or []), done.ask_user
    assert "may still stand" in done.message
    assert "Its words are gone" not in done.message
    assert any(word in line.casefold() and "forget with query=" in line for line in done.found_afterwards or []), (
        done.found_afterwards
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Al", "We also met Alan and Alma, although they ate algae."),
        ("Bo", "The boat and the book were bought."),
        ("Anna", "Annapolis is a town; the annals say so."),
        ("Анна", "Аннотация была короткой."),
        ("R2D2", "R2D20 is another."),
        ("Li Bo", "The boat was lit; she bought it."),
    ],
)
async def test_other_words_are_neither_removed_nor_reported(name: str, text: str) -> None:
    done, (left,) = await ParsedRequest(name).forgotten(text)
    assert left == text
    assert not done.ask_user
    assert done.found_afterwards == [NOTHING]
    assert "may still stand" not in done.message


async def test_a_thing_that_is_called_after_a_person_is_reported_and_another_person_is_not() -> None:
    told = ParsedRequest("Julia Oberhuber")
    flat, other = an_entity("Oberhuber flat", label="Place"), an_entity("Julia Meier", label="Person")
    for one in (flat, other):
        await told.note(f"{one.name} was there.", one, a_name(one), mentions=(one,))
    done, _ = await told.forgotten()
    told_of = " ".join([*(done.found_afterwards or []), *(done.ask_user or [])])
    assert "Oberhuber flat" in told_of
    assert "forget with query='Oberhuber'" in told_of
    assert "Meier" not in told_of
    assert "Its words are gone" not in done.message


async def test_the_call_that_it_names_settles_it() -> None:
    told = ParsedRequest("Anna")
    done, _ = await told.forgotten("Annas Haus ist rot.", QUIET)
    (line,) = [line for line in done.found_afterwards or [] if "query=" in line]
    query = line.split("query='")[1].split("'")[0]
    preview = await told.forgetting.forget(told.caller, Forget(query=query))
    assert preview.removed["sentences"] == 1
    await told.forgetting.forget(told.caller, Forget(query=query, confirm=preview.confirm))
    assert "Annas" not in str(told.journal.table)
    assert QUIET in str(told.graph.tables)
