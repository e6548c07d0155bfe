"""The main job, played through a real MCP client over stdio into a throw-away data directory."""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from graphiti_pkm.cli.examples import Example, read_examples
from graphiti_pkm.cli.output import Progress, say
from graphiti_pkm.config import Settings, environment_name
from graphiti_pkm.errors import PkmError

JOURNAL, DECISIONS = "coaching-journal", "architecture-decisions"


def demo(settings: Settings, *, keep: bool, examples: Path | None) -> int:
    """Play the demo; 0 when every step answered."""
    directory = Path(tempfile.mkdtemp(prefix="pkm-demo-"))
    try:
        asyncio.run(_play(directory, settings, read_examples(examples)))
    finally:
        if keep:
            say(f"\nKept in {directory}. Look again with: graphiti-pkm status --data-dir {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return 0


async def _play(directory: Path, settings: Settings, examples: list[Example]) -> None:
    say("graphiti-pkm: a memory for your assistant. No key, no server, nothing leaves this machine.\n")
    async with Client(_server(directory, settings)) as client:
        await _load(client, examples)
        await _search(client)
        heron = await _connections(client)
        await _timeline(client)
        await _as_of(client)
        await _add(client, heron)
        await _ask_again(client, heron)
        await _words(client)
    say("\nThat was the main job. To connect your own assistant, see README.md: one command in its configuration.")


def _server(directory: Path, settings: Settings) -> StdioServerParameters:
    # The parent's settings are spelt out, so that the demo never touches the user's own memory.
    environment = {
        **os.environ,
        environment_name("data_dir"): str(directory),
        environment_name("log_level"): "error",
        environment_name("idle_seconds"): "1",
        environment_name("cache_dir"): str(settings.cache_dir),
        environment_name("person"): "me",
    }
    if settings.model_dir is not None:
        environment[environment_name("model_dir")] = str(settings.model_dir)
    return StdioServerParameters(
        command=sys.executable, args=["-m", "graphiti_pkm.cli.main", "serve", "--transport", "stdio"], env=environment
    )


async def _load(client: Client, examples: list[Example]) -> None:
    say(f"Telling it {len(examples)} notes: half a year of a coaching journal, and a set of architecture decisions.")
    progress, done = Progress("notes"), 0

    async def tell(group: list[Example]) -> None:
        nonlocal done
        for example in group:  # in order: a later note may replace what an earlier one said
            await _call(client, "add_memory", **example.arguments)
            done += 1
            progress(done, len(examples))

    groups = sorted({example.group_id for example in examples})
    await asyncio.gather(*(tell([e for e in examples if e.group_id == group]) for group in groups))
    say(f"  stored, searchable and on disk in {progress.end():.1f} s\n")


async def _search(client: Client) -> None:
    _step("search", 'Search first: "Heron billing project"')
    answer = await _call(client, "search_nodes", query="Heron billing project", group_ids=JOURNAL, max_nodes=3)
    for node in answer["nodes"]:
        say(f"  {node['name']} [{', '.join(node['labels'])}] {node.get('summary') or ''}".rstrip())
        for fact in node.get("facts") or []:
            say(f"      {fact}")


async def _connections(client: Client) -> str:
    found = await _call(client, "search_nodes", names=["Heron"], group_ids=JOURNAL)
    heron: str = found["nodes"][0]["uuid"]
    answer = await _call(client, "get_entity_connections", entity_uuid=heron)
    _step("connections", f"Everything it knows about {answer['entity']}: {answer['total']} facts, ended ones too")
    for fact in answer["facts"]:
        say(f"  {_interval(fact):<26} {fact['fact']}")
    return heron


async def _timeline(client: Client) -> None:
    found = await _call(client, "search_nodes", names=["stress"], group_ids=JOURNAL)
    answer = await _call(client, "get_entity_timeline", entity_uuid=found["nodes"][0]["uuid"])
    _step("timeline", f"How often was stress mentioned? {answer['total']} notes since {answer['first_mention'][:10]}")
    for month, count in (answer.get("mentions_per_month") or {}).items():
        say(f"  {month}  {'#' * count} {count}")


async def _as_of(client: Client) -> None:
    _step("as of a day", "Which database did the booking module use?")
    found = await _call(client, "search_nodes", names=["booking module"], group_ids=DECISIONS)
    booking = found["nodes"][0]["uuid"]
    for day in ("2025-04-01", "2026-01-01"):
        answer = await _call(client, "get_entity_connections", entity_uuid=booking, as_of=day, relation="USES")
        say(f"  on {day}: {'; '.join(fact['target_node_name'] for fact in answer['facts'])}")


async def _add(client: Client, heron: str) -> None:
    _step("add", '"Heron\'s second release is due on 30 September, Ines leads it."')
    answer = await _call(
        client,
        "add_memory",
        episode_body="Heron's second release is due on 30 September, Ines leads it.",
        reference_time="2026-06-29T09:00:00+00:00",
        group_id=JOURNAL,
        facts=[
            {
                "source": "Heron",
                "relation": "HAS_DEADLINE",
                "value": "2026-09-30",
                "fact": "The second release of Heron is due on 30 September 2026",
                "replaces": "current",
                "quote": "second release is due on 30 September",
            },
            {
                "source": "Ines",
                "relation": "LEADS",
                "target": "Heron",
                "fact": "Ines leads the second release of Heron",
            },
        ],
    )
    say(f"  {answer['message']}")
    for retired in answer["retired"]:
        say(f"  no longer current: {retired['fact']}")
    if heron not in {entity["uuid"] for entity in answer["entities"]}:
        raise PkmError("the note was not linked to the Heron that is already known")


async def _ask_again(client: Client, heron: str) -> None:
    _step("ask again", "What is Heron's deadline now, and what was it?")
    answer = await _call(client, "get_entity_connections", entity_uuid=heron, relation="HAS_DEADLINE")
    for fact in answer["facts"]:
        say(f"  {fact['status']:<8} {_interval(fact):<26} {fact['fact']}")


async def _words(client: Client) -> None:
    _step("in your words", '"What helped me sleep better?"')
    answer = await _call(
        client, "search_episodes", query="What helped me sleep better?", group_ids=JOURNAL, max_episodes=3
    )
    for episode in answer["episodes"]:
        say(f"  {episode['valid_at'][:10]} {episode['name']}: {episode.get('match') or ''}".replace("\n", " "))


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content
    if result.is_error or not isinstance(answer, dict):
        raise PkmError(f"{tool} failed: {(answer or {}).get('error', 'no answer')}")
    return answer


def _interval(fact: dict[str, Any]) -> str:
    start = (fact.get("valid_at") or "")[:10] or "…"
    end = (fact.get("invalid_at") or "")[:10]
    if fact["kind"] in {"event", "reading"}:
        return start
    return f"{start} to {end}" if end else f"since {start}" if fact.get("valid_at") else "start unknown"


def _step(name: str, text: str) -> None:
    say(f"\n{name:>13} | {text}")
