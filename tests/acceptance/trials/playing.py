"""Plays a scripted conversation: the calls of a sensible model for each note, and those that answer each question.

Scripts are YAML files beside this one. Expected facts are written "STATUS TARGET = VALUE from DATE until DATE", without
what a fact does not have, with dates as told and for a plan that is over its outcome; readings "DATE VALUE UNIT".
``$NAME`` stands for the uuid of an entity that an earlier answer named, so that a call which finds it counts.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from mcp.client import Client
from tests.acceptance.questions import day
from tests.acceptance.shared_data import shared_data
from tests.fakes import FakeClock
from tests.protocol.support import answered, text, tokens

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d)\] (.+)")
_EVENING = timedelta(hours=20)

Json = dict[str, Any]


def script(name: str) -> Json:
    """The script of a conversation; every value is a text, as models send them."""
    path = Path(__file__).with_name(f"{name}.yaml")
    return dict(yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader))  # noqa: S506


def lines_of(name: str, part: str) -> list[str]:
    """The messages or questions of a conversation."""
    return shared_data("trials", f"{name}-{part}.txt").read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True)
class Call:
    """A call with both forms of its answer."""

    tool: str
    data: Json
    text: str

    @property
    def tokens(self) -> float:
        return tokens(self.text)


@dataclass
class Played:
    """What memory said: to each note, about its state after each note, and to each question."""

    told: list[Call] = field(default_factory=list)
    before: list[list[Call]] = field(default_factory=list)
    states: list[dict[str, list[str]]] = field(default_factory=list)
    mentions: list[list[str]] = field(default_factory=list)
    answers: list[list[Call]] = field(default_factory=list)
    searches: list[Call] = field(default_factory=list)

    @property
    def notices(self) -> list[Json]:
        return [notice for call in self.told for notice in call.data["needs_attention"]]


class Player:
    """One conversation in a memory of its own, each note recorded on the evening of its date."""

    def __init__(self, client: Client, clock: FakeClock) -> None:
        self._client = client
        self._clock = clock
        self._uuids: dict[str, str] = {}

    async def play(self, name: str) -> Played:
        played, plan = Played(), script(name)
        for line, note in zip(lines_of(name, "messages"), plan["notes"], strict=True):
            said = _LINE.fullmatch(line)
            assert said is not None
            assert said[1] == note["date"]
            await self._tell(played, note, said[2])
        self._clock.instant = datetime.fromisoformat(plan["today"]).replace(tzinfo=UTC) + _EVENING
        self._uuids.clear()  # another session asks
        for question in plan["questions"]:
            played.answers.append([await self._call(call) for call in question["calls"]])
        for search in plan["searches"]:
            played.searches.append(await self._call({"search_nodes": {"query": search["query"], "max_nodes": 50}}))
        return played

    async def _tell(self, played: Played, note: Json, said: str) -> None:
        self._clock.instant = datetime.fromisoformat(note["date"]).replace(tzinfo=UTC) + _EVENING
        played.before.append([await self._call(call) for call in note.get("before", ())])
        facts = [_with_quote(fact, said) for fact in note["facts"]]
        body = said.replace(span(note["leave_out"], said), "") if "leave_out" in note else said
        sent = {"episode_body": body, "reference_time": note["date"], "entities": note["entities"], "facts": facts}
        played.told.append(await self._call({"add_memory": sent}))
        for notice in played.told[-1].data["needs_attention"]:
            if notice["what"] in note.get("settles", ()):
                await self._call(ready_call(notice))
        episode = played.told[-1].data["episode_uuid"]
        mentioned = await self._call({"get_episode_entities": {"episode_uuids": [episode]}})
        typed = [node["name"] for node in mentioned.data["entities"] if len(node["labels"]) > 1]
        played.mentions.append(sorted(name for name in typed if name != "me"))
        state = {key: await self._facts(key) for key in note.get("state", ())}
        state |= {key: await self._readings(key) for key in note.get("readings", ())}
        played.states.append(state)

    async def _call(self, call: dict[str, Json]) -> Call:
        ((tool, arguments),) = call.items()
        sent = {name: self._resolved(value) for name, value in arguments.items()}
        result = await self._client.call_tool(tool, sent)
        data = answered(result)
        self._uuids.update(_named(data))
        return Call(tool, data, text(result))

    def _resolved(self, value: Any) -> Any:
        return self._uuids[value[1:]] if isinstance(value, str) and value.startswith("$") else value

    async def _uuid(self, name: str) -> str:
        found = await self._call({"search_nodes": {"names": [name]}})
        return next(str(node["uuid"]) for node in found.data["nodes"] if node["name"] == name)

    async def _facts(self, key: str) -> list[str]:
        """The facts of "ENTITY RELATION"."""
        name, relation = key.rsplit(" ", 1)
        asked = {"entity_uuid": await self._uuid(name), "relation": relation, "direction": "out"}
        page = await self._call({"get_entity_connections": {**asked, "max_connections": 100}})
        assert not page.data["truncated"]
        return sorted(shown(fact) for fact in page.data["facts"])

    async def _readings(self, measure: str) -> list[str]:
        """The series of a measure, as it is listed."""
        asked = {"entity_uuid": await self._uuid(measure), "kind": "reading", "max_facts": 50}
        page = await self._call({"search_memory_facts": asked})
        return [
            " ".join(filter(None, [fact["told_start"] or day(fact["valid_at"]), fact["value"], fact["unit"]]))
            for fact in page.data["facts"]
        ]


def shown(fact: Json) -> str:
    """A fact in the words of a script."""
    target, value = fact["target_node_name"], fact["value"]
    of_relation = fact["name"].removeprefix("HAS_").replace("_", " ").casefold()
    says = target if value is None else value if target.casefold() == of_relation else f"{target} = {value}"
    parts = [
        fact["outcome"] or fact["status"],
        says,
        fact["valid_at"] and f"from {fact['told_start'] or day(fact['valid_at'])}",
        fact["invalid_at"] and f"until {fact['told_end'] or day(fact['invalid_at'])}",
        "past" if fact["past"] else None,
    ]
    return " ".join(filter(None, parts))


def ready_call(notice: Json) -> dict[str, Json]:
    """The first call of a notice, ready to send."""
    tool = re.search(r"(\w+) (?=\{)", notice["call"])
    assert tool is not None
    return {tool[1]: json.JSONDecoder().raw_decode(notice["call"], tool.end())[0]}


def span(given: str, said: str) -> str:
    """The words of a note that "A … B" stands for."""
    first, _, last = given.partition(" … ")
    found = re.search(re.escape(first) + (".*?" + re.escape(last) if last else ""), said)
    assert found is not None, given
    return found[0]


def _with_quote(fact: Json, said: str) -> Json:
    return {**fact, "quote": span(fact["quote"], said)} if "quote" in fact else fact


def _named(value: Any) -> Iterator[tuple[str, str]]:
    """Names with the uuids that an answer gives for them."""
    if isinstance(value, dict):
        if "uuid" in value and "name" in value and "fact" not in value:
            yield value["name"], value["uuid"]
        for end in ("source_node", "target_node"):
            if value.get(f"{end}_uuid"):
                yield value[f"{end}_name"], value[f"{end}_uuid"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _named(one)


@asynccontextmanager
async def player(directory: Path) -> AsyncIterator[Player]:
    """A server of its own over a new memory, with the local embedder."""
    clock = FakeClock()
    settings = Settings(data_dir=directory)
    async with open_memory(settings, now=clock) as memory:

        @asynccontextmanager
        async def services() -> AsyncIterator[Services]:
            yield memory.services

        async with Client(build_server(settings, services)) as client:
            yield Player(client, clock)


def items(answers: list[Call]) -> list[str]:
    """Every object and every text in the answers, as a model reads them."""
    return [item for answer in answers for item in _items(json.loads(answer.text))]


def _items(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _items(one)
    elif isinstance(value, dict):
        if not any(
            isinstance(one, list | dict) and any(isinstance(part, dict) for part in one) for one in value.values()
        ):
            yield json.dumps(value, ensure_ascii=False)
        for one in value.values():
            yield from _items(one)
