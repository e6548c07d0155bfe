"""Earlier episodes that name an entity: found in bounded rounds, by the rules, and once."""

from datetime import timedelta

import pytest
from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_write, an_episode
from tests.fakes.graph import FakeGraph

from graphiti_pkm.core.identity.backlinks import ReadTexts, back_link, find_back_links
from graphiti_pkm.core.identity.mentions import NamedIn
from graphiti_pkm.core.model.records import Episode

SARAH = "the entity"
LATER = RECORDED + timedelta(days=1)


@pytest.fixture
def graph() -> FakeGraph:
    return FakeGraph()


async def episodes(graph: FakeGraph, *contents: str, **fields: object) -> list[Episode]:
    """Episodes with uuids in the order given."""
    made = [an_episode(content, uuid=f"{number:08d}", **fields) for number, content in enumerate(contents)]
    await graph.writer.apply(a_write(*made), {})
    return made


def texts() -> ReadTexts:
    return ReadTexts(lambda text: {SARAH} if "Sarah" in NamedIn(text) or "Sal" in NamedIn(text) else ())


async def test_episodes_that_name_it_are_found_and_the_rest_is_not(graph: FakeGraph) -> None:
    await episodes(graph, "Sarah came.", "Nobody came.", "Met sarahs friend.", "Sal's idea.")
    links = await find_back_links(graph, GROUP, SARAH, ["Sarah", "Sal"], LATER, texts())
    assert links.episode_uuids == ("00000000", "00000003")
    assert links.next_after is None


async def test_later_episodes_and_other_groups_are_left_out(graph: FakeGraph) -> None:
    await episodes(graph, "Sarah came.")
    assert (await find_back_links(graph, GROUP, SARAH, ["Sarah"], RECORDED, texts())).episode_uuids == ()
    assert (await find_back_links(graph, OTHER_GROUP, SARAH, ["Sarah"], LATER, texts())).episode_uuids == ()


@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 450, 1300])
async def test_batches_give_every_episode_once_in_order(graph: FakeGraph, count: int) -> None:
    made = await episodes(graph, *(f"Sarah and Sal, {n}" for n in range(count)))
    found: list[str] = []
    after = None
    for _ in range(count // 200 + 2):
        links = await find_back_links(graph, GROUP, SARAH, ["Sarah", "Sal"], LATER, texts(), after=after)
        assert len(links.episode_uuids) <= 200
        found += links.episode_uuids
        after = links.next_after
        if after is None:
            break
    assert after is None
    assert found == [episode.uuid for episode in made]


async def test_the_first_two_hundred_come_at_once_even_among_texts_that_only_look_alike(graph: FakeGraph) -> None:
    await episodes(graph, *(text for n in range(250) for text in (f"sarah {n}", f"Sarah {n}")))
    links = await find_back_links(graph, GROUP, SARAH, ["Sarah"], LATER, texts())
    assert len(links.episode_uuids) == 200
    assert links.next_after is not None


async def test_a_name_that_texts_only_look_like_does_not_hold_up_a_write(graph: FakeGraph) -> None:
    await episodes(graph, *(f"sarah {n}" for n in range(1500)))
    links = await find_back_links(graph, GROUP, SARAH, ["Sarah"], LATER, texts())
    assert links.episode_uuids == ()
    assert links.next_after == "00000999"


def test_a_batch_done_twice_gives_the_same_mention() -> None:
    first, again = back_link("e", "x", RECORDED), back_link("e", "x", LATER)
    assert first.uuid == again.uuid
    assert back_link("e", "y", RECORDED).uuid != first.uuid
