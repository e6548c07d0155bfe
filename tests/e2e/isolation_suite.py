"""Whoever asks for what is another's learns as much as about what does not exist: every tool, over a real connection.

``test_isolation_*.py`` run this suite against one server each, so that processes which test side by side share them
out. Each of them has a fixture ``target`` of its own. What is the same on every server, whoever reaches it and
whichever database stands behind it, belongs in ``test_isolation_doors.py`` or a file of its own.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar
from urllib.parse import quote
from uuid import uuid4

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from tests.e2e.isolation_attacks import HARMLESS, Attack, Attacks, arguments_of, leaked, shape
from tests.e2e.isolation_scratch import HERS, MEMORY, NOBODYS, SCRATCH, draw_own
from tests.e2e.isolation_target import ADDING, TOOLS, Target
from tests.e2e.isolation_world import HER_ENTITY, HER_PROJECT, SECRETS, VERAS, kept
from tests.e2e.support import call
from tests.protocol.support import BESIDE, text

from graphiti_pkm.server.tools.resources import CHANGES_ADDRESS, CHANGES_OF_GROUP

ANSWERS_HAND_OUT = {"cursor": "next_cursor", "confirm": "confirm"}
"""Parameters that take what an earlier answer gave, and where that answer has it."""
REFUSES_ONE = {"merge_entities"}
"""Tools that answer nothing to who has one entity."""
TAKES = {tool.name: tool.request.model_fields.keys() for toolset in BESIDE for tool in toolset.tools}
"""The parameters of each tool."""
OF_THE_DATABASE = [tool for tool in TOOLS if tool not in SCRATCH - MEMORY]
"""Without the tools to which it is all the same what the database is."""


class Isolation:
    """The tests; the last one sees whether all the others changed anything."""

    attackers: ClassVar[Sequence[str]] = ("eve",)
    tools: ClassVar[Sequence[str]] = OF_THE_DATABASE
    attacks: ClassVar[Callable[[Attacks], Iterator[Attack]]] = Attacks.all
    """How much is tried of what may be tried."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """A test with an attacker is for each of them, one with a tool for each tool that has something to attack.

        Where all is tried, the others are among them as well: a parameter that is new must not go unseen.
        """
        if "tool" in metafunc.fixturenames:
            if metafunc.function.__name__ == "test_cursors_and_confirmations_of_another_open_nothing":
                tools = [tool for tool in self.tools if TAKES[tool] & ANSWERS_HAND_OUT.keys()]
            else:
                tools = [tool for tool in self.tools if TAKES[tool] - HARMLESS or type(self).attacks is Attacks.all]
            metafunc.parametrize(("attacker", "tool"), [(who, tool) for who in self.attackers for tool in tools])
        elif "attacker" in metafunc.fixturenames:
            metafunc.parametrize("attacker", self.attackers)

    async def test_cursors_and_confirmations_of_another_open_nothing(
        self, tool: str, attacker: str, target: Target
    ) -> None:
        story = target.story
        hers = arguments_of(tool, story.vera)
        async with target.as_("vera") as vera, target.as_(attacker) as client:
            for parameter in TAKES[tool] & ANSWERS_HAND_OUT.keys():
                answer = {} if tool in REFUSES_ONE else await call(vera, tool, **hers)
                # Of one page there is none, and one of another call is all that could be sent.
                value = (
                    answer.get(ANSWERS_HAND_OUT[parameter])
                    or (await call(vera, "get_episodes", group_ids=VERAS, max_episodes=1))["next_cursor"]
                )
                made_up = value[::-1]
                for arguments in (hers, arguments_of(tool, story.own[attacker])):
                    sent = {**arguments, parameter: value}
                    attack = Attack(sent, {**arguments, parameter: made_up}, ((value, made_up),))
                    result = await client.call_tool(tool, sent)
                    assert leaked(json.dumps(result.structured_content), json.dumps(sent), story) == set()
                    assert result.is_error or not result.structured_content.get("returned", 0), result
                    assert operator.eq(*attack.differences(result, await client.call_tool(tool, attack.control)))

    async def test_resources_of_another_are_not_there(self, attacker: str, target: Target) -> None:
        """Whichever resources there are: all are templates of which each place takes a uuid, or a scratch graph."""

        async def read(client: Client, uri: str) -> str:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            return refused.value.error.model_dump_json()

        async with target.as_(attacker) as client:
            assert (await client.list_resources()).resources == []
            templates = (await client.list_resource_templates()).resource_templates
            addresses = [one.uri_template for one in templates]
            pictures = [one for one in addresses if one.startswith("pkm://scratch/")]
            assert {one.partition("{?")[0] for one in pictures} >= {"pkm://scratch/{graph}.svg"}
            for picture in pictures:
                hers, nobodys = (picture.replace("{graph}", quote(name)) for name in (HERS, NOBODYS))
                for asked in ("", "?nodes=Ilse%20Quark", "?relation=MET", "?rank=5&reduce=true"):
                    answers = [
                        (await read(client, one.partition("{?")[0] + asked))
                        .replace(quote(name), "X")
                        .replace(name, "X")
                        for one, name in ((hers, HERS), (nobodys, NOBODYS))
                    ]
                    assert answers[0] == answers[1]
            assert len(addresses) - len(pictures) >= 2
            addresses.remove(CHANGES_OF_GROUP)
            hers, nobodys = [await read(client, f"{CHANGES_ADDRESS}?group={one}/default") for one in ("vera", "nora")]
            assert hers.replace("vera/default", "nora/default") == nobodys
            for template in (one for one in addresses if one not in pictures):
                assert set(re.findall(r"{(.*?)}", template)) == {"uuid"}
                for uuid in target.story.vera.all().values():
                    nobodys = str(uuid4())
                    for cut in (len(uuid), 8):
                        told = await read(client, template.replace("{uuid}", uuid[:cut]))
                        control = await read(client, template.replace("{uuid}", nobodys[:cut]))
                        assert told.replace(uuid[:cut], "X") == control.replace(nobodys[:cut], "X")

    async def test_prompts_hold_nothing_but_what_was_sent(self, attacker: str, target: Target) -> None:
        async with target.as_(attacker) as client:
            for prompt in (await client.list_prompts()).prompts:
                given = {argument.name: "something" for argument in prompt.arguments or []}
                told = (await client.get_prompt(prompt.name, given)).model_dump_json()
                assert not [word for word in (*SECRETS, VERAS) if word in told]

    async def test_nothing_of_another_is_completed(self, attacker: str, target: Target) -> None:
        """Every place of a template takes a uuid, and every argument of a prompt may be a name."""

        async def offered(client: Client) -> tuple[list[str], list[str]]:
            """To the beginnings of what is hers, and to nothing at all."""
            starts = [uuid[:cut] for uuid in target.story.vera.all().values() for cut in (8, len(uuid))]
            starts += [word[:cut] for word in (*SECRETS, HER_ENTITY, HER_PROJECT) for cut in (3, len(word))]
            places: list[tuple[Any, str]] = [
                (ResourceTemplateReference(uri=one.uri_template), "uuid")
                for one in (await client.list_resource_templates()).resource_templates
            ]
            places += [
                (PromptReference(name=one.name), argument.name)
                for one in (await client.list_prompts()).prompts
                for argument in one.arguments or []
            ]
            found = {
                start: [
                    value
                    for reference, name in places
                    for value in (await client.complete(reference, {"name": name, "value": start})).completion.values
                ]
                for start in ("", *starts)
            }
            return [value for start in starts for value in found[start]], found[""]

        async with target.as_("vera") as vera:
            hers, all_of_hers = await offered(vera)
            assert HER_ENTITY in hers
            assert target.story.vera.entity in hers
            assert target.story.vera.episode in all_of_hers
        async with target.as_(attacker) as client:
            to_her_words, to_nothing = await offered(client)
            assert to_her_words == []
            assert not set(to_nothing) & {*hers, *target.story.vera.all().values()}
            assert not [word for word in (*SECRETS, HER_PROJECT) if word in " ".join(to_nothing)]

    async def test_a_header_that_names_her_opens_nothing(self, target: Target) -> None:
        async with target.as_("eve", x_user_id="vera") as client:
            for tool in TOOLS:
                result = await client.call_tool(tool, arguments_of(tool, target.story.vera))
                assert result.is_error
                assert (result.structured_content or {})["code"] == "not_allowed"

    async def test_what_is_anothers_is_answered_like_what_is_not_there(
        self, tool: str, attacker: str, target: Target
    ) -> None:
        story = target.story
        async with target.as_(attacker) as client:
            line = next(one for one in (await client.list_tools()).tools if one.name == tool)
            if tool in ADDING:  # the first write into a memory is answered otherwise than the second
                await story.tell_own(attacker, client)
            draws = tool in SCRATCH and not line.annotations.read_only_hint
            for attack in type(self).attacks(Attacks(line, story.own[attacker], story.vera)):
                if draws:
                    await draw_own(client)
                got = await client.call_tool(tool, attack.arguments)
                if draws:
                    await draw_own(client)
                control = await client.call_tool(tool, attack.control)
                told = f"{attack}\n{text(got)}\n{text(control)}"
                assert leaked(text(got), attack.sent(), story) == set(), told
                assert leaked(json.dumps(got.structured_content), attack.sent(), story) == set(), told
                if line.annotations.read_only_hint or got.is_error or control.is_error:
                    assert operator.eq(*attack.differences(got, control)), told
                else:  # a write of the attacker's own, with a uuid of its own
                    assert shape(got, attack.arguments) == shape(control, attack.control), told
            if draws:
                await draw_own(client)

    async def test_after_all_of_it_her_memory_is_as_it_was(self, target: Target) -> None:
        """The last one: whatever the others did, nothing of hers went, came or changed."""
        async with target.as_("vera") as client:
            found = await kept(client)
            assert found == target.story.before
            assert found["episodes"]["total"] == 5
            assert len(found["changes"]) >= 3
