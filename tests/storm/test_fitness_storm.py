"""Ten thousand searches by twenty agents who may only read: each is counted, what fits rises, what is new is found."""

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from tests.integration.test_fitness import (
    AGENTS,
    CLOSE,
    LOOSE,
    THINGS,
    USEFUL,
    add,
    fitness,
    group_of,
    search,
)
from tests.storm.dump import dump

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(3600)

SEARCHES = 10_000
NEW = "Kafka broker"


async def test_of_ten_thousand_searches_by_twenty_readers_each_is_counted_and_only_what_fits_rises(
    tmp_path: Path,
) -> None:
    async with open_memory(Settings(data_dir=tmp_path, fitness="boost")) as memory:
        uuids = await add(memory, THINGS)
        group = await group_of(memory, uuids[USEFUL])
        known = {one: place for place, one in enumerate(uuids)}
        before, writes = dump(tmp_path), await memory.journal.counts()
        first = await search(memory, "nightly database work", AGENTS[0])
        rank_before = [node.name for node in first.nodes].index(USEFUL)
        returned = Counter(node.uuid for node in first.nodes)

        async def work(place: int) -> None:
            rng = random.Random(place)  # noqa: S311 a seed
            for turn in range(SEARCHES // len(AGENTS)):
                query = rng.choice(CLOSE) if turn % 3 == 0 else rng.choice(LOOSE)
                answer = await search(memory, query, AGENTS[place], 3)
                returned.update(node.uuid for node in answer.nodes)

        await asyncio.gather(*(work(place) for place in range(len(AGENTS))))
        await memory.usage.flush()

        # A read-only connection wrote nothing but counters, and of those every one.
        after = dump(tmp_path)
        changed = {name for name, rows in after.tables.items() if rows != before.tables.get(name)}
        assert changed <= {"usage"}
        assert await memory.journal.counts() == writes
        found = await fitness(memory, uuids, group)
        assert {name: one.hits for name, one in found.items()} == {name: returned[uuid] for name, uuid in uuids.items()}

        # What fits is above what is returned more often, in its numbers and where both are found.
        often = max((name for name in known if name != USEFUL), key=lambda name: found[name].hits)
        assert found[often].hits > found[USEFUL].hits > SEARCHES // 10
        assert found[USEFUL].final_score > found[often].final_score
        last = await search(memory, "nightly database work", AGENTS[0])
        names = [node.name for node in last.nodes]
        assert names.index(USEFUL) <= rank_before
        assert names.index(USEFUL) < names.index(often)

        # What nobody ever found is found by its own words at once, and gains by them.
        new = await add(memory, {NEW: "Passes events between the services."}, body="A new one.")
        for place in range(len(AGENTS)):
            answer = await search(memory, "broker of events", AGENTS[place], 3)
            assert new[NEW] in [node.uuid for node in answer.nodes]
        await memory.usage.flush()
        assert (await fitness(memory, new, group))[NEW].hits == len(AGENTS)
        answer = await search(memory, "broker of events", AGENTS[0], 3)
        assert answer.nodes[0].name == NEW
