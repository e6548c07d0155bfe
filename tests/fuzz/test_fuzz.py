"""Seeded calls of every tool: no internal error, no secret, no lost write, and a server that still answers."""

import json
import logging
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp_types import PARSE_ERROR
from tests.e2e.isolation_attacks import arguments_of
from tests.e2e.isolation_world import Records
from tests.fuzz.arguments import Arguments, Json, is_uuid
from tests.protocol.access import Doors
from tests.protocol.support import EVERYTHING, TOGETHER, definitions
from tests.protocol.test_odd_requests import CALLERS_FAULT, Wire, wire

from graphiti_pkm.errors import codes

TOOLS = sorted(TOGETHER)
SEED = 20_261_122
ROUNDS, STORM_ROUNDS = 3, 40
"""Calls of each tool in each era of the protocol."""
CANARY = "canary-7f3a9c"
LEAKS = re.compile(rf'{CANARY}|Traceback|File \\?"/|graphiti_pkm/|site-packages|\bpydantic|0x[0-9a-f]{{9,}}')
DESTRUCTIVE = {"delete_episode", "forget", "clear_graph"}
CODES = codes() | {"unknown_tool"}
MUCH = 10**6


@dataclass
class Oracle:
    """What every answer is held to."""

    wire: Wire
    secrets: list[str]
    seed: int
    faults: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    """Episodes that were acknowledged and not deleted since."""

    async def call(self, tool: str, arguments: Json) -> Json:
        """The structured answer; empty for an error of the protocol."""
        answer = await self.wire.ask("tools/call", {"name": tool, "arguments": arguments})
        said = json.dumps(answer, ensure_ascii=False)
        if (leak := LEAKS.search(said)) or any(secret in said for secret in self.secrets):
            self._fault("leak of " + (leak[0] if leak else "a secret"), tool, arguments, said)
        if "error" in answer:
            if answer["error"]["code"] not in CALLERS_FAULT | {PARSE_ERROR}:  # half a surrogate pair
                self._fault("protocol error", tool, arguments, said)
            return {}
        structured: Json = answer["result"].get("structuredContent") or {}
        if answer["result"].get("isError") and structured.get("code") not in CODES - {"internal"}:
            self._fault("unexpected error", tool, arguments, said)
        self._keep(tool, structured)
        return structured

    def _keep(self, tool: str, answer: Json) -> None:
        if tool in DESTRUCTIVE and "code" not in answer:
            self.kept.clear()
        uuid = answer.get("episode_uuid")
        if tool == "add_memory" and answer.get("status") == "stored" and isinstance(uuid, str):
            self.kept.add(uuid)

    async def all_are_kept(self) -> None:
        for uuid in sorted(self.kept):
            found = await self.wire.ask(
                "tools/call", {"name": "get_episode_entities", "arguments": {"episode_uuids": [uuid]}}
            )
            if "result" not in found or found["result"]["structuredContent"].get("unknown_episodes"):
                self._fault("lost write", "add_memory", {"uuid": uuid}, json.dumps(found))

    def _fault(self, what: str, tool: str, arguments: Json, said: str) -> None:
        self.faults.append(f"{what} (seed {self.seed}): {tool} {json.dumps(arguments)[:600]}\n  {said[:600]}")


async def fuzz(era: str, seed: int, rounds: int, doors: Doors, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The faults that were found."""
    caplog.set_level(logging.INFO)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    tools = {tool.name: tool for tool in await definitions(EVERYTHING)}
    made, ben = Arguments(seed), doors.add("ben")
    async with wire(doors, era, calls_per_minute=MUCH, writes_per_minute=MUCH) as found:
        await records(found.of(ben), CANARY)
        own = await records(found, "Heron")
        oracle = Oracle(found, [ben["Authorization"].split()[1], str(doors.path.parent)], seed)
        order = [name for _ in range(rounds) for name in TOOLS]
        random.Random(seed).shuffle(order)  # noqa: S311
        for name in order:
            for text in learnt(await oracle.call(name, made.call(tools[name], arguments_of(name, own)))):
                made.learn(text)
        await oracle.all_are_kept()
        if (await oracle.call("get_status", {})).get("status") not in ("ok", "degraded"):
            oracle.faults.append(f"the server does not answer (seed {seed})")
    logged = [line for line in caplog.records if line.exc_info or "Traceback" in line.getMessage()]
    return oracle.faults + [f"logged (seed {seed}): {line.getMessage()[:200]} {line.exc_info}" for line in logged]


async def records(found: Wire, word: str) -> Records:
    """What a principal has, before anything else is called."""
    facts = [{"source": word, "relation": "KNOWS", "target": f"Tom {word}"}]
    arguments = {"episode_body": f"{word} knows Tom {word}.", "facts": facts}
    answer = await found.ask("tools/call", {"name": "add_memory", "arguments": arguments})
    told = answer["result"]["structuredContent"]
    return Records("default", told["entities"][0]["uuid"], told["facts"][0]["uuid"], told["episode_uuid"])


def learnt(answer: object) -> Iterator[str]:
    """What another call may send back: uuids, cursors, tokens of confirmation."""
    if isinstance(answer, dict):
        for key, value in answer.items():
            if isinstance(value, str) and (is_uuid(value) or key in ("next_cursor", "confirm", "receipt")):
                yield value
            else:
                yield from learnt(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from learnt(value)


@pytest.mark.parametrize("era", ["older", "newer"])
async def test_whatever_is_sent_is_answered_and_nothing_leaks(
    era: str, doors: Doors, caplog: pytest.LogCaptureFixture
) -> None:
    faults = await fuzz(era, SEED, ROUNDS, doors, caplog)
    assert not faults, "\n".join(faults[:20])


@pytest.mark.storm
@pytest.mark.parametrize("era", ["older", "newer"])
async def test_thousands_of_calls_with_another_seed_each_time(
    era: str, doors: Doors, caplog: pytest.LogCaptureFixture
) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # noqa: T201  (the only trace of a storm that is killed)
    faults = await fuzz(era, seed, STORM_ROUNDS, doors, caplog)
    assert not faults, "\n".join(faults[:20])


async def test_the_oracles_see_each_kind_of_fault(doors: Doors) -> None:
    class Broken(Wire):
        def __init__(self, answer: Json) -> None:
            self.answer = answer

        async def ask(self, method: str, params: Any) -> Json:  # noqa: ARG002  (as a Wire's)
            return self.answer

    def result(**content: Any) -> Json:
        return {"result": {"structuredContent": content, "isError": "code" in content}}

    for answer in (
        result(message=f"Found {CANARY}."),
        result(message="Traceback (most recent call last)"),
        result(message=f"in {doors.path.parent}"),
        result(code="internal", error="An unexpected error."),
        {"error": {"code": 0, "message": "x"}},
        result(status="stored", episode_uuid="1", unknown_episodes=["1"]),
    ):
        oracle = Oracle(Broken(answer), [str(doors.path.parent)], SEED)
        await oracle.call("add_memory", {})
        await oracle.all_are_kept()
        assert len(oracle.faults) == 1, answer
