"""Two principals on one server: what one of them has, and every way in which another may ask for it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from mcp.client import Client
from mcp_types import CallToolResult, Tool
from tests.e2e.support import call
from tests.protocol.support import text

from graphiti_pkm.domain.access import Token
from graphiti_pkm.tokens import hash_of, new_secret, write_tokens

VERAS, COMMON = "diary", "work"
"""Groups of the one whose memory is attacked: the second is open to a token that is held to it."""
NOWHERE = "nowhere"
SAGA, NO_SAGA = "Moonbase", "Sunbase"
SECRETS = ("Quark", "Zanzibar", "fjord")
"""Words of hers that nobody sends."""
_HERS = [
    ("Ilse Quark met the council of Zanzibar at the fjord.", "Ilse Quark", "MET", "Zanzibar"),
    ("Ilse Quark moved to the fjord.", "Ilse Quark", "LIVES_IN", "fjord"),
    ("Ilse Quark left Zanzibar for good.", "Ilse Quark", "LEFT", "Zanzibar council"),
]
_OWN = "Tom knows Heron."
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT = re.compile(r"\b[0-9a-f]{8}\b")
_TOKEN = re.compile(r"\b[0-9a-f]{12}\b")


@dataclass
class Records:
    """Uuids of one's own, of each kind, and the group they are in."""

    group: str
    entity: str = ""
    fact: str = ""
    episode: str = ""

    def all(self) -> dict[str, str]:
        return {"entity": self.entity, "fact": self.fact, "episode": self.episode}


@dataclass
class Story:
    """Who has what, and the header that each token is sent in."""

    headers: dict[str, str] = field(default_factory=dict)
    vera: Records = field(default_factory=lambda: Records(VERAS))
    own: dict[str, Records] = field(
        default_factory=lambda: {"new": Records(COMMON, str(uuid4()), str(uuid4()), str(uuid4()))}
    )
    """By attacker."""
    uuids: set[str] = field(default_factory=set)
    """Every uuid of hers."""
    before: dict[str, Any] = field(default_factory=dict)
    """What she has and what became of it."""

    def issue(self, directory: Path) -> None:
        """Tokens: hers, one of a stranger, one of her own that is held to a group, and others."""
        made = []
        for name, fields in {
            "vera": {"principal": "vera"},
            "eve": {"principal": "eve"},
            "held": {"principal": "vera", "groups": (COMMON,)},
            "local": {"principal": "local"},
            "new": {"principal": "new"},
        }.items():
            secret = new_secret()
            self.headers[name] = f"Bearer {secret}"
            made.append(Token.model_validate({"hash": hash_of(secret), "created": datetime.now(UTC), **fields}))
        write_tokens(directory / "tokens.json", made)

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
        for tool, arguments in (
            ("get_episodes", {"group_ids": VERAS}),
            ("search_memory_facts", {"group_ids": VERAS, "query": "council", "max_facts": 50}),
            ("search_nodes", {"group_ids": VERAS, "query": "council", "max_nodes": 50}),
        ):
            self.uuids.update(_UUID.findall(json.dumps(await call(client, tool, **arguments))))
        self.before = await kept(client)

    async def tell_own(self, attacker: str, client: Client) -> None:
        """One note of the attacker's own."""
        fact = {"source": "Tom", "relation": "KNOWS", "target": "Heron", "fact": _OWN}
        answer = await call(client, "add_memory", episode_body=_OWN, group_id=COMMON, facts=[fact], wait_seconds=40)
        self.own[attacker] = _records(answer, COMMON)


async def kept(client: Client) -> dict[str, Any]:
    """What she has, and every change of it."""
    return {
        "episodes": await call(client, "get_episodes", group_ids=VERAS),
        "changes": (await call(client, "what_changed", since="2020", group_ids=VERAS, limit=100))["changes"],
        "holds": (await call(client, "get_status"))["groups"][VERAS],
    }


@dataclass(frozen=True)
class Attack:
    """One call with something of hers, and the same one with what nobody has."""

    arguments: dict[str, Any]
    control: dict[str, Any]

    def sent(self) -> str:
        return json.dumps(self.arguments)


