"""``ingest``: stores files as documents; a file that did not change is left alone."""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from graphiti_pkm.capabilities.sources.ingesting import Given, Ingested
from graphiti_pkm.capabilities.sources.tools import INGESTING
from graphiti_pkm.cli.opening import local_user, open_without_model
from graphiti_pkm.cli.output import Progress, complain, say, say_json
from graphiti_pkm.cli.staging import group_of
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.settings.loader import Settings

_SAID = {"new": "stored", "changed": "stored as a new version", "moved": "found under another path"}


def ingest(settings: Settings, options: argparse.Namespace) -> int:
    """Store each file and say what came of it; returns 1 if any could not be stored."""
    user = local_user(settings, "ingest", "contributor")
    given = documents(options.files, options.name)
    results = asyncio.run(_ingest(user, settings, given, group_of(settings, options)))
    failed = [one for one in results if one.outcome == "failed"]
    if options.json:
        say_json({"documents": [asdict(one) for one in results]})
    else:
        for one in results:
            if one.outcome in _SAID:
                say(f"{one.name}: {_SAID[one.outcome]}{_counts(one)}.")
        unchanged = sum(one.outcome == "unchanged" for one in results)
        if unchanged:
            say(f"{unchanged} of {len(results)} did not change.")
    for one in failed:
        complain(one.reason or one.name)
    return 1 if failed else 0


def documents(files: Sequence[Path], name: str | None) -> list[Given]:
    """What each file is called as a document."""
    if len(files) == 1:
        return [Given(files[0], name if name is not None else files[0].stem)]
    return [Given(file, file.stem if name is None else f"{name}/{file.stem}") for file in files]


async def _ingest(user: Caller, settings: Settings, given: Sequence[Given], group: str) -> list[Ingested]:
    progress, results = Progress("documents"), list[Ingested]()
    root = settings.document_root or Path.cwd()
    try:
        async with open_without_model(settings) as memory:
            ingesting = memory.services[INGESTING]
            async for one in ingesting.ingest(user, given, root, group, is_read=settings.llm_model is not None):
                results.append(one)
                progress(len(results), len(given))
    finally:
        progress.end()
    return results


def _counts(one: Ingested) -> str:
    if one.outcome == "moved":
        return ""
    return f", version {one.version}: {one.new_sections} of {one.sections} sections are new, {one.sentences} sentences"
