"""Two users of one service, named in X-User-ID as LibreChat names them, keep decisions in one memory, by HTTP."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp.client import Client
from tests.e2e.shared_matrix import GROUP, every_tool
from tests.e2e.support import CALL_SECONDS, Served, call, over_http, over_stdio, run, serving
from tests.neo4j_server import Neo4jAddress, empty
from tests.protocol.support import BESIDE, error_of, text

from graphiti_pkm.core.model.access import TIERS, Tier, Token
from graphiti_pkm.server.auth.grants import Grant, write_grants
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

ANNA, BEN, CARL = "65f0c2d19b1e8a0012345678", "65f0c2d19b1e8a0087654321", "65f0c2d19b1e8a0011112222"
DIARY = {ANNA: "I met Bello in Zanzibar.", BEN: "I saw Mimi in Quarkstadt."}
DECISION = {ANNA: "Postgres keeps the orders.", BEN: "Redis keeps the baskets."}


@dataclass(frozen=True)
class Service:
    """The server, the token of the service, and the list of members."""

    served: Served
    secret: str
    members: Path
    data: Path

    @asynccontextmanager
    async def user(self, user: str) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {self.secret}", "x_user_id": user}
        async with over_http(self.served.endpoint, **headers) as client:
            yield client


def listed(members: Path, *users: str) -> None:
    members.write_text("".join(f"{user}\n" for user in users))
    members.chmod(0o600)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    data, secret, members = tmp_path / "data", new_secret(), tmp_path / "members.txt"
    token = {"hash": hash_of(secret), "principal": "librechat", "tier": "curator", "may_impersonate": True}
    write_tokens(data / "tokens.json", [Token.model_validate({**token, "created": datetime.now(UTC)})])
    listed(members, ANNA, BEN)
    with serving(data, toolsets="memory,curation") as served:
        yield Service(served, secret, members, data)


def shared(service: Service, *arguments: str) -> str:
    """Opened while the server runs; the id of the grant."""
    made = run("tokens", "create", "librechat", "--memory", "team", *arguments, "--json", data_dir=service.data)
    assert made.returncode == 0, made.stderr
    return str(json.loads(made.stdout)["grant"]["id"])


async def test_two_users_keep_decisions_together_and_neither_sees_the_others_journal(service: Service) -> None:
    grant = shared(service, "--tier", "contributor", "--members", str(service.members))
    async with service.user(ANNA) as anna, service.user(BEN) as ben, service.user(CARL) as carl:
        for user, client in ((ANNA, anna), (BEN, ben)):
            await call(client, "add_memory", episode_body=DIARY[user])
            named = [{"name": DECISION[user].split()[0], "type": "Tool"}]
            told = await call(client, "add_memory", episode_body=DECISION[user], entities=named, group_id=GROUP)
            assert told["group_id"] == GROUP
        for user, other, client in ((ANNA, BEN, anna), (BEN, ANNA, ben)):
            decisions = (await call(client, "search_episodes", query="what keeps the orders", group_ids=GROUP))[
                "episodes"
            ]
            assert {one["content"]: one["told_by"] for one in decisions} == {
                DECISION[one]: f"librechat:{one}" for one in (ANNA, BEN)
            }
            own = await call(client, "get_episodes")
            assert [one["content"] for one in own["episodes"]] == [DIARY[user]]
            for tool in ("search_episodes", "search_nodes", "search_memory_facts"):
                for groups in (None, GROUP, ["default", GROUP]):
                    found = text(await client.call_tool(tool, {"query": DIARY[other], "group_ids": groups}))
                    assert "Zanzibar" not in found.replace(DIARY[user], ""), tool
                    assert "Quarkstadt" not in found.replace(DIARY[user], ""), tool
            assert (await call(client, "get_status"))["shared"] == {"team/*": "contributor"}
        uuid = (await call(anna, "get_episodes", group_ids=GROUP))["episodes"][0]["uuid"]
        asked = {"group_ids": GROUP}
        stranger = error_of(await carl.call_tool("get_episodes", asked))
        assert stranger == error_of(await carl.call_tool("get_episodes", {"group_ids": "nobody/decisions"}))

        listed(service.members, ANNA)  # Ben leaves the team while he is connected
        assert error_of(await ben.call_tool("get_episodes", asked)) == stranger
        gone = await ben.call_tool("get_episodes", {"episode_uuids": [uuid]})
        assert error_of(gone) == error_of(await carl.call_tool("get_episodes", {"episode_uuids": [uuid]}))
        assert (await call(ben, "get_episodes"))["total"] == 1
        told = (await call(anna, "get_episodes", group_ids=GROUP))["episodes"]
        assert {one["told_by"] for one in told} == {f"librechat:{ANNA}", f"librechat:{BEN}"}
        listed(service.members, ANNA, BEN)
        assert (await call(ben, "get_episodes", group_ids=GROUP))["total"] == 2

        assert run("tokens", "revoke", grant, data_dir=service.data).returncode == 0
        for client in (anna, ben):
            assert error_of(await client.call_tool("get_episodes", asked)) == stranger


async def test_a_user_reads_there_what_it_may_not_change(service: Service) -> None:
    shared(service, "--tier", "reader", "--members", str(service.members), "--groups", "plans")
    shared(service, "--tier", "contributor", "--members", str(service.members), "--groups", "decisions")
    async with service.user(ANNA) as anna:
        told = await call(anna, "add_memory", episode_body=DECISION[ANNA], group_id=GROUP)
        refused = await anna.call_tool("add_memory", {"episode_body": "A plan.", "group_id": "team/plans"})
        assert "needs tier contributor in team/plans, and yours there is reader" in error_of(refused)
        assert (await call(anna, "get_episodes", group_ids="team/plans"))["total"] == 0
        gone = await anna.call_tool("delete_episode", {"uuid": told["episode_uuid"]})
        assert "finds nothing in the shared memory team (contributor), team (reader)" in error_of(gone)
        assert "is not open" not in error_of(gone)
        other = await anna.call_tool("get_episodes", {"group_ids": "team/secrets"})
        assert "No shared memory of this name is open to you" in error_of(other)
    audit = run("audit", "--json", data_dir=service.data).stdout
    assert GROUP in audit
    assert f"librechat:{ANNA}" in audit


async def test_the_local_user_may_what_the_setting_says(tmp_path: Path) -> None:
    async with over_stdio(tmp_path / "data", tier="reader") as client:
        tools = {one.name for one in (await client.list_tools()).tools}
        assert "search_episodes" in tools
        assert not tools & {"add_memory", "retire_fact", "delete_episode", "forget"}
        refused = await client.call_tool("add_memory", {"episode_body": "A note."})
        assert "needs tier contributor or above, and the setting tier of this server is reader" in error_of(refused)
        assert (await call(client, "get_episodes"))["total"] == 0
    async with over_stdio(tmp_path / "data", tier="contributor") as client:
        stored = await call(client, "add_memory", episode_body="A note.")
        refused = await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]})
        assert "needs tier curator" in error_of(refused)
    async with over_stdio(tmp_path / "data") as client:
        await call(client, "delete_episode", uuid=stored["episode_uuid"])


@pytest.mark.parametrize("hints", ["advise", "off"])
@pytest.mark.parametrize("tier", TIERS)
async def test_a_member_may_what_its_tier_there_may_with_every_tool(tier: Tier, hints: str, tmp_path: Path) -> None:
    await every_tool_of_a_member(tier, tmp_path / "data", hints=hints)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("tier", "hints"),
    [
        *((tier, "advise") for tier in TIERS),
        ("contributor", "off"),
        *(pytest.param(tier, "off", marks=pytest.mark.storm) for tier in TIERS if tier != "contributor"),
    ],
)
async def test_so_it_is_on_neo4j(tier: Tier, hints: str, tmp_path: Path, neo4j_server: Neo4jAddress) -> None:
    empty(neo4j_server)
    settings = {
        "hints": hints,
        **neo4j_server.product_settings(),
    }
    await every_tool_of_a_member(tier, tmp_path / "data", **settings)


async def every_tool_of_a_member(tier: Tier, data: Path, **settings: str) -> None:
    """On a server of its own."""
    secrets, now = {name: new_secret() for name in ("team", "anna")}, datetime.now(UTC)
    tokens = [
        Token.model_validate({"hash": hash_of(one), "principal": name, "tier": "curator", "created": now})
        for name, one in secrets.items()
    ]
    write_tokens(data / "tokens.json", tokens)
    grant = {"id": "1a2b3c4d", "principal": "anna", "memory": "team", "tier": tier, "created": now}
    write_grants(data / "grants.json", [Grant.model_validate(grant)])
    much = {"calls_per_minute": 100_000, "writes_per_minute": 100_000, "call_seconds": CALL_SECONDS}
    with serving(data, toolsets=",".join(toolset.name for toolset in BESIDE), **much, **settings) as served:
        headers = {name: {"authorization": f"Bearer {one}"} for name, one in secrets.items()}
        async with (
            over_http(served.endpoint, **headers["team"]) as owner,
            over_http(served.endpoint, **headers["anna"]) as anna,
        ):
            await every_tool(tier, owner, anna)
