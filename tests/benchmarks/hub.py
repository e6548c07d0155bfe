"""Connections and timeline of a hub: what each layer takes, and how it grows with the hub."""

import random
from array import array
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.benchmarks.measuring import Figure, Side, Target, in_turn, ms
from tests.benchmarks.world import call, client_of, memory
from tests.builders import DAY_ONE, a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.explore.requests import GetEntityConnections, GetEntityTimeline
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Mention, Vector, Vectors

SIZES = (1_000, 10_000)
"""Facts of a hub; it has a fifth as many episodes."""
NEIGHBOURS = 500
PAGE = 40
"""Facts a page: so many fit into an answer of the usual size beside its counts."""
EPISODE_PAGE = 10
DIMENSION = 384
_BATCH = 500
ROUNDS = 30
FACTS, EPISODES = "get_entity_connections", "get_entity_timeline"
GRAPH, SERVICE, MCP = "page and total in the graph layer", "whole answer in process", "through MCP"
_SENTENCES = (
    "The morning went to the migration plan and the review of what the team had left open last week.",
    "Sleep was short, the coffee strong, and the run along the river slower than in spring.",
    "We agreed to keep the old queue until the new one has carried a full month of traffic.",
    "The budget meeting moved to Thursday because two of the people who decide were travelling.",
    "I noticed that the build was red again and that nobody had looked at it since the evening.",
)


@dataclass(frozen=True)
class Hub:
    """Its records, and the vectors of those that have one."""

    centre: Entity
    neighbours: list[Entity]
    facts: list[Fact]
    episodes: list[Episode]
    mentions: list[Mention]
    vectors: Vectors


async def figures() -> list[Figure]:
    """Both sizes stand in one memory, so that only the hub grows."""
    hubs = {size: make_hub(size) for size in SIZES}
    async with memory() as opened, client_of(opened) as client:
        for hub in hubs.values():
            await load_ours(opened, hub)
        small, big = [await in_turn(_sides(opened, client, hub), ROUNDS) for hub in hubs.values()]
    less, more = SIZES
    found = []
    for name, times in big.items():
        ours, theirs = times.p50, small[name].p50
        what = f"{name}: {more:,} facts against {less:,}"
        found.append(Figure(what, ms(ours), ms(theirs), ours / theirs, Target("<=", 2.0)))
    return found


def make_hub(size: int, name: str = "Hub", **centre_has: Any) -> Hub:
    """A hub with facts in both directions, and the episodes of 1 KB that tell them."""
    draw = random.Random(size)  # noqa: S311 the same data in every run
    group = f"hub-{size}"
    centre = an_entity(f"{name} {size}", group_id=group, **centre_has)
    neighbours = [an_entity(f"Neighbour {i} of {centre.name}", group_id=group) for i in range(NEIGHBOURS)]
    episodes = [_episode(group, i) for i in range(size // 5)]
    facts = []
    for i in range(size):
        ends = (centre, neighbours[i % NEIGHBOURS])
        source, target = ends if i % 2 else ends[::-1]
        facts.append(
            a_fact(
                source,
                target,
                "WORKS_WITH",
                text=f"{source.name} works with {target.name} on matter {i}.",
                valid_at=DAY_ONE + timedelta(hours=i),
                episodes=(episodes[i // 5].uuid,),
            )
        )
    mentions = [a_mention(episode, centre) for episode in episodes]
    uuids = [one.uuid for one in (centre, *neighbours)] + [one.uuid for one in facts]
    vectors = {uuid: _unit_vector(draw) for uuid in uuids}
    return Hub(centre, neighbours, facts, episodes, mentions, vectors)


def _episode(group: str, number: int) -> Episode:
    text = ""
    while len(text) < 1024:
        text += _SENTENCES[(number + len(text)) % len(_SENTENCES)] + " "
    return an_episode(
        text[:1024], group_id=group, name=f"Entry {number}", valid_at=DAY_ONE + timedelta(hours=5 * number)
    )


def _unit_vector(draw: random.Random) -> Vector:
    values = [draw.gauss(0, 1) for _ in range(DIMENSION)]
    length = sum(value * value for value in values) ** 0.5
    return array("f", [value / length for value in values])


async def load_ours(opened: Memory, hub: Hub) -> None:
    graph = opened.context.graph
    entities = [hub.centre, *hub.neighbours]
    await graph.writer.apply(a_write(*entities, *map(a_name, entities)), hub.vectors)
    draw = random.Random(0)  # noqa: S311 any directions do
    for i in range(0, len(hub.episodes), _BATCH):
        chosen = hub.episodes[i : i + _BATCH]
        passages = [
            a_passage(episode, span.start, span.end, paragraph=span.paragraph, sentence=span.sentence)
            for episode in chosen
            for span in split_passages(episode.content)
        ]
        vectors = {passage.uuid: _unit_vector(draw) for passage in passages}
        await graph.writer.apply(a_write(*chosen, *hub.mentions[i : i + _BATCH], *passages), vectors)
    for i in range(0, len(hub.facts), _BATCH):
        await graph.writer.apply(a_write(*hub.facts[i : i + _BATCH]), hub.vectors)


def _sides(opened: Memory, client: Any, hub: Hub) -> dict[str, Side]:
    uuid = hub.centre.uuid
    exploring = opened.services[EXPLORING]
    graph = opened.context.graph
    groups = (hub.centre.group_id,)

    async def query_facts() -> None:
        page = await graph.facts.connections(
            uuid, FactFilter(group_ids=groups, now=datetime.now(UTC)), Window(limit=PAGE)
        )
        assert (page.total, len(page.facts)) == (len(hub.facts), PAGE)

    async def query_episodes() -> None:
        page = await graph.episodes.timeline(uuid, EpisodeFilter(group_ids=groups), Window(limit=EPISODE_PAGE))
        assert (page.total, len(page.episodes)) == (len(hub.episodes), EPISODE_PAGE)

    async def our_facts() -> None:
        answer = await exploring.get_entity_connections(
            LOCAL, GetEntityConnections(entity_uuid=uuid, max_connections=PAGE)
        )
        assert (answer.total, answer.returned) == (len(hub.facts), PAGE)

    async def our_episodes() -> None:
        answer = await exploring.get_entity_timeline(
            LOCAL, GetEntityTimeline(entity_uuid=uuid, max_episodes=EPISODE_PAGE)
        )
        assert (answer.total, answer.returned) == (len(hub.episodes), EPISODE_PAGE)

    async def our_facts_by_mcp() -> None:
        answer = await call(client, "get_entity_connections", entity_uuid=uuid, max_connections=PAGE)
        assert (answer["total"], answer["returned"]) == (len(hub.facts), PAGE)

    async def our_episodes_by_mcp() -> None:
        answer = await call(client, "get_entity_timeline", entity_uuid=uuid, max_episodes=EPISODE_PAGE)
        assert (answer["total"], answer["returned"]) == (len(hub.episodes), EPISODE_PAGE)

    return {
        f"{FACTS} {GRAPH}": query_facts,
        f"{FACTS} {SERVICE}": our_facts,
        f"{FACTS} {MCP}": our_facts_by_mcp,
        f"{EPISODES} {GRAPH}": query_episodes,
        f"{EPISODES} {SERVICE}": our_episodes,
        f"{EPISODES} {MCP}": our_episodes_by_mcp,
    }
