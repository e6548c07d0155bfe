"""Two hubs that are merged and parted again, and what calls of another group take meanwhile."""

import asyncio
from time import perf_counter

from tests.benchmarks.hub import Hub, load_ours, make_hub
from tests.benchmarks.measuring import Figure, Side, Target, Times, ms
from tests.benchmarks.world import call, client_of, memory

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.curation.requests import FlagForReview, MergeEntities, UnmergeEntities
from graphiti_pkm.capabilities.curation.tools import MERGING, REVIEWS, UNMERGING
from graphiti_pkm.core.model.access import LOCAL

LARGE, SMALL, OTHER = 10_000, 1_000, 500
CALLS = 60
"""Of each kind, before and at least as many meanwhile."""
_SUMMARY = "Where the notes of everything that was done come together."


async def figures(*, quick: bool = False) -> list[Figure]:
    """The hubs are in one group, the calls in another."""
    size = SMALL if quick else LARGE
    kept, removed = (make_hub(size, name, label="Place", summary=_SUMMARY) for name in ("Hub", "The Hub"))
    other = make_hub(OTHER)
    async with memory() as opened, client_of(opened) as client:
        for hub in (kept, removed, other):
            await load_ours(opened, hub)
        flag = FlagForReview(entity_uuid=kept.centre.uuid, reason="One place?")
        await opened.services[REVIEWS].flag_for_review(LOCAL, flag)
        number = 0

        async def read() -> None:
            await call(client, "get_entity_connections", entity_uuid=other.centre.uuid, max_connections=50)

        async def write() -> None:
            nonlocal number
            number += 1
            body = f"Note {number} tells nothing of either."
            await call(client, "add_memory", episode_body=body, group_id=other.centre.group_id)

        before = {name: await _timed(side) for name, side in (("read", read), ("write", write))}
        taken: dict[str, list[float]] = {"merge": [], "unmerge": []}
        meanwhile: dict[str, list[float]] = {"read": [], "write": []}
        while min(map(len, meanwhile.values())) < CALLS:
            for name, deed in (("merge", _merge), ("unmerge", _unmerge)):
                begun = perf_counter()
                task = asyncio.create_task(deed(opened, kept, removed))
                while not task.done():
                    for kind, side in (("read", read), ("write", write)):
                        meanwhile[kind].append(await _milliseconds(side))
                await task
                taken[name].append(1000 * (perf_counter() - begun))
        return _figures(size, taken, before, meanwhile)


def _figures(
    size: int, taken: dict[str, list[float]], before: dict[str, Times], meanwhile: dict[str, list[float]]
) -> list[Figure]:
    found = [
        Figure(
            f"{name}_entities, each of {size:,} facts, with other calls beside it",
            ms(Times(tuple(times)).p50),
            f"{Times(tuple(times)).p50 / size:.2f} ms a fact",
        )
        for name, times in taken.items()
    ]
    for kind, tool in (("read", "get_entity_connections"), ("write", "add_memory")):
        now, then = Times(tuple(meanwhile[kind])).p50, before[kind].p50
        what = f"{tool} of another group during that, against before it, median of {len(meanwhile[kind])}"
        found.append(Figure(what, ms(now), ms(then), now / then, Target("<=", 1.1)))
    return found


async def _timed(side: Side) -> Times:
    for _ in range(3):
        await side()
    return Times(tuple([await _milliseconds(side) for _ in range(CALLS)]))


async def _milliseconds(side: Side) -> float:
    begun = perf_counter()
    await side()
    return 1000 * (perf_counter() - begun)


async def _merge(opened: Memory, kept: Hub, removed: Hub) -> None:
    asked = {"keep_uuid": kept.centre.uuid, "remove_uuid": removed.centre.uuid, "reason": "One place."}
    service = opened.services[MERGING]
    preview = await service.merge_entities(LOCAL, MergeEntities.model_validate(asked))
    done = await service.merge_entities(LOCAL, MergeEntities.model_validate({**asked, "confirm": preview.confirm}))
    assert done.facts_moved + (done.facts_joined or 0) + (done.facts_dropped or 0) == len(removed.facts)


async def _unmerge(opened: Memory, _kept: Hub, removed: Hub) -> None:
    request = UnmergeEntities(remove_uuid=removed.centre.uuid, reason="Two places.")
    done = await opened.services[UNMERGING].unmerge_entities(LOCAL, request)
    assert done.facts_moved == len(removed.facts)
