"""Counting what a group holds from its writes alone: as the graph that applies them does."""

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    a_document,
    a_fact,
    a_mention,
    a_passage,
    a_saga,
    a_step,
    a_write,
    an_entity,
    an_episode,
    an_instance,
    an_update,
    at,
)
from tests.fakes import FakeGraph

from graphiti_pkm.core.model.group_tally import GroupTally
from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteIntent, WriteKind


async def test_it_counts_as_the_graph_after_each_write() -> None:
    anna, tom, rome = an_entity("Anna"), an_entity("Tom"), an_entity("Rome")
    episode, other = an_episode(), an_episode("Tom.")
    knows, lives = a_fact(anna, tom, episodes=(episode.uuid,)), a_fact(anna, rome, "LIVES_IN")
    dangling = a_fact(anna, an_entity("Nobody"))
    back = a_fact(tom, anna, "LIKES")
    writes: list[WriteIntent] = [
        a_write(anna, tom, rome, episode, knows, lives, dangling, a_mention(episode, anna)),
        a_write(an_entity("Elsewhere", group_id=OTHER_GROUP), an_episode(group_id=OTHER_GROUP), group_id=OTHER_GROUP),
        a_write(other, back),
        a_write(deletions=Deletions(facts=(knows.uuid,), episodes=(episode.uuid,))),
        a_write(forgets=Forgetting(facts=(back.uuid,))),
        a_write(deletions=Deletions(entities=(rome.uuid,))),
        a_write(knows),
        a_write(deletions=Deletions(groups=(GROUP,))),
        a_write(rome),
    ]
    graph, tally, seen = FakeGraph(), GroupTally(GROUP), []
    for write in writes:
        await graph.writer.apply(write, {})
        tally.add(write)
        sizes = (await graph.records.group_sizes([GROUP])).get(GROUP)
        assert sizes is None or tally.size == sizes, len(seen)
        seen.append((tally.size.episodes, tally.size.entities, tally.size.facts))
    assert seen == [(1, 3, 2), (1, 3, 2), (2, 3, 3), (1, 3, 2), (1, 3, 1), (1, 2, 0), (1, 2, 1), (0, 0, 0), (0, 1, 0)]


async def test_it_knows_which_documents_quotes_and_sagas_the_graph_has_after_each_write() -> None:
    anna, tom = an_entity("Anna"), an_entity("Tom")
    one, two = an_episode("One."), an_episode("Two.")
    parts = [a_passage(one), a_passage(two)]
    guide, sections = a_document(one, two)
    edited, others = a_document(two, version=2)
    quotes = [an_instance(anna, guide, parts[0]), an_instance(tom, guide, parts[1])]
    saga = a_saga()
    foreign = a_saga(group_id=OTHER_GROUP)
    writes: list[WriteIntent] = [
        a_write(anna, tom, one, two, *parts, guide, *sections, *quotes, saga),
        a_write(foreign, group_id=OTHER_GROUP),
        a_write(edited, *others),
        a_write(deletions=Deletions(episodes=(one.uuid,))),
        a_write(deletions=Deletions(entities=(tom.uuid,), sagas=(saga.uuid,))),
        a_write(guide.model_copy(update={"path": "elsewhere.md"})),
        a_write(deletions=Deletions(episodes=(two.uuid,))),
        a_write(anna, one, parts[0], guide, sections[0], quotes[0], saga),
        a_write(deletions=Deletions(groups=(GROUP,))),
    ]
    graph, tally, seen = FakeGraph(), GroupTally(GROUP), []
    for write in writes:
        await graph.writer.apply(write, {})
        tally.add(write)
        db, found = graph.tables, (tally.documents, {*tally.quotes}, tally.sagas)
        held = (db.documents, db.instances, db.sagas)
        assert found == tuple({uuid for uuid, one in kind.items() if one.group_id == GROUP} for kind in held), len(seen)
        seen.append(tuple(map(len, found)))
    assert seen == [(1, 2, 1), (1, 2, 1), (2, 2, 1), (2, 1, 1), (2, 0, 0), (2, 0, 0), (0, 0, 0), (1, 1, 1), (0, 0, 0)]


def test_it_sees_that_a_fact_ended_and_that_an_entity_was_renamed() -> None:
    anna, tom = an_entity("Anna"), an_entity("Tom")
    fact = a_fact(anna, tom)
    before, after = GroupTally(GROUP), GroupTally(GROUP)
    for tally in (before, after):
        tally.add(a_write(anna, tom, fact))
    assert (before.facts, before.entities) == (after.facts, after.entities)
    after.add(a_write(an_update(fact, invalid_at=at(2026)), anna.model_copy(update={"name": "Anne"})))
    assert before.facts[fact.uuid] != after.facts[fact.uuid]
    assert before.entities[anna.uuid] != after.entities[anna.uuid]
    assert before.entities[tom.uuid] == after.entities[tom.uuid]


async def test_it_loses_the_facts_and_sagas_of_which_every_episode_was_forgotten() -> None:
    anna, tom = an_entity("Anna"), an_entity("Tom")
    gone, moved, stays = (an_episode(f"{number}.") for number in range(3))
    only, both, elsewhere = (
        a_fact(anna, tom, episodes=tuple(one.uuid for one in told)) for told in ((gone,), (gone, stays), (moved,))
    )
    never = a_fact(anna, tom)
    sagas = [
        a_saga(first_episode_uuid=one.uuid, last_episode_uuid=other.uuid)
        for one, other in ((gone, gone), (gone, stays), (moved, moved))
    ]
    tally = GroupTally(GROUP)
    tally.add(a_write(anna, tom, moved, stays, only, both, elsewhere, never, *sagas, a_step(sagas[1], stays)))
    tally.add(a_write(kind=WriteKind.MIGRATE, deletions=Deletions(episodes=(moved.uuid,))))
    assert tally.lose_untold() == Deletions()
    tally.add(a_write(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(gone.uuid,))))
    assert tally.lose_untold() == Deletions(facts=(only.uuid,), sagas=(sagas[0].uuid,))
    assert tally.facts.keys() == {both.uuid, elsewhere.uuid, never.uuid}
    assert (tally.sagas, tally.unclosed_sagas) == ({sagas[1].uuid, sagas[2].uuid}, [sagas[1].uuid])
    assert tally.lose_untold() == Deletions()
