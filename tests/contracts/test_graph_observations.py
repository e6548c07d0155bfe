"""Contract of ``GraphObservations``, and of the reads that an observation must not appear in."""

from datetime import timedelta

from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_fact, a_name, a_write, an_entity, an_update, at, new_uuid

from graphiti_pkm.capabilities.compat.assembly import OBSERVATIONS_PART
from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.sagas.assembly import COMMUNITIES
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)


def observed(entity: Entity, text: str, position: int = 0, **fields: object) -> Fact:
    attributes: dict[str, object] = {"position": position}
    return a_fact(entity, entity, OBSERVATION, text=text, attributes=attributes, **fields)


def everything() -> FactFilter:
    return FactFilter(group_ids=(GROUP,), now=NOW)


async def test_observations_come_in_the_order_in_which_they_were_said(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    later = observed(sarah, "plays chess", created_at=RECORDED + timedelta(hours=1))
    told = [observed(sarah, "speaks Dutch", 1), observed(sarah, "is kind", 0), observed(sarah, "has a dog", 10)]
    other = a_fact(sarah, tom, OBSERVATION, text="Sarah observes Tom.")
    elsewhere = an_entity("Sarah", group_id=OTHER_GROUP)
    theirs = observed(elsewhere, "is another")
    await graph.writer.apply(a_write(sarah, tom, elsewhere, later, *told, other, theirs), {})
    part = graph.part(OBSERVATIONS_PART)
    uuids = [sarah.uuid, tom.uuid, elsewhere.uuid, "none"]
    texts = ["is kind", "speaks Dutch", "has a dog", "plays chess"]
    assert await part.observations(uuids, [GROUP], NOW, 10) == {sarah.uuid: (texts, 4)}
    assert await part.observations(uuids, [GROUP, OTHER_GROUP], NOW, 2) == {
        sarah.uuid: (texts[:2], 4),
        elsewhere.uuid: (["is another"], 1),
    }
    assert await part.observations([], [GROUP], NOW, 2) == {}
    ended = an_update(told[1], expired_at=RECORDED, invalid_at=RECORDED)
    await graph.writer.apply(a_write(ended, an_update(told[0], voided=True, expired_at=RECORDED)), {})
    assert await part.observations(uuids, [GROUP], NOW, 10) == {sarah.uuid: (["has a dog", "plays chess"], 2)}


async def test_a_known_observation_has_exactly_the_text(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    first, second = observed(sarah, "speaks Dutch"), observed(sarah, "Speaks Dutch", 1)
    ended = observed(sarah, "is tired", expired_at=RECORDED, invalid_at=RECORDED)
    await graph.writer.apply(a_write(sarah, tom, first, second, ended, observed(tom, "speaks Dutch")), {})
    part = graph.part(OBSERVATIONS_PART)
    asked = [(sarah.uuid, "Speaks Dutch"), (sarah.uuid, "speaks"), (sarah.uuid, "is tired"), ("none", "speaks Dutch")]
    (found,) = await part.known_observations(GROUP, [*asked, asked[0]])
    assert (found.uuid, found.source_name, found.text) == (second.uuid, "Sarah", "Speaks Dutch")
    assert await part.known_observations(OTHER_GROUP, asked) == []
    assert await part.known_observations(GROUP, []) == []


async def test_relations_are_current_facts_among_the_entities_or_of_any_of_them(graph: Graph) -> None:
    a, b, c = (an_entity(name) for name in "abc")
    hours = (timedelta(hours=hour) for hour in range(10))
    ab, ba, bc, bb, aa = (
        a_fact(source, target, relation, created_at=RECORDED + next(hours))
        for source, target, relation in (
            (a, b, "KNOWS"),
            (b, a, "KNOWS"),
            (b, c, "KNOWS"),
            (b, b, "KNOWS"),
            (a, a, "X"),
        )
    )
    event = a_fact(a, b, "MET", kind="event")
    over = a_fact(a, b, "LIKED", invalid_at=at(2026, 2))
    facts = (ab, ba, bc, bb, aa, event, over, observed(a, "is first"), a_fact(a, b, OBSERVATION))
    await graph.writer.apply(a_write(a, b, c, *facts), {})
    part = graph.part(OBSERVATIONS_PART)

    async def found(*of: Entity, within: bool, limit: int = 10) -> tuple[list[str], int]:
        relations, total = await part.relations([one.uuid for one in of], [GROUP], NOW, limit, within=within)
        return [one.uuid for one in relations], total

    between = [one.uuid for one in (aa, bb, ba)] + sorted([ab.uuid, facts[-1].uuid])
    assert await found(a, b, within=True) == (between, 5)
    assert await found(a, b, within=True, limit=2) == (between[:2], 5)
    assert await found(a, a, within=True) == ([aa.uuid], 1)
    assert await found(c, within=True) == ([], 0)
    assert await found(c, within=False) == ([bc.uuid], 1)
    touching, total = await found(a, b, within=False)
    assert (touching[:4], total, len(set(touching))) == ([aa.uuid, bb.uuid, bc.uuid, ba.uuid], 6, 6)
    assert await part.relation_counts([a.uuid, b.uuid, c.uuid, "none"], [GROUP], NOW) == {
        a.uuid: 4,
        b.uuid: 5,
        c.uuid: 1,
    }
    assert await part.relations([a.uuid], [OTHER_GROUP], NOW, 10, within=False) == ([], 0)


async def test_entities_of_a_type_are_found_in_any_case(graph: Graph) -> None:
    people = [
        an_entity(f"P{n}", label="Person", created_at=RECORDED + timedelta(hours=n), uuid=f"{n:036d}") for n in range(3)
    ]
    others = [
        an_entity("Berlin", label="City"),
        an_entity("Thing"),
        an_entity("X", label="Person", group_id=OTHER_GROUP),
    ]
    await graph.writer.apply(a_write(*people, *others), {})
    part = graph.part(OBSERVATIONS_PART)
    assert await part.of_type(["person", "dog"], [GROUP], 2) == [people[2].uuid, people[1].uuid]
    assert set(await part.of_type(["person", "city"], [GROUP], 9)) == {*(one.uuid for one in people), others[0].uuid}
    assert await part.of_type(["entity", "per"], [GROUP], 9) == []
    assert await part.of_type([], [GROUP], 9) == []


async def test_the_entities_of_observations_and_names_are_those_of_the_groups(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    foreign = an_entity("Eve", group_id=OTHER_GROUP)
    likes, swims = observed(sarah, "Likes the sea"), observed(tom, "Swims")
    others = [a_fact(sarah, tom, "OBSERVATION"), a_fact(tom, tom, "KNOWS"), observed(foreign, "Spies")]
    await graph.writer.apply(a_write(sarah, tom, foreign, likes, swims, *others), {})
    part = graph.part(OBSERVATIONS_PART)
    facts = [likes.uuid, swims.uuid, *(one.uuid for one in others), likes.uuid, new_uuid()]
    assert await part.observed(facts, [GROUP]) == {likes.uuid: sarah.uuid, swims.uuid: tom.uuid}
    assert await part.observed(facts, [OTHER_GROUP]) == {others[2].uuid: foreign.uuid}
    assert await part.observed([], [GROUP]) == {}
    uuids = [tom.uuid, foreign.uuid, sarah.uuid, new_uuid()]
    assert await part.names(uuids, [GROUP]) == {tom.uuid: "Tom", sarah.uuid: "Sarah"}
    assert await part.names([], [GROUP]) == {}


async def test_a_part_of_a_word_is_found_in_names_types_and_observations(graph: Graph) -> None:
    names = [
        an_entity("Ostsee", created_at=RECORDED),
        an_entity("Sarah", label="Person", created_at=RECORDED + timedelta(hours=1)),
        an_entity("Tom", created_at=RECORDED + timedelta(hours=2), attributes={"type": "Sea dog"}),
        an_entity("Thing", created_at=RECORDED + timedelta(hours=3)),
    ]
    told = observed(names[1], "Likes the SEA")
    ended = observed(names[3], "likes the sea", expired_at=RECORDED, invalid_at=RECORDED)
    await graph.writer.apply(a_write(*names, told, ended, an_entity("sea", group_id=OTHER_GROUP)), {})
    part = graph.part(OBSERVATIONS_PART)
    assert await part.holding("se", [GROUP], NOW, 9) == ([one.uuid for one in names[:3]], 3)
    assert await part.holding("sea", [GROUP], NOW, 1) == ([names[1].uuid], 2)
    assert await part.holding("perso", [GROUP], NOW, 9) == ([names[1].uuid], 1)
    assert await part.holding("entit", [GROUP], NOW, 9) == ([names[0].uuid, names[3].uuid], 2)
    assert await part.holding("100%_", [GROUP], NOW, 9) == ([], 0)


async def test_the_words_of_a_type_as_it_was_sent_are_found(graph: Graph) -> None:
    music = an_entity("Jazz", attributes={"type": "MusicGenre"})
    await graph.writer.apply(a_write(music, a_name(music), an_entity("Chess", label="Game")), {})
    wanted = EntityFilter(group_ids=(GROUP,))
    assert set(await graph.search.search_entities(["genre"], wanted, 9)) == {music.uuid}
    assert set(await graph.search.search_entities(["musicgenre"], wanted, 9)) == {music.uuid}


async def test_an_observation_is_no_neighbour_no_loop_and_no_way(graph: Graph) -> None:
    a, b = an_entity("a"), an_entity("b")
    joined, told = a_fact(a, b, valid_at=at(2025)), observed(a, "is first", valid_at=at(2025))
    await graph.writer.apply(a_write(a, b, joined, told), {})
    (neighbour,) = (await graph.facts.fact_counts(a.uuid, everything(), 9, 9)).neighbours
    assert (neighbour.entity_uuid, neighbour.facts) == (b.uuid, 1)
    around = await graph.part(WALKS_PART).neighbourhood([a.uuid], everything(), 2, 9, 9)
    assert ([fact.uuid for fact in around.facts], around.facts_total) == ([joined.uuid], 1)
    assert [(entity.uuid, hop) for entity, hop in around.entities] == [(b.uuid, 1)]
    (way,) = await graph.part(WALKS_PART).shortest_paths(a.uuid, b.uuid, everything(), 4, 9)
    assert [fact.uuid for fact in way] == [joined.uuid]
    assert await graph.part(COMMUNITIES).joined_entities(GROUP, 9) == [(*sorted((a.uuid, b.uuid)), 1)]
    assert await graph.part(NEIGHBOURS).fact_distances(a.uuid, [a.uuid, b.uuid]) == {a.uuid: 0, b.uuid: 1}


async def test_an_observation_counts_once_in_both_directions(graph: Graph) -> None:
    a = an_entity("a")
    told = observed(a, "is first", valid_at=at(2025))
    await graph.writer.apply(a_write(a, told), {})
    for direction in ("both", "out", "in"):
        wanted = FactFilter(group_ids=(GROUP,), now=NOW, direction=direction)  # type: ignore[arg-type]
        page = await graph.facts.connections(a.uuid, wanted, Window(limit=9))
        assert ([fact.uuid for fact in page.facts], page.total) == ([told.uuid], 1), direction
        (kind,) = (await graph.facts.fact_counts(a.uuid, wanted, 9, 9)).kinds
        assert (kind.name, kind.facts) == (OBSERVATION, 1), direction
    assert await graph.records.entity_support([a.uuid]) == {a.uuid: (0, 1)}
    assert (await graph.facts.newest_facts([a.uuid], [GROUP], NOW, 9))[a.uuid] == list(
        await graph.records.get_facts([told.uuid], [GROUP])
    )
    first = await graph.facts.facts_between(GROUP, [(a.uuid, a.uuid)], 9)
    assert [[fact.uuid for fact in facts] for facts in first] == [[told.uuid]]


async def test_whether_a_group_has_observations(graph: Graph) -> None:
    a, b = an_entity("a"), an_entity("b")
    await graph.writer.apply(a_write(a, b, a_fact(a, b, OBSERVATION)), {})
    part = graph.part(NEIGHBOURS)
    assert not await part.has_observations([GROUP])
    await graph.writer.apply(a_write(observed(a, "is first")), {})
    assert await part.has_observations([OTHER_GROUP, GROUP])
    assert not await part.has_observations([OTHER_GROUP])
