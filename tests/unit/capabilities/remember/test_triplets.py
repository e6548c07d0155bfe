"""One fact without a text around it: the write path of add_memory, the parameters of the upstream server."""

from typing import Any

import pytest
from tests.builders import OTHER_GROUP, a_name, a_write, an_entity, new_uuid
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.remember.requests import AddTriplet
from graphiti_pkm.capabilities.remember.triplets import Triplets
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import TripletResponse
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound


class World(WritingWorld):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        groups = Groups(self.graph, self.context.settings)
        self.triplets = Triplets(self.context, groups, self.writing)

    async def add(self, caller: Caller = LOCAL, **fields: Any) -> TripletResponse:
        given = {
            "source_node_name": "Maria",
            "edge_name": "works for",
            "fact": "Maria works for Acme.",
            "target_node_name": "Acme",
        }
        return await self.triplets.add_triplet(caller, AddTriplet(**{**given, **fields}))

    def nothing_is_stored(self) -> bool:
        return not (self.graph.tables.facts or self.journal.table)


async def test_a_triplet_is_one_write_with_its_sentence_as_the_episode() -> None:
    world = World()
    answer = await world.add()
    assert answer.message == "Triplet 'Maria -[WORKS_FOR]-> Acme' added."
    assert [node.name for node in answer.nodes] == ["Maria", "Acme"]
    (edge,) = answer.edges
    assert (edge.fact, edge.name, edge.episodes) == ("Maria works for Acme.", "WORKS_FOR", [answer.episode_uuid])
    (row,) = world.journal.table.values()
    (episode,) = row.intent.episodes
    assert (episode.content, episode.source, episode.uuid) == (
        "Maria works for Acme.",
        "fact_triple",
        answer.episode_uuid,
    )
    assert world.lines() == ["Maria WORKS_FOR Acme"]


async def test_entities_are_found_by_name_and_a_fact_told_again_gains_an_episode() -> None:
    world = World()
    await world.tell("Maria works for Acme.", {"source": "Maria", "relation": "WORKS_FOR", "target": "Acme",
                                               "fact": "Maria works for Acme"})  # fmt: skip
    answer = await world.add(source_node_name="maria", fact="Maria works for ACME.")
    assert "It was known already" in answer.message
    assert len(world.facts) == 1
    assert len(world.facts[0].episodes) == 2
    assert len(world.graph.tables.entities) == 2


async def test_me_is_the_person() -> None:
    world = World(person="Sarah")
    await world.add(source_node_name="me", fact="Sarah works for Acme.")
    assert world.lines() == ["Sarah WORKS_FOR Acme"]


async def test_a_uuid_names_an_entity_whatever_name_comes_with_it_and_its_group() -> None:
    world = World()
    maria = an_entity("Maria Lopez", group_id=OTHER_GROUP)
    await world.graph.writer.apply(a_write(maria, a_name(maria)), {})
    answer = await world.add(source_node_uuid=maria.uuid[:13])
    assert answer.nodes[0].uuid == maria.uuid
    assert answer.nodes[1].group_id == OTHER_GROUP
    assert answer.edges[0].source_node_name == "Maria Lopez"


async def test_uuids_of_other_groups_are_refused() -> None:
    world = World()
    here, there = an_entity("Here", group_id="default"), an_entity("There", group_id=OTHER_GROUP)
    await world.graph.writer.apply(a_write(here, there, a_name(here), a_name(there)), {})
    for fields in (
        {"source_node_uuid": here.uuid, "target_node_uuid": there.uuid},
        {"source_node_uuid": there.uuid, "group_id": "default"},
    ):
        with pytest.raises(InvalidInput, match="not all of one group"):
            await world.add(**fields)
    with pytest.raises(NotFound):
        await world.add(source_node_uuid=new_uuid())
    with pytest.raises(NotFound):
        await world.add(Caller(principal="anna"), source_node_uuid=here.uuid)
    assert world.nothing_is_stored()


async def test_an_entity_whose_name_another_one_holds_is_refused_with_that_one() -> None:
    """Graphiti may have made two of one name; by its name the fact would go to the other."""
    world = World()
    holder, twin = an_entity("Maria", group_id="default"), an_entity("Maria", group_id="default")
    await world.graph.writer.apply(a_write(holder, twin, a_name(holder)), {})
    with pytest.raises(InvalidInput, match=holder.uuid):
        await world.add(source_node_uuid=twin.uuid)
    assert world.nothing_is_stored()


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("source_node_name", "   "),
        ("target_node_name", "x" * 201),
        ("edge_name", "?!"),
        ("edge_name", "x" * 201),
        ("fact", "  "),
        ("fact", "x" * 2_001),
    ],
)
async def test_what_does_not_do_is_named_by_the_tools_own_parameter(parameter: str, value: str) -> None:
    world = World()
    with pytest.raises(InvalidInput, match=f"{parameter} needs .* Nothing was stored"):
        await world.add(**{parameter: value})
    assert world.nothing_is_stored()


async def test_who_may_only_read_adds_nothing() -> None:
    with pytest.raises(NotAllowed):
        await World().add(Caller(read_only=True))


async def test_what_needs_attention_is_passed_on() -> None:
    world = World()
    await world.add()
    answer = await world.add(target_node_name="Umbrella", fact="Maria works for Umbrella.")
    assert "possible_conflict" in [one.what for one in answer.needs_attention]
