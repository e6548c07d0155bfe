"""Names kept between calls."""

from collections.abc import Iterable

import pytest
from tests.builders import a_name, a_write, an_entity
from tests.fakes import FakeGraph

from graphiti_pkm.core.identity.known_names import KnownNames, NameBooks
from graphiti_pkm.core.model.queries import NameBook
from graphiti_pkm.core.model.records import Name
from graphiti_pkm.errors import WriteFailed

SARAH, TOM = an_entity("Sarah Chen"), an_entity("Tom")


def book(version: int, names: Iterable[Name]) -> NameBook:
    return NameBook(version=version, names=tuple(names))


def test_names_are_added_without_starting_anew() -> None:
    known = KnownNames([a_name(SARAH)])
    later = known.updated(book(2, [a_name(SARAH), a_name(SARAH, "Sare"), a_name(TOM)]))
    assert later is known
    assert known.mentioned("Sare met Tom.") == {SARAH.uuid, TOM.uuid}
    assert (known.version, len(known)) == (2, 3)


def test_names_that_have_gone_are_forgotten() -> None:
    known = KnownNames([a_name(SARAH), a_name(TOM)])
    later = known.updated(book(2, [a_name(TOM)]))
    assert later.mentioned("Sarah Chen met Tom.") == {TOM.uuid}
    assert later.lookalikes("Sarah") == []


def test_a_name_that_changed_hands_is_followed() -> None:
    other = an_entity("Sarah Chen")
    later = KnownNames([a_name(SARAH)]).updated(book(2, [a_name(other)]))
    assert later.mentioned("Sarah Chen") == {other.uuid}


def test_an_entity_is_called_by_its_name_and_not_by_an_alias() -> None:
    for names in ([a_name(SARAH, "Sare"), a_name(SARAH)], [a_name(SARAH), a_name(SARAH, "Sare")]):
        assert KnownNames(names).name_of(SARAH.uuid) == "Sarah Chen"
    assert KnownNames().name_of(SARAH.uuid) is None


def test_names_that_are_not_linkable_are_not_known() -> None:
    known = KnownNames([a_name(SARAH, is_linkable=False)])
    assert len(known) == 0
    assert known.lookalikes("Sarah") == []


def test_lookalikes_are_distinct_entities_close_ones_first() -> None:
    chan, sarah = an_entity("Sarah Chan"), an_entity("Sarah")
    known = KnownNames([a_name(SARAH), a_name(SARAH, "Sarah C."), a_name(chan), a_name(sarah), a_name(TOM)])
    assert known.lookalikes("Sarah Chenn")[0] == SARAH.uuid
    assert set(known.lookalikes("Sarah")) == {SARAH.uuid, chan.uuid}


async def test_a_book_is_read_again_only_when_it_changed_or_a_write_failed() -> None:
    graph = FakeGraph()
    await graph.writer.apply(a_write(SARAH, a_name(SARAH)), {})
    books = NameBooks(graph)
    first = await books.of("t1")
    assert await books.of("t1") is first
    await graph.writer.apply(a_write(TOM, a_name(TOM)), {})
    assert (await books.of("t1")).mentioned("Tom") == {TOM.uuid}
    first.add(a_name(an_entity("Stored by now")))
    with books.writing("t1"):
        pass
    assert len(await books.of("t1")) == 3
    first.add(a_name(an_entity("Never stored")))
    with pytest.raises(WriteFailed), books.writing("t1"):
        raise WriteFailed("the graph is away")
    assert len(await books.of("t1")) == 2


async def test_books_of_groups_are_apart() -> None:
    graph = FakeGraph()
    there = an_entity("Tom", group_id="t2")
    await graph.writer.apply(a_write(SARAH, a_name(SARAH)), {})
    await graph.writer.apply(a_write(there, a_name(there), group_id="t2"), {})
    books = NameBooks(graph)
    assert (await books.of("t1")).mentioned("Tom, Sarah Chen") == {SARAH.uuid}
    assert (await books.of("t2")).mentioned("Tom, Sarah Chen") == {there.uuid}


def test_more_spellings_of_a_known_name_are_told_apart_and_matched() -> None:
    hall = an_entity("Whitehall")
    known = KnownNames([a_name(hall)])
    assert known.mentioned("at White Hall") == set()
    assert known.add(a_name(hall, spellings=("White Hall",))) == ["White Hall"]
    assert known.add(a_name(hall, spellings=("White Hall",))) == []
    assert known.mentioned("at White Hall") == known.mentioned("at Whitehall") == {hall.uuid}
    assert known.updated(book(2, [a_name(hall, spellings=("White Hall", "white-hall"))])) is known
    assert known.mentioned("at white-hall") == {hall.uuid}
    assert known.updated(book(3, [a_name(hall)])).mentioned("at White Hall") == set()


def test_a_name_journalled_before_there_were_spellings_has_none() -> None:
    older = a_name(an_entity("Whitehall")).model_dump(exclude={"spellings"})
    assert Name.model_validate(older).spellings == ()


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("new", ["the user service api", "user servise", "old user service"])
def test_lookalikes_are_found_by_every_known_spelling(new: str, *, is_later: bool) -> None:
    service = an_entity("userservice")
    spelt = a_name(service, spellings=("user service", "user_servize"))
    known = KnownNames([a_name(service)] if is_later else [spelt])
    if is_later:
        assert known.lookalikes("the user service api") == []
        known.add(spelt)
    assert known.lookalikes(new) == [service.uuid]
    assert known.lookalikes("server") == []
