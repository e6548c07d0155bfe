"""An entity with ten thousand facts: the cursor brings each of them exactly once, also while others write."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from tests.builders import a_fact, a_mention, a_name, a_write, an_entity, an_episode, at
from tests.e2e.support import call, over_stdio

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer

pytestmark = pytest.mark.timeout(180)

GROUP = "hub"
FACTS, WRITES = 10_000, 20
HUB = an_entity("Exchange", group_id=GROUP)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A data directory with the hub, and the uuids of its facts."""
    data_dir = tmp_path_factory.mktemp("hub") / "data"
    return data_dir, asyncio.run(build(data_dir))


async def build(data_dir: Path) -> set[str]:
    """Write the hub as add_memory would, without the time the texts would take to embed."""
    written: set[str] = set()
    neighbours = [an_entity(f"House {number}", group_id=GROUP) for number in range(100)]
    async with open_memory(Settings(data_dir=data_dir)) as memory:
        committer = Committer(memory.context)
        async with memory.context.locks.hold(GROUP):
            for number in range(WRITES):
                new: list[Entity] = [HUB, *neighbours] if number == 0 else []
                episode = an_episode(
                    f"List {number} of the Exchange.", group_id=GROUP, valid_at=at(2020, 1, number + 1)
                )
                facts = [
                    a_fact(
                        *((HUB, neighbour) if each % 2 else (neighbour, HUB)),
                        f"TRADES_{number}_{each}",
                        episodes=(episode.uuid,),
                        # Few starts and some unknown ones, so that pages end between facts of the same moment.
                        valid_at=None if each % 7 == 0 else at(2020, 1, each % 3 + 1),
                        invalid_at=at(2021) if each % 5 == 0 else None,
                    )
                    for each, neighbour in zip(range(FACTS // WRITES), neighbours * 5, strict=True)
                ]
                written |= {fact.uuid for fact in facts}
                mentions = [a_mention(episode, entity) for entity in (HUB, *neighbours)]
                names = [a_name(entity) for entity in new]
                await committer.commit(a_write(episode, *new, *names, *facts, *mentions), {})
    return written


async def test_all_facts_of_a_hub_come_back_exactly_once(memory: tuple[Path, set[str]]) -> None:
    data_dir, written = memory
    assert len(written) == FACTS
    seen: Counter[str] = Counter()
    async with over_stdio(data_dir) as client:
        (hub,) = (await call(client, "search_nodes", names=["Exchange"], group_ids=GROUP, max_nodes=1))["nodes"]
        asked = {"entity_uuid": hub["uuid"], "max_connections": 200}
        page = await call(client, "get_entity_connections", **asked)
        assert page["total"] == FACTS
        assert sum(neighbour["facts"] for neighbour in page["neighbours"]) + (page["neighbours_others"] or 0) == FACTS
        # A fact written between two pages neither shifts nor repeats the older ones.
        body = {
            "episode_body": "The Exchange opened.",
            "facts": [{"source": "Exchange", "relation": "HAS_STATUS", "value": "open"}],
        }
        await call(client, "add_memory", group_id=GROUP, **body)
        seen.update(fact["uuid"] for fact in page["facts"])
        while page["next_cursor"]:
            page = await call(client, "get_entity_connections", cursor=page["next_cursor"], **asked)
            assert page["returned"] == len(page["facts"]) > 0
            seen.update(fact["uuid"] for fact in page["facts"])
    assert seen.most_common(1)[0][1] == 1
    assert set(seen) == written
