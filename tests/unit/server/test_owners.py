"""Calls that one worker hands to another: to the right one, with its answer, through what may happen meanwhile."""

import asyncio
import stat
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_types import CallToolResult, TextContent

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.server.owners import Owners, PassedOn, owner_of, owners

WORKERS = 3
CALLERS = [Caller(principal=f"person{n}", groups=("work",) * (n % 2), tier="contributor") for n in range(30)]


def _told(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content={"text": text})


class _Worker:
    """Answers with what it was asked and which it is."""

    def __init__(self, all_of_them: Owners, slot: int) -> None:
        self.owners = replace(all_of_them, slot=slot)
        self.answered: list[PassedOn] = []

    async def answer(self, call: PassedOn) -> CallToolResult:
        self.answered.append(call)
        return _told(f"{self.owners.slot} {call.caller.principal} {call.arguments}")


async def test_every_call_is_answered_by_the_owner_whoever_is_asked() -> None:
    with owners(WORKERS, ["add_node"]) as all_of_them:
        workers = [_Worker(all_of_them, slot) for slot in range(WORKERS)]
        async with AsyncExitStack() as stack:
            for worker in workers:
                await stack.enter_async_context(worker.owners.serving(worker.answer))
            for caller in CALLERS:
                owner = owner_of(caller.visibility, WORKERS)
                for worker in workers:
                    arguments = {"label": "é" * 100_000, "worker": worker.owners.slot}
                    found = await worker.owners.pass_on("add_node", caller, arguments)
                    if worker.owners.slot == owner:
                        assert found is None
                    else:
                        assert found == _told(f"{owner} {caller.principal} {arguments}")
                        assert workers[owner].answered[-1].caller == caller
                    assert await worker.owners.pass_on("add_memory", caller, arguments) is None


def test_people_are_spread_over_the_workers_and_a_token_held_to_groups_is_another() -> None:
    spread = Counter(owner_of((f"person{n}",), WORKERS) for n in range(300))
    assert min(spread.values()) > 70
    assert len({owner_of(("anna", *groups), 1000) for groups in ((), ("work",), ("home",))}) == 3


def test_sockets_are_out_of_reach_for_others_and_gone_in_the_end() -> None:
    with owners(WORKERS, ["add_node"]) as all_of_them:
        directory = Path(all_of_them.listening[0].getsockname()).parent
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert not directory.exists()


async def test_a_worker_that_is_started_again_takes_the_calls_that_came_meanwhile() -> None:
    with owners(WORKERS, ["add_node"]) as all_of_them:
        caller = CALLERS[0]
        owner = _Worker(all_of_them, owner_of(caller.visibility, WORKERS))
        other = replace(all_of_them, slot=(owner.owners.slot + 1) % WORKERS)
        for generation in range(3):
            waiting = asyncio.create_task(other.pass_on("add_node", caller, {"generation": generation}))
            async with owner.owners.serving(owner.answer):
                found = await waiting
            assert found is not None
            assert str(generation) in str(found.structured_content)


async def test_an_owner_that_is_silent_is_not_waited_for_and_nothing_was_done() -> None:
    with owners(WORKERS, ["add_node"]) as all_of_them:
        caller = CALLERS[0]
        owner = _Worker(all_of_them, owner_of(caller.visibility, WORKERS))
        other = replace(all_of_them, slot=(owner.owners.slot + 1) % WORKERS, patience=0.05)
        with pytest.raises(Unavailable, match="Nothing was done"):
            await other.pass_on("add_node", caller, {})
        async with owner.owners.serving(owner.answer):
            assert await replace(other, patience=40.0).pass_on("add_node", caller, {}) is not None
        assert len(owner.answered) == 1


async def test_an_owner_that_ends_during_a_call_is_said_to_have_lost_the_graphs() -> None:
    async def die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"+")
        await reader.readexactly(8)
        writer.close()

    with owners(WORKERS, ["add_node"]) as all_of_them:
        caller = CALLERS[0]
        owner = owner_of(caller.visibility, WORKERS)
        async with await asyncio.start_server(die, sock=all_of_them.listening[owner].dup()):
            with pytest.raises(Unavailable, match="gone with it"):
                await replace(all_of_them, slot=(owner + 1) % WORKERS).pass_on("add_node", caller, {})


async def test_a_call_that_its_client_cancels_is_cancelled_at_the_owner() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def answer(_: PassedOn) -> CallToolResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return _told("never")

    with owners(WORKERS, ["add_node"]) as all_of_them:
        caller = CALLERS[0]
        owner = owner_of(caller.visibility, WORKERS)
        async with replace(all_of_them, slot=owner).serving(answer):
            call = asyncio.create_task(replace(all_of_them, slot=(owner + 1) % WORKERS).pass_on("add_node", caller, {}))
            await begun.wait()
            call.cancel()
            await asyncio.wait_for(cancelled.wait(), 30)


def test_a_temporary_directory_that_is_too_deep_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(ConfigurationError, match="TMPDIR"), owners(WORKERS, ["add_node"]):
        pass
    assert not list(deep.iterdir())
