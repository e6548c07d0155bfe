"""What may explode runs in processes of its own: bounded, ended in time, and gone with the server."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import permutations

import pytest

from graphiti_pkm.capabilities.scratch.algorithms.view import View, view_of
from graphiti_pkm.capabilities.scratch.algorithms.worker import Workers
from graphiti_pkm.errors import InvalidInput, Unavailable

PATHS = "graphiti_pkm.capabilities.scratch.algorithms.walks:simple_paths"
CYCLES = "graphiti_pkm.capabilities.scratch.algorithms.walks:simple_cycles"
BETWEENNESS = "graphiti_pkm.capabilities.scratch.algorithms.analyses:betweenness"

SQUARE = view_of(range(4), [(0, 1), (0, 2), (1, 3), (2, 3)])


def complete(n: int) -> View:
    return view_of(range(n), list(permutations(range(n), 2)))


def dead_ends(n: int) -> View:
    """A complete graph, and a node behind its first one: one path leads there from the first, and no other walk."""
    return view_of(range(n + 1), [*permutations(range(n), 2), (0, n)])


@asynccontextmanager
async def workers(seconds: float = 20.0, processes: int = 2, most_bytes: int = 500_000_000) -> AsyncIterator[Workers]:
    opened = Workers(seconds, processes, most_bytes)
    try:
        yield opened
    finally:
        await opened.close()


def _numbers(opened: Workers) -> set[int]:
    return {process.pid for process in opened._all}


async def test_a_process_stays_warm_and_finds_everything() -> None:
    async with workers() as opened:
        for _ in range(3):
            outcome = await opened.run("me", PATHS, SQUARE, source=0, target=3, longest=6)
            assert (outcome.finds, outcome.ending) == ([[0, 1, 3], [0, 2, 3]], "whole")
        assert len(_numbers(opened)) == 1
        weighted = view_of([3, 5], [(3, 5), (5, 3)], [1, 2])
        assert (await opened.run("me", CYCLES, weighted, longest=None)).finds == [[0, 1]]


async def test_what_explodes_is_cut_at_a_count_or_at_the_time_limit_with_what_was_found() -> None:
    async with workers(seconds=0.5) as opened:
        counted = await opened.run("me", PATHS, complete(12), most=100, source=0, target=1, longest=11)
        assert (len(counted.finds), counted.ending) == (100, "most")
        timed = await opened.run("me", CYCLES, complete(12), longest=None)
        assert len(timed.finds) > 100
        assert timed.ending == "late"


async def test_what_finds_nothing_more_in_time_is_killed_with_what_was_found_and_the_next_job_gets_a_new_process() -> (
    None
):
    async with workers(seconds=1.0) as opened:
        killed = await opened.run("me", PATHS, dead_ends(14), source=0, target=14, longest=13)
        assert (killed.finds, killed.ending, _numbers(opened)) == ([[0, 14]], "late", set())
        again = await opened.run("me", PATHS, SQUARE, source=0, target=3, longest=6)
        assert again.ending == "whole"


async def test_the_loop_goes_on_while_a_process_computes() -> None:
    async with workers(seconds=0.5) as opened:
        job = asyncio.create_task(opened.run("me", CYCLES, complete(12), longest=None))
        turns = 0
        while not job.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 1_000


async def test_jobs_of_one_tenant_take_turns_and_other_tenants_wait_for_explosions_no_longer_than_a_job_may_take() -> (
    None
):
    async with workers(processes=1, seconds=0.4) as opened:
        jobs = [opened.run(name, CYCLES, complete(12), longest=None) for name in ("a", "a", "b", "c", "d", "e")]
        first, *others = await asyncio.gather(*jobs, return_exceptions=True)
        assert not isinstance(first, BaseException)
        assert first.ending == "late"
        assert isinstance(others[-1], Unavailable)
        assert "Analyses of others are still running" in others[-1].message
    async with workers() as opened:
        await asyncio.gather(*(opened.run("a", PATHS, SQUARE, source=0, target=3, longest=6) for _ in range(5)))
        assert len(_numbers(opened)) == 1


async def test_memory_is_bounded_and_a_process_that_had_none_left_is_replaced() -> None:
    chain = view_of(range(20_000), [(node, node + 1) for node in range(19_999)])
    async with workers(most_bytes=8_000_000) as opened:
        outcome = await opened.run("me", "graphiti_pkm.capabilities.scratch.algorithms.analyses:reduction", chain)
        assert (outcome.finds, outcome.ending, _numbers(opened)) == ([], "memory", set())
    async with workers() as opened:
        assert (
            await opened.run("me", "graphiti_pkm.capabilities.scratch.algorithms.analyses:reduction", chain)
        ).finds == [{"edges": []}]


async def test_a_job_that_fails_or_refuses_leaves_the_next_one_well() -> None:
    async with workers() as opened:
        with pytest.raises(Unavailable, match=r"failed \(TypeError\); the graph is unchanged"):
            await opened.run("me", PATHS, SQUARE, source=0, target=3, longest="6")
        with pytest.raises(Unavailable, match="ValueError"):
            await opened.run("me", "os:listdir")
        with pytest.raises(InvalidInput, match="negative"):
            await opened.run(
                "me",
                "graphiti_pkm.capabilities.scratch.algorithms.paths:cheapest_path",
                view_of([0, 1], [(0, 1)], [-1]),
                source=0,
                target=1,
            )
        (process,) = opened._all
        process.kill()
        await process.wait()
        assert (await opened.run("me", PATHS, SQUARE, source=0, target=3, longest=6)).ending == "whole"


async def test_a_call_that_is_cancelled_takes_its_process_along() -> None:
    async with workers() as opened:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await opened.run("me", CYCLES, complete(12), longest=None)
        assert not opened._all


_SERVER = """
import asyncio
from itertools import permutations
from graphiti_pkm.capabilities.scratch.algorithms.view import view_of
from graphiti_pkm.capabilities.scratch.algorithms.worker import Workers

async def main():
    workers = Workers(60)
    view = view_of(range(14), list(permutations(range(14), 2)))
    cycles = "graphiti_pkm.capabilities.scratch.algorithms.walks:simple_cycles"
    job = asyncio.create_task(workers.run("me", cycles, view, longest=None))
    other = await workers.run("you", cycles, view, most=3, longest=None)
    print(*(process.pid for process in workers._all), flush=True)
    await job

asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="asks the kernel when a process ends (Linux)")
def test_the_processes_die_with_a_server_that_is_killed_and_say_nothing_on_its_pipes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        processes = [os.pidfd_open(int(number)) for number in server.stdout.readline().split()]
        server.send_signal(signal.SIGKILL)
        assert len(processes) == 2
        for process in processes:
            assert select.select([process], [], [], 10)[0]
            os.close(process)
        assert (server.stdout.read(), server.stderr.read()) == (b"", b"")


async def test_a_job_that_finds_its_warm_process_dead_gets_a_new_one() -> None:
    async with workers() as opened:
        await opened.run("me", PATHS, SQUARE, source=0, target=3, longest=6)
        (process,) = opened._all
        process.send_signal(signal.SIGSTOP)  # it takes the job and does nothing
        job = asyncio.create_task(opened.run("me", PATHS, SQUARE, source=0, target=3, longest=6))
        while opened._idle:  # noqa: ASYNC110  (there is no event for it)
            await asyncio.sleep(0)
        process.kill()
        assert (await job).finds == [[0, 1, 3], [0, 2, 3]]
        assert _numbers(opened) != {process.pid}
