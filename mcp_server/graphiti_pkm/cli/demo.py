"""Plays a tour of the memory through a real MCP client over stdio, in a temporary data directory."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphiti_pkm.cli.examples import Example, read_examples
from graphiti_pkm.cli.output import Progress, indented, say
from graphiti_pkm.core.operating_system import command_line
from graphiti_pkm.errors import PkmError
from graphiti_pkm.settings.loader import Settings

JOURNAL, DECISIONS = "coaching-journal", "architecture-decisions"
_WIDEST = 100

Fact = Mapping[str, Any]


def demo(settings: Settings, *, keep: bool, examples: Path | None) -> int:
    """Play the demo; returns 0 when every step was answered."""
    notes = read_examples(examples)
    directory = Path(tempfile.mkdtemp(prefix="pkm-demo-"))
    try:
        asyncio.run(_Demo(directory, settings).play(notes))
    finally:
        if keep:
            command = command_line(("graphiti-pkm", "status", "--data-dir", str(directory / "data")))
            say(f"\nKept in {directory}. To look at it: {command}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return 0


class _Demo:
    """The steps; each prints a question and its answer."""

    def __init__(self, directory: Path, settings: Settings) -> None:
        self._server = _server(directory, settings)
        self._log = directory / "server.log"
        self._width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
        self._numbers = count(1)

    async def play(self, notes: list[Example]) -> None:
        """Store the notes, then ask, add one more and ask again."""
        say("graphiti-pkm: a memory for your assistant. No key, no server, nothing leaves this machine.\n")
        with self._log.open("w", encoding="utf-8") as log:
            # The server's log goes to a file, so that an interrupted demo does not print it.
            await self._steps(notes, log)
        say("\nYour own assistant will make the same calls. README.md shows how to connect it.")

    async def _steps(self, notes: list[Example], log: TextIO) -> None:
        async with Client(stdio_client(self._server, errlog=log)) as client:
            self._client = client
            await self._store(notes)
            heron = await self._search()
            known = await self._connections(heron)
            await self._timeline()
            await self._as_of()
            await self._words()
            (manager,) = (fact["uuid"] for fact in known if fact["name"] == "MANAGES")
            await self._add(heron, replaces=manager)
            await self._ask_again(heron)

    async def _store(self, notes: list[Example]) -> None:
        say(f"Storing {len(notes)} notes: half a year of a coaching journal and a set of architecture decisions.")
        progress, done = Progress("notes"), 0

        async def store(group: list[Example]) -> None:
            nonlocal done
            for note in group:  # in order: a later note may replace what an earlier one said
                await self._call("add_memory", **note.arguments)
                done += 1
                progress(done, len(notes))

        groups = sorted({note.group_id for note in notes})
        try:
            await asyncio.gather(*(store([note for note in notes if note.group_id == group]) for group in groups))
        finally:
            seconds = progress.end()
        say(f"All {done} are on disk, linked and searchable after {seconds:.1f} s.")

    async def _search(self) -> str:
        self._step('Search first: "Heron billing project"', "search_nodes")
        answer = await self._call("search_nodes", query="Heron billing project", group_ids=JOURNAL, max_nodes=2)
        for node in answer["nodes"]:
            kinds = ", ".join(label for label in node["labels"] if label != "Entity")
            also = f", also known as {', '.join(node['aliases'])}" if node.get("aliases") else ""
            summary = f": {node['summary']}" if node.get("summary") else ""
            say(indented(f"{node['name']} ({kinds}{also}){summary}", "   ", self._width))
            for fact in node.get("facts") or []:
                say(indented(fact, "     - ", self._width))
        return await self._uuid("Heron", JOURNAL)

    async def _connections(self, heron: str) -> Sequence[Fact]:
        answer = await self._call("get_entity_connections", entity_uuid=heron)
        self._step(
            f"Everything about {answer['entity']}: {answer['total']} facts, including ended ones",
            "get_entity_connections",
        )
        facts: Sequence[Fact] = answer["facts"]
        self._facts(facts)
        return facts

    async def _timeline(self) -> None:
        stress = await self._uuid("stress", JOURNAL)
        answer = await self._call("get_entity_timeline", entity_uuid=stress)
        self._step("How often was stress mentioned, month by month?", "get_entity_timeline")
        for month, mentions in (answer.get("mentions_per_month") or {}).items():
            say(f"   {month}  {'#' * mentions} {mentions}")
        say(f"   {answer['total']} notes from {_day(answer['first_mention'])} to {_day(answer['last_mention'])}")

    async def _as_of(self) -> None:
        self._step("Which database did the booking module use on a given day?", "get_entity_connections, as_of")
        booking = await self._uuid("booking module", DECISIONS)
        for day in ("2025-04-01", "2026-01-01"):
            answer = await self._call("get_entity_connections", entity_uuid=booking, as_of=day, relation="USES")
            for fact in answer["facts"]:
                because = f' - "{fact["quote"]}"' if fact.get("quote") else ""
                say(indented(f"{fact['target_node_name']}{because}", f"   {day}  ", self._width))

    async def _words(self) -> None:
        question = "How much coffee do I drink?"
        self._step(f'Search in your own words: "{question}"', "search_episodes")
        answer = await self._call("search_episodes", query=question, group_ids=JOURNAL, max_episodes=3)
        for episode in sorted(answer["episodes"], key=lambda episode: str(episode["valid_at"])):
            words = f"{episode['match']} ({episode['name']})"
            say(indented(words, f"   {_day(episode['valid_at'])}  ", self._width))

    async def _add(self, heron: str, *, replaces: str) -> None:
        body = "From today Jonas Brandt is product manager of Heron instead of Ines."
        self._step(f'Add: "{body}"', "add_memory")
        answer = await self._call(
            "add_memory",
            episode_body=body,
            reference_time="2026-06-29T09:00:00+00:00",
            group_id=JOURNAL,
            facts=[
                {
                    "source": "Jonas Brandt",
                    "relation": "MANAGES",
                    "target": "Heron",
                    "fact": "Jonas Brandt is product manager of Project Heron",
                    "valid_at": "2026-06-29",
                    "replaces": replaces,
                    "quote": "From today Jonas Brandt is product manager of Heron",
                },
            ],
        )
        say(indented(answer["message"], "   ", self._width))
        for retired in answer["retired"]:
            say(indented(retired["fact"], "   no longer current: ", self._width))
        if heron not in {entity["uuid"] for entity in answer["entities"]}:
            raise PkmError("The new note was not linked to the Heron that is already known.")

    async def _ask_again(self, heron: str) -> None:
        self._step("Ask again: who is Heron's product manager, and who was it before?", "get_entity_connections")
        answer = await self._call("get_entity_connections", entity_uuid=heron, relation="MANAGES")
        self._facts(answer["facts"])

    def _step(self, text: str, tool: str) -> None:
        heading = f"{next(self._numbers)}. {text}"
        say(f"\n{heading}{tool:>{max(0, self._width - len(heading))}}" if len(heading) + len(tool) + 2 <= self._width
            else f"\n{heading}  [{tool}]")  # fmt: skip

    def _facts(self, facts: Sequence[Fact]) -> None:
        rows = [(fact["status"], when(fact), fact["fact"]) for fact in facts]
        states, times = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        for state, at, text in rows:
            say(indented(text, f"   {state:<{states}}  {at:<{times}}  ", self._width))

    async def _uuid(self, name: str, group_id: str) -> str:
        answer = await self._call("search_nodes", names=[name], group_ids=group_id)
        if not answer["nodes"]:
            raise PkmError(f"search_nodes does not find {name}, although the examples contain it.")
        return str(answer["nodes"][0]["uuid"])

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        answer = result.structured_content
        if result.is_error or not isinstance(answer, dict):
            reason = (answer or {}).get("error", "no answer")
            raise PkmError(f"{tool} failed: {reason} With --keep, the demo leaves its server.log.")
        return answer


def when(fact: Fact) -> str:
    """When a fact was true or happened, no more precisely than is known."""
    start, end = _day(fact.get("valid_at")), _day(fact.get("invalid_at"))
    if start and end:
        return f"{start} to {end}"
    if start:
        return start if fact["kind"] in {"event", "reading"} else f"since {start}"
    if end:
        return f"until {end}"
    known = _day(fact.get("reference_time"))
    return f"known since {known}" if known else "start unknown"


def _day(moment: str | None) -> str:
    return (moment or "")[:10]


def _server(directory: Path, settings: Settings) -> StdioServerParameters:
    # Flags win over environment, .env and YAML: the demo uses neither the memory nor the settings of its user.
    nothing = directory / "no-settings"
    nothing.touch(mode=0o600)
    flags = [
        *("--env-file", str(nothing), "--data-dir", str(directory / "data"), "--cache-dir", str(settings.cache_dir)),
        *("--transport", "stdio", "--log-level", "error"),
        *(("--model-dir", str(settings.model_dir)) if settings.model_dir is not None else ()),
    ]
    return StdioServerParameters(
        command=sys.executable, args=["-m", "graphiti_pkm.cli.main", "serve", *flags], cwd=directory
    )
