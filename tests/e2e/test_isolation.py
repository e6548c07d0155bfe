"""Whoever asks for what is another's learns as much as about what does not exist: every tool, over real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from tests.e2e.isolation_world import SECRETS, VERAS, Story, arguments_of, attacks, kept, leaked, shape
from tests.e2e.support import Served, call, database_stopped, over_http, serving
from tests.protocol.support import text
from tests.requirements import requirement
from tests.scripted_model import ScriptedModel

from graphiti_pkm.toolsets.catalog import TOOLSETS

ALL = [tool.name for toolset in TOOLSETS for tool in toolset.tools]
TOOLS = sorted(ALL, key=lambda name: name in {"add_memory", "add_triplet"})
"""Last those that give an attacker groups of these names."""
ATTACKERS = ("eve", "held", "local", "new")
"""The last has nothing of its own yet."""


@dataclass(frozen=True)
class Target:
    """The server, and what is on it."""

    server: Served
    story: Story

    @asynccontextmanager
    async def as_(self, name: str, **headers: str) -> AsyncIterator[Client]:
        async with over_http(self.server.endpoint, authorization=self.story.headers[name], **headers) as client:
            yield client


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    directory = tmp_path_factory.mktemp("isolation") / "data"
    story = Story()
    story.issue(directory)
    with ScriptedModel() as model:
        settings = {
            "toolsets": ",".join(toolset.name for toolset in TOOLSETS),
            "calls_per_minute": 100_000,
            "writes_per_minute": 100_000,
            "llm_model": "scripted",
            "llm_base_url": model.url,
        }
        with serving(directory, **settings) as server:
            found = Target(server, story)
            asyncio.run(_tell(found))
            yield found
    database_stopped(directory)


async def _tell(target: Target) -> None:
    async with target.as_("vera") as client:
        await target.story.tell_hers(client)
    for attacker in ATTACKERS[:-1]:
        async with target.as_(attacker) as client:
            await target.story.tell_own(attacker, client)


@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.parametrize("tool", TOOLS)
async def test_cursors_and_confirmations_of_another_open_nothing(tool: str, attacker: str, target: Target) -> None:
    story = target.story
    hers = arguments_of(tool, story.vera)
    async with target.as_("vera") as vera, target.as_(attacker) as client:
        parameters = next(one for one in (await client.list_tools()).tools if one.name == tool).input_schema
        for parameter, given in (("cursor", "next_cursor"), ("confirm", "confirm")):
            if parameter not in parameters["properties"]:
                continue
            answer = await call(vera, tool, **hers)
            # Of one page there is none, and one of another call is all that could be sent.
            value = (
                answer.get(given) or (await call(vera, "get_episodes", group_ids=VERAS, max_episodes=1))["next_cursor"]
            )
            for arguments in (hers, arguments_of(tool, story.own[attacker])):
                sent = {**arguments, parameter: value}
                result = await client.call_tool(tool, sent)
                assert leaked(json.dumps(result.structured_content), json.dumps(sent), story) == set()
                assert result.is_error or not result.structured_content.get("returned", 0), result


@pytest.mark.parametrize("attacker", ATTACKERS)
async def test_resources_of_another_are_not_there(attacker: str, target: Target) -> None:
    async def read(client: Client, uri: str) -> str:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        return refused.value.error.message

    async with target.as_(attacker) as client:
        for kind in ("entity", "episode"):
            for uuid in target.story.vera.all().values():
                for nobodys, hers in ((str(uuid4()), uuid), (str(uuid4())[:8], uuid[:8])):
                    told = await read(client, f"pkm://{kind}/{hers}")
                    control = await read(client, f"pkm://{kind}/{nobodys}")
                    assert told.replace(hers, "X") == control.replace(nobodys, "X")


@pytest.mark.parametrize("attacker", ATTACKERS)
async def test_prompts_hold_nothing_but_what_was_sent(attacker: str, target: Target) -> None:
    async with target.as_(attacker) as client:
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "something" for argument in prompt.arguments or []}
            told = (await client.get_prompt(prompt.name, given)).model_dump_json()
            assert not [word for word in (*SECRETS, VERAS) if word in told]


async def test_a_header_that_names_her_opens_nothing(target: Target) -> None:
    async with target.as_("eve", x_user_id="vera") as client:
        for tool in TOOLS:
            result = await client.call_tool(tool, arguments_of(tool, target.story.vera))
            assert result.is_error
            assert (result.structured_content or {})["code"] == "not_allowed"


@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.parametrize("tool", TOOLS)
async def test_what_is_anothers_is_answered_like_what_is_not_there(tool: str, attacker: str, target: Target) -> None:
    story = target.story
    async with target.as_(attacker) as client:
        line = next(one for one in (await client.list_tools()).tools if one.name == tool)
        for attack in attacks(line, story.own[attacker], story.vera):
            got = await client.call_tool(tool, attack.arguments)
            control = await client.call_tool(tool, attack.control)
            told = f"{attack}\n{text(got)}\n{text(control)}"
            assert leaked(text(got), attack.sent(), story) == set(), told
            assert leaked(json.dumps(got.structured_content), attack.sent(), story) == set(), told
            assert shape(got, attack.arguments) == shape(control, attack.control), told


@requirement("C41")
async def test_after_all_of_it_her_memory_is_as_it_was(target: Target) -> None:
    """The last one: whatever the others did, nothing of hers went, came or changed."""
    async with target.as_("vera") as client:
        found = await kept(client)
        assert found == target.story.before
        assert found["episodes"]["total"] == 3
        assert len(found["changes"]) >= 3
