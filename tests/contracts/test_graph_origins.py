"""Contracts of who made a record: that of the write that made it, whatever else mentions it later."""

from datetime import timedelta

from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_fact, a_write, an_entity, an_episode, an_intent

from graphiti_pkm.core.model.records import Deletions, Origin
from graphiti_pkm.core.ports.graph import Graph

ANNA = Origin(created_by="anna", token="0a1b2c3d")  # noqa: S106 the id of a token
BEN = Origin(created_by="ben", source_type="inference")
LATER = RECORDED + timedelta(microseconds=1)


async def test_each_kind_of_record_has_the_origin_of_its_write(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    fact = a_fact(sarah, tom)
    await graph.writer.apply(a_write(sarah, tom, note, fact, recorded_at=RECORDED, origin=ANNA), {})
    read = graph.records.origins
    assert await read("entity", [sarah.uuid, tom.uuid], [GROUP]) == {sarah.uuid: ANNA, tom.uuid: ANNA}
    assert await read("fact", [fact.uuid], [GROUP]) == {fact.uuid: ANNA}
    assert await read("episode", [note.uuid, note.uuid], [GROUP]) == {note.uuid: ANNA}
    assert await read("entity", [sarah.uuid], [OTHER_GROUP]) == {}
    assert await read("entity", [fact.uuid], [GROUP]) == {}
    assert await read("entity", [], [GROUP]) == {}


async def test_it_stays_when_others_mention_or_change_the_record(graph: Graph) -> None:
    sarah, lena = an_entity("Sarah"), an_entity("Lena", created_at=LATER)
    await graph.writer.apply(a_write(sarah, recorded_at=RECORDED, origin=ANNA), {})
    told = sarah.model_copy(update={"summary": "A sailor."})
    await graph.writer.apply(a_write(told, lena, recorded_at=LATER, origin=BEN), {})
    assert await graph.records.origins("entity", [sarah.uuid, lena.uuid], [GROUP]) == {
        sarah.uuid: ANNA,
        lena.uuid: BEN,
    }


async def test_what_is_older_and_what_came_at_the_same_time_in_another_group_have_none_of_it(graph: Graph) -> None:
    old, foreign = an_entity("Old", created_at=LATER), an_entity("Foreign", group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(old, recorded_at=LATER), {})
    await graph.writer.apply(a_write(an_entity("Sarah"), recorded_at=RECORDED, origin=ANNA), {})
    await graph.writer.apply(a_write(foreign, recorded_at=RECORDED), {})
    assert await graph.records.origins("entity", [old.uuid, foreign.uuid], [GROUP, OTHER_GROUP]) == {}


async def test_it_goes_with_the_group(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    await graph.writer.apply(a_write(sarah, recorded_at=RECORDED, origin=ANNA), {})
    await graph.writer.apply(an_intent(deletions=Deletions(groups=(GROUP,)), recorded_at=LATER), {})
    await graph.writer.apply(a_write(sarah, recorded_at=LATER), {})
    assert await graph.records.origins("entity", [sarah.uuid], [GROUP]) == {}
