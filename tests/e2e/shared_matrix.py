"""Every tool by a member of a shared memory, on whatever stands behind the server; made from the catalogue of tools."""

import json
from typing import Any

from mcp.client import Client
from tests.e2e.isolation_attacks import arguments_of
from tests.e2e.isolation_world import Records
from tests.e2e.support import call
from tests.protocol.support import SPECS, TOGETHER, error_of, text

from graphiti_pkm.core.model.access import TIERS, Tier

NAME = "decisions"
GROUP = f"team/{NAME}"
"""What its owner calls it, and what a member does."""
NOTE: dict[str, Any] = {
    "episode_body": "Ida decided that the river bridge is painted green.",
    "group_id": GROUP,
    "facts": [{"source": "river bridge", "relation": "HAS_COLOUR", "value": "green", "fact": "The bridge is green."}],
}
SECRETS = ("Ida", "river", "green")


async def tell(client: Client, group: str = GROUP) -> Records:
    """One note and one project; the records as a member names them."""
    told = await call(client, "add_memory", **{**NOTE, "group_id": group})
    project = await call(client, "create_project", name="Painting", group_id=group)
    uuids = (told["entities"][0]["uuid"], told["facts"][0]["uuid"], told["episode_uuid"], project["project_id"])
    return Records(GROUP, *uuids)


def naming(tool: str, records: Records) -> dict[str, Any]:
    """A call of the tool with records of the group, and with the group itself wherever it can be named."""
    arguments = arguments_of(tool, records)
    named = SPECS[tool].request.model_fields.keys() & {"group_id", "group_ids"}
    return arguments if tool == "forget" else {**arguments, **dict.fromkeys(named, records.group)}


def names_of(records: Records, arguments: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a call names the group, and whether it names a record of it."""
    sent = json.dumps(arguments)
    return records.group in sent, any(uuid in sent for uuid in records.all().values())


async def every_tool(tier: Tier, owner: Client, member: Client) -> None:
    """Call each tool that can name anything of the memory, as a member of this tier whose token is a curator's."""
    records, asked, before = await tell(owner, NAME), set(), None
    for name in sorted(TOGETHER):
        arguments = naming(name, records)
        by_group, by_uuid = names_of(records, arguments)
        if not (by_group or by_uuid):
            continue
        asked.add(name)
        is_refused = TIERS.index(SPECS[name].tier) > TIERS.index(tier)
        if is_refused and before is None:
            before = await _held(owner)
        answer = await member.call_tool(name, arguments)
        code = (answer.structured_content or {}).get("code")
        if is_refused:
            if by_group:
                assert code == "permission_denied", (name, text(answer))
                assert f"needs tier {SPECS[name].tier} in {GROUP}, and yours there is {tier}" in error_of(answer)
            else:
                assert code == "not_found", (name, text(answer))
                assert f"so it finds nothing in the shared memory team ({tier})" in error_of(answer)
            assert await _held(owner) == before, name
            continue
        assert code not in {"permission_denied", "not_allowed"}, (name, text(answer))
        is_unknown = any(uuid[:8] in text(answer) for uuid in records.all().values())
        assert code != "not_found" or not is_unknown, (name, text(answer))
        if SPECS[name].writes:
            before = None
        if SPECS[name].annotations.destructive_hint:
            preview = await call(owner, "clear_graph", group_ids=[NAME])
            await call(owner, "clear_graph", group_ids=[NAME], confirm=preview["confirm"])
            records = await tell(owner, NAME)
    assert len(asked) > 40
    assert asked.issuperset({"add_memory", "forget", "clear_graph", "commit_graph", "load_memory_graph"})


async def _held(owner: Client) -> list[Any]:
    return [
        await call(owner, "get_episodes", group_ids=NAME),
        (await call(owner, "what_changed", since="2020", group_ids=NAME, limit=100))["changes"],
        (await call(owner, "list_flagged", group_ids=NAME))["flagged"],
        await call(owner, "list_projects", group_ids=NAME),
    ]
