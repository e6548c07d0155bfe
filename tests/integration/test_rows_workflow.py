"""Searching first makes a better memory: the same notes told with and without it, in three domains.

The model is scripted. What it understands is written down, namely which spellings mean the same thing; which of them
the memory already uses it can learn only from the tools. Each note names its things as people do: a little
differently each time.
"""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from tests.integration.rows_support import World, a_world, in_one_task

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


class Note(NamedTuple):
    """What was said, and the one fact that a model reads in it; ends are spelled as in the text."""

    body: str
    source: str
    relation: str
    target: str


class Domain(NamedTuple):
    """Notes in order, and which spellings mean the same thing."""

    same: tuple[frozenset[str], ...]
    notes: tuple[Note, ...]

    def thing(self, name: str) -> frozenset[str]:
        """All spellings of what is called so."""
        return next((spellings for spellings in self.same if name in spellings), frozenset({name}))


DOMAINS = {
    "technical": Domain(
        same=(
            frozenset({"PostgreSQL", "Postgres", "the Postgres database"}),
            frozenset({"Kubernetes", "Kubernetes cluster", "the cluster on Kubernetes"}),
            frozenset({"payment service", "payments backend", "service for payments"}),
        ),
        notes=(
            Note("The payment service stores its ledger in PostgreSQL.", "payment service", "USES", "PostgreSQL"),
            Note("We run the payment service on Kubernetes.", "payment service", "RUNS_ON", "Kubernetes"),
            Note("The payments backend needs Postgres 16.", "payments backend", "DEPENDS_ON", "Postgres"),
            Note(
                "Backups of the Postgres database go to the Kubernetes cluster.",
                *("the Postgres database", "BACKED_UP_TO", "Kubernetes cluster"),
            ),
            Note(
                "The service for payments outgrew the cluster on Kubernetes.",
                *("service for payments", "OUTGREW", "the cluster on Kubernetes"),
            ),
        ),
    ),
    "project": Domain(
        same=(
            frozenset({"Heron migration", "migration to Heron", "Heron move"}),
            frozenset({"Anna Schmidt", "Anna", "Ms Schmidt"}),
            frozenset({"budget committee", "committee for the budget", "budget board"}),
        ),
        notes=(
            Note("Anna Schmidt leads the Heron migration.", "Anna Schmidt", "LEADS", "Heron migration"),
            Note("The budget committee approved it.", "budget committee", "APPROVED", "Heron migration"),
            Note("Anna reports to the budget board each month.", "Anna", "REPORTS_TO", "budget board"),
            Note("The migration to Heron slipped by two weeks.", "migration to Heron", "HAS_STATUS", "late"),
            Note(
                "Ms Schmidt asked the committee for the budget for more.",
                *("Ms Schmidt", "ASKED", "committee for the budget"),
            ),
            Note("The Heron move ends in May.", "Heron move", "HAS_DEADLINE", "May"),
        ),
    ),
    "coaching": Domain(
        same=(
            frozenset({"work stress", "stress at work", "stress"}),
            frozenset({"evening run", "run in the evening", "running in the evenings"}),
            frozenset({"trouble sleeping", "bad sleep", "sleep problems"}),
        ),
        notes=(
            Note("Work stress keeps me awake.", "work stress", "CAUSES", "trouble sleeping"),
            Note("The evening run helps against work stress.", "evening run", "HELPS_AGAINST", "work stress"),
            Note("Stress at work again, and bad sleep.", "stress at work", "CAUSES", "bad sleep"),
            Note("A run in the evening, and the stress was gone.", "run in the evening", "HELPS_AGAINST", "stress"),
            Note(
                "Since running in the evenings the sleep problems got rare.",
                *("running in the evenings", "HELPS_AGAINST", "sleep problems"),
            ),
        ),
    ),
}


