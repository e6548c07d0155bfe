"""A database that is away: nobody waits for it longer than is agreed, and one attempt brings it back for all."""

import asyncio

import pytest

from graphiti_pkm.storage.graph.watch import Absence


class Gone(Exception):
    """What an attempt raises."""


class Server:
    """Comes back when told to, or fails to."""

    def __init__(self) -> None:
        self.attempts = 0
        self.answers = asyncio.Event()
        self.fails = False

    async def bring_back(self) -> None:
        self.attempts += 1
        await self.answers.wait()
        if self.fails:
            raise Gone


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_callers_stop_waiting_and_the_attempt_goes_on() -> None:
    server = Server()
    absence = Absence(server.bring_back, seconds=0.01)
    absence.begin(now())
    outcomes = await asyncio.gather(*(absence.end() for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in outcomes] == [TimeoutError] * 3
    assert not absence.is_over
    server.answers.set()
    await absence.end()
    assert absence.is_over
    assert server.attempts == 1


async def test_a_failed_attempt_is_told_to_all_who_waited_and_the_next_call_tries_again() -> None:
    server = Server()
    server.fails = True
    server.answers.set()
    absence = Absence(server.bring_back, rest_seconds=0)
    absence.begin(now())
    outcomes = await asyncio.gather(*(absence.end() for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in outcomes] == [Gone] * 3
    server.fails = False
    await absence.end()
    assert (absence.is_over, server.attempts) == (True, 2)


async def test_right_after_a_failure_that_took_long_there_is_no_other_attempt() -> None:
    server = Server()
    server.fails = True
    server.answers.set()

    async def slowly() -> None:
        absence._began -= 1_000
        await server.bring_back()

    absence = Absence(slowly, rest_seconds=1_000)
    absence.begin(now())
    for _ in range(3):
        with pytest.raises(Gone):
            await absence.end()
    assert server.attempts == 1


async def test_a_call_that_began_before_the_return_makes_no_other_absence() -> None:
    server = Server()
    server.answers.set()
    absence = Absence(server.bring_back)
    began = now()
    absence.begin(began)
    await absence.end()
    absence.begin(began)
    assert absence.is_over
    absence.begin(now())
    assert not absence.is_over


async def test_an_attempt_ends_with_its_owner() -> None:
    server = Server()
    absence = Absence(server.bring_back, seconds=0.0)
    absence.begin(now())
    with pytest.raises(TimeoutError):
        await absence.end()
    waiting = asyncio.create_task(absence.end())
    await asyncio.sleep(0)
    await absence.close()
    with pytest.raises(TimeoutError):
        await waiting
