"""Two principals on one server: what one of them has, and every way in which another may ask for it."""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from mcp.client import Client
from tests.e2e.isolation_scratch import draw_hers, draw_own, drawn
from tests.e2e.support import call

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.grants import Grant, write_grants
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

VERAS, COMMON = "diary", "work"
"""Groups of the one whose memory is attacked: the second is open to a token that is held to it."""
HERS_IN_ALL = 5
"""Episodes of the first group: notes, what made her project, and its entry."""
NOWHERE = "nowhere"
SAGA, NO_SAGA = "Moonbase", "Sunbase"
HER_ENTITY, HER_PROJECT, NOBODYS_NAME = "Ilse Quark", "Fishery", "Peter Sledge"
SECRETS = ("Quark", "Zanzibar", "fjord")
"""Words of hers that nobody sends."""
_HERS = [
    ("Ilse Quark met the council of Zanzibar at the fjord.", "Ilse Quark", "MET", "Zanzibar"),
    ("Ilse Quark moved to the fjord.", "Ilse Quark", "LIVES_IN", "fjord"),
    ("Ilse Quark left Zanzibar for good.", "Ilse Quark", "LEFT", "Zanzibar council"),
]
OWN = "Tom knows Heron."
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass
class Records:
    """Uuids of one's own, of each kind, and the group they are in."""

    group: str
    entity: str = ""
    fact: str = ""
    episode: str = ""
    project: str = ""

    def all(self) -> dict[str, str]:
        return {"entity": self.entity, "fact": self.fact, "episode": self.episode, "project": self.project}


@dataclass
class Story:
    """Who has what, and the header that each token is sent in."""

    headers: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    file: Path = Path()
    vera: Records = field(default_factory=lambda: Records(VERAS))
    own: dict[str, Records] = field(default_factory=lambda: {"new": Records(COMMON, *(str(uuid4()) for _ in range(4)))})
    """By attacker."""
    uuids: set[str] = field(default_factory=set)
    """Every uuid of hers."""
    before: dict[str, Any] = field(default_factory=dict)
    """What she has and what became of it."""

    def issue(self, directory: Path) -> None:
        """Tokens: hers, one of a stranger, one of her own that is held to a group, and others.

        The second of her groups is also open to a member of her memory, and all of them were to a former one.
        """
        self.file = directory / "tokens.json"
        for name, fields in {
            "vera": {"principal": "vera"},
            "eve": {"principal": "eve"},
            "held": {"principal": "vera", "groups": (COMMON,)},
            "local": {"principal": "local"},
            "new": {"principal": "new"},
            "member": {"principal": "mia"},
            "former": {"principal": "fay"},
            "gone": {"principal": "gone"},
            "carl": {"principal": "carl"},
            "dora": {"principal": "dora"},
            "service": {"principal": "service", "may_impersonate": True},
        }.items():
            secret = new_secret()
            self.headers[name] = f"Bearer {secret}"
            values = {"hash": hash_of(secret), "created": datetime.now(UTC), "tier": "curator", **fields}
            self.tokens[name] = Token.model_validate(values)
        write_tokens(self.file, list(self.tokens.values()))
        now = datetime.now(UTC)
        shared = {"memory": "vera", "tier": "curator", "created": now}
        member = Grant.model_validate({**shared, "id": "0" * 8, "principal": "mia", "groups": [COMMON]})
        former = Grant.model_validate({**shared, "id": "1" * 8, "principal": "fay", "revoked": now})
        write_grants(directory / "grants.json", [member, former])

    def revoke(self, name: str) -> None:
        """From now on."""
        self.tokens[name] = self.tokens[name].model_copy(update={"revoked": datetime.now(UTC)})
        write_tokens(self.file, list(self.tokens.values()))

    async def tell_hers(self, client: Client) -> None:
        """Notes with facts and a saga, of which a model has read all."""
        for body, source, relation, target in _HERS:
            answer = await call(
                client,
                "add_memory",
                episode_body=body,
                group_id=VERAS,
                saga=SAGA,
                facts=[{"source": source, "relation": relation, "target": target, "fact": body}],
                wait_seconds=40,
            )
            self.vera = _records(answer, VERAS)
        self.vera.project = await _in_a_project(client, HER_PROJECT, _HERS[1][0], VERAS)
        flag = {"entity_uuid": self.vera.entity, "reason": _HERS[0][0]}
        await call(client, "flag_for_review", **flag)
        for tool, arguments in (
            ("get_episodes", {"group_ids": VERAS}),
            ("search_memory_facts", {"group_ids": VERAS, "query": "council", "max_facts": 50}),
            ("search_nodes", {"group_ids": VERAS, "query": "council", "max_nodes": 50}),
            ("list_projects", {"group_ids": VERAS}),
        ):
            self.uuids.update(_UUID.findall(json.dumps(await call(client, tool, **arguments))))
        await draw_hers(client)
        self.before = await kept(client)

    async def tell_own(self, attacker: str, client: Client) -> None:
        """One note of the attacker's own, and a scratch graph."""
        fact = {"source": "Tom", "relation": "KNOWS", "target": "Heron", "fact": OWN}
        answer = await call(client, "add_memory", episode_body=OWN, group_id=COMMON, facts=[fact], wait_seconds=40)
        self.own[attacker] = _records(answer, COMMON)
        self.own[attacker].project = await _in_a_project(client, "Herons", OWN, COMMON)
        await draw_own(client)


async def kept(client: Client) -> dict[str, Any]:
    """What she has, and every change of it."""
    return {
        "episodes": await call(client, "get_episodes", group_ids=VERAS),
        "changes": (await call(client, "what_changed", since="2020", group_ids=VERAS, limit=100))["changes"],
        "projects": await call(client, "list_projects", group_ids=VERAS),
        "flagged": (await call(client, "list_flagged", group_ids=VERAS))["flagged"],
        "entries": await call(client, "get_entry_context", entity_name=HER_ENTITY, group_id=VERAS),
        "holds": (await call(client, "get_status"))["groups"][VERAS],
        "scratch": await drawn(client),
    }


async def _in_a_project(client: Client, name: str, text: str, group: str) -> str:
    """A project with one entry; its uuid."""
    made = await call(client, "create_project", name=name, description=text, group_id=group)
    await call(client, "create_entry", content=text, project_id=name, group_id=group, metadata={"at": text})
    return str(made["project_id"])


def _records(answer: dict[str, Any], group: str) -> Records:
    return Records(group, answer["entities"][0]["uuid"], answer["facts"][0]["uuid"], answer["episode_uuid"])