def arguments_of(tool: str, own: Records) -> dict[str, Any]:
    """A call that is as it should be. A tool that is not here fails the tests: a new one has to be added."""
    entity, fact, episode = own.entity, own.fact, own.episode
    return {
        "add_memory": {"episode_body": "Entry.", "group_id": own.group},
        "search_nodes": {"query": "person", "max_nodes": 1, "group_ids": own.group},
        "search_memory_facts": {"query": "person", "max_facts": 1, "group_ids": own.group},
        "search_episodes": {"query": "person", "max_episodes": 1, "group_ids": own.group},
        "get_entity_connections": {"entity_uuid": entity, "max_connections": 1},
        "get_entity_timeline": {"entity_uuid": entity, "max_episodes": 1},
        "get_episodes": {"max_episodes": 1, "group_ids": own.group},
        "get_episode_entities": {"episode_uuids": [episode], "max_entities": 1},
        "get_entity_edge": {"uuid": fact},
        "get_fact_sources": {"fact_uuid": fact, "limit": 1},
        "what_changed": {"since": "2020", "limit": 1, "group_ids": own.group},
        "retire_fact": {"fact_uuid": fact, "reason": "so it is"},
        "restore_fact": {"fact_uuid": fact, "reason": "so it is"},
        "delete_episode": {"uuid": episode},
        "delete_entity_edge": {"uuid": fact},
        "forget": {"entity_uuid": entity},
        "get_status": {},
        "find_entity_path": {"source_uuid": entity, "target_uuid": entity},
        "get_entity_subgraph": {"entity_uuid": entity},
        "add_triplet": {
            "source_node_name": "Tom",
            "edge_name": "KNOWS",
            "fact": _OWN,
            "target_node_name": "Heron",
            "group_id": own.group,
        },
        "clear_graph": {"group_ids": own.group},
        "summarize_saga": {"saga_name": NO_SAGA, "group_id": own.group},
        "build_communities": {"group_ids": own.group},
    }[tool]


def attacks(tool: Tool, own: Records, hers: Records) -> Iterator[Attack]:
    """Every parameter that names a record, a group or a saga, with hers and with what nobody has."""
    base = arguments_of(tool.name, own)
    properties = tool.input_schema["properties"]

    def put(parameter: str, value: str) -> Any:
        return [value] if '"array"' in json.dumps(properties[parameter]) else value

    def attack(**values: tuple[str, str]) -> Attack:
        rest = {key: value for key, value in base.items() if key not in values}
        if tool.name == "forget":  # of its ways to say what, one at a time
            rest = {"query": "Tom"} if "group_id" in values else {}
        return Attack(
            {**rest, **{key: put(key, pair[0]) for key, pair in values.items()}},
            {**rest, **{key: put(key, pair[1]) for key, pair in values.items()}},
        )

    groups = [name for name in properties if name in {"group_id", "group_ids"}]
    for parameter in properties:
        if parameter in groups:
            yield attack(**{parameter: (hers.group, NOWHERE)})
        elif parameter in {"saga", "saga_name"}:
            yield attack(**{parameter: (SAGA, NO_SAGA)})
        elif "uuid" in parameter or parameter in {"receipt", "replaced_by"}:
            for uuid in hers.all().values():
                yield attack(**{parameter: (uuid, str(uuid4()))})
                yield attack(**{parameter: (uuid[:8], str(uuid4())[:8])})
                for group in groups if tool.name != "forget" else ():
                    yield attack(**{parameter: (uuid, str(uuid4())), group: (hers.group, NOWHERE)})


def shape(result: CallToolResult, sent: dict[str, Any]) -> str:
    """An answer without what was sent, without uuids, and without numbers."""
    told = text(result)
    for value in sorted((one for one in _leaves(sent) if isinstance(one, str)), key=len, reverse=True):
        if value not in {"", COMMON}:
            told = told.replace(value, "SENT")
    return re.sub(r"\d+", "N", _TOKEN.sub("TOKEN", _SHORT.sub("UUID", _UUID.sub("UUID", told))))


def leaked(told: str, sent: str, story: Story) -> set[str]:
    """What of hers an answer holds that was not sent: her words, her group, and whole uuids."""
    words = {word for word in (*SECRETS, VERAS, SAGA) if word in told and word not in sent}
    return words | {uuid for uuid in story.uuids if uuid in told and uuid not in sent}


def _records(answer: dict[str, Any], group: str) -> Records:
    return Records(group, answer["entities"][0]["uuid"], answer["facts"][0]["uuid"], answer["episode_uuid"])


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value