OTHERS = (
    "MySQL", "Redis", "invoice service", "search index", "user service", "Terraform", "message queue", "data lake",
    "load balancer", "release train", "Osprey migration", "steering group", "Anton Schmitt", "Hanna", "Mr Schulz",
    "travel budget", "board meeting", "quarterly review", "morning walk", "swimming", "deep work", "headaches",
    "sleep", "work", "evening", "coffee", "deadline pressure", "weekend", "meditation", "diary",
)  # fmt: skip
"""Neighbours in words and meaning that fill each memory before, so that a search has something to get wrong."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as world:
        yield world


async def fill(world: World, group: str) -> None:
    entities = [{"name": name} for name in OTHERS]
    await world.call("add_memory", episode_body="What else there is.", group_id=group, entities=entities)


async def tell_alone(world: World, domain: Domain, group: str) -> None:
    """Each note as it comes, under the words it uses."""
    for note in domain.notes:
        await tell(world, note, note.source, note.target, group)


async def search_then_tell(world: World, domain: Domain, group: str) -> None:
    """As the instructions say: search the names, then write with the names that were found."""
    for note in domain.notes:
        source = await known_as(world, domain, note.source, group)
        target = await known_as(world, domain, note.target, group)
        await tell(world, note, source, target, group)


async def known_as(world: World, domain: Domain, name: str, group: str) -> str:
    """What the memory calls this, else the name itself; the model reads no further than the first hits."""
    found = await world.call("search_nodes", names=[name], query=name, group_ids=group, max_nodes=5)
    return next((str(node["name"]) for node in found["nodes"] if node["name"] in domain.thing(name)), name)


async def tell(world: World, note: Note, source: str, target: str, group: str) -> None:
    fact = {"source": source, "relation": note.relation, "target": target, "fact": note.body}
    entities = [{"name": name} for name in (source, target)]
    await world.call("add_memory", episode_body=note.body, group_id=group, entities=entities, facts=[fact])


async def nodes_of(world: World, domain: Domain, group: str) -> list[dict[str, Any]]:
    """The entities that came of it, by every name they could have."""
    names = sorted(spelling for note in domain.notes for end in (note.source, note.target) for spelling in {end})
    found = await world.call("search_nodes", names=list(dict.fromkeys(names)), group_ids=group, max_nodes=50)
    return list(found["nodes"])


def duplicates(domain: Domain, nodes: list[dict[str, Any]]) -> int:
    """Entities beyond the first of each thing."""
    return sum(count - 1 for count in Counter(domain.thing(node["name"]) for node in nodes).values())


@pytest.mark.parametrize("name", sorted(DOMAINS))
async def test_searching_first_leaves_no_duplicates_where_telling_alone_does(world: World, name: str) -> None:
    domain = DOMAINS[name]
    await fill(world, f"{name}-alone")
    await tell_alone(world, domain, f"{name}-alone")
    await fill(world, f"{name}-searched")
    await search_then_tell(world, domain, f"{name}-searched")
    without = duplicates(domain, await nodes_of(world, domain, f"{name}-alone"))
    with_search = duplicates(domain, await nodes_of(world, domain, f"{name}-searched"))
    assert (without >= len(domain.same), with_search) == (True, 0), f"{without} without, {with_search} with"


@pytest.mark.parametrize("name", sorted(DOMAINS))
async def test_what_is_known_of_a_thing_is_then_in_one_place_and_in_order(world: World, name: str) -> None:
    domain, group = DOMAINS[name], f"{name}-complete"
    await fill(world, group)
    await search_then_tell(world, domain, group)
    for thing in domain.same:
        about = [note.body for note in domain.notes if {note.source, note.target} & thing]
        (node,) = [node for node in await nodes_of(world, domain, group) if node["name"] in thing]
        facts = await world.call("get_entity_connections", entity_uuid=node["uuid"], max_connections=200)
        timeline = await world.call("get_entity_timeline", entity_uuid=node["uuid"], max_episodes=100)
        assert sorted(fact["fact"] for fact in facts["facts"]) == sorted(about)
        assert [one["content"] for one in timeline["episodes"] if one["content"] in about] == about
        assert not facts["truncated"]
