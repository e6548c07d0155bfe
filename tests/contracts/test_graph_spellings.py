"""Further spellings of one name: kept with it, whichever comes first, searched, listed and deleted with it."""

from tests.builders import a_name, a_write, an_entity, an_intent

from graphiti_pkm.core.model.queries import EntityFilter
from graphiti_pkm.core.model.records import Deletions, Entity, Name
from graphiti_pkm.core.ports.graph import Graph

WANTED = EntityFilter(group_ids=("t1",))


async def stored(graph: Graph, name: Name) -> Name:
    return (await graph.records.get_names([name.key]))[name.key]


def spelt(entity: Entity, *spellings: str) -> Name:
    return a_name(entity, spellings=spellings)


async def test_spellings_are_kept_with_the_name_and_stand_in_the_book(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    await graph.writer.apply(a_write(hall, spelt(hall, "White Hall", "white-hall")), {})
    assert await stored(graph, a_name(hall)) == spelt(hall, "White Hall", "white-hall")
    book = await graph.records.name_book("t1", None)
    assert book is not None
    assert book.names == (spelt(hall, "White Hall", "white-hall"),)


async def test_spellings_that_come_one_by_one_are_all_kept_in_any_order_and_twice(graph: Graph) -> None:
    hall, other = an_entity("Whitehall"), an_entity("Redis")
    await graph.writer.apply(a_write(hall, other, a_name(hall), a_name(other)), {})
    for spelling in ("white-hall", "White Hall", "white-hall", "Whitehall"):
        await graph.writer.apply(a_write(spelt(hall, spelling)), {})
    assert await stored(graph, a_name(hall)) == spelt(hall, "White Hall", "white-hall")
    assert await stored(graph, a_name(other)) == a_name(other)


async def test_a_name_told_again_in_other_letters_keeps_both(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    await graph.writer.apply(a_write(hall, a_name(hall)), {})
    await graph.writer.apply(a_write(a_name(hall, "White Hall")), {})
    assert await stored(graph, a_name(hall)) == spelt(hall, "White Hall")


async def test_a_new_spelling_changes_the_version_of_the_book(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    await graph.writer.apply(a_write(hall, a_name(hall)), {})
    before = await graph.records.name_book("t1", None)
    assert before is not None
    await graph.writer.apply(a_write(spelt(hall, "White Hall")), {})
    after = await graph.records.name_book("t1", before.version)
    assert after is not None
    assert after.names == (spelt(hall, "White Hall"),)


async def test_spellings_are_listed_among_the_aliases(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    alias = a_name(hall, "The Palace", spellings=("the palace",))
    await graph.writer.apply(a_write(hall, spelt(hall, "White Hall"), alias), {})
    assert await graph.records.aliases([hall.uuid], 10) == {hall.uuid: ["The Palace", "White Hall", "the palace"]}
    assert await graph.records.aliases([hall.uuid], 2) == {hall.uuid: ["The Palace", "White Hall"]}


async def test_an_entity_is_found_by_the_words_of_every_spelling(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    await graph.writer.apply(a_write(hall, a_name(hall)), {})
    await graph.writer.apply(a_write(spelt(hall, "White Hall")), {})
    assert list(await graph.search.search_entities(["white"], WANTED, 10)) == [hall.uuid]
    assert list(await graph.search.search_entities(["whitehall"], WANTED, 10)) == [hall.uuid]


async def test_a_spelling_of_a_name_that_another_holds_is_not_taken(graph: Graph) -> None:
    holder, late = an_entity("Whitehall"), an_entity("Whitehall")
    await graph.writer.apply(a_write(holder, a_name(holder)), {})
    await graph.writer.apply(a_write(late, spelt(late, "White Hall")), {})
    assert await stored(graph, a_name(holder)) == a_name(holder)
    assert await graph.search.search_entities(["white"], WANTED, 10) == {}


async def test_spellings_go_with_their_entity(graph: Graph) -> None:
    hall = an_entity("Whitehall")
    await graph.writer.apply(a_write(hall, spelt(hall, "White Hall")), {})
    await graph.writer.apply(an_intent(deletions=Deletions(entities=(hall.uuid,))), {})
    again = an_entity("Whitehall")
    await graph.writer.apply(a_write(again, a_name(again)), {})
    assert await stored(graph, a_name(again)) == a_name(again)
    assert await graph.search.search_entities(["white"], WANTED, 10) == {}
