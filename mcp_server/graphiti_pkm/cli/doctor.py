"""``doctor``: one line for each check, with the remedy. It changes nothing.

If there is no memory yet, it creates none and tests the database in a temporary directory.
"""

import asyncio
import tempfile
import time
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.capabilities.status.tools import STATUS
from graphiti_pkm.cli.directories import has_journal, is_to_convert
from graphiti_pkm.cli.opening import open_without_model
from graphiti_pkm.cli.output import say, say_json
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.embedding.api import ApiEmbedder, service_of
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.errors import InvalidSettings, ModelError, PkmError
from graphiti_pkm.graphiti_adapter.language_model import language_model
from graphiti_pkm.server.tools.registry import select
from graphiti_pkm.settings.keys import OPENAI_KEY, is_loopback, is_openai
from graphiti_pkm.settings.loader import LoadedSettings, Settings
from graphiti_pkm.settings.sources import DEFAULT
from graphiti_pkm.storage.former_memory import kept_bytes, must_fit
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.opening import opening
from graphiti_pkm.storage.journal.opening import journal_of
from graphiti_pkm.storage.journal.redaction import FORMER
from graphiti_pkm.storage.preflight import preflight
from graphiti_pkm.storage.rebuilding import is_unfinished

_PATIENCE = 20.0


@dataclass(frozen=True)
class Line:
    """One check and its result."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def doctor(loaded: LoadedSettings, *, as_json: bool, asks_model: bool = False, lists_settings: bool = False) -> int:
    """Check everything; returns 0 if no problem was found, else 1.

    ``asks_model``: send test requests to services. ``lists_settings``: every setting with its origin, as JSON has them.
    """
    checks = preflight(loaded.settings.data_dir)
    can_start = all(check.ok or not check.stops for check in checks)
    lines = [Line(check.name, check.ok, check.detail, check.remedy) for check in checks]
    lines += _tools(loaded.settings)
    lines += asyncio.run(_checks(loaded, can_start=can_start, asks_model=asks_model))
    bad = sum(not line.ok for line in lines)
    if as_json:
        say_json({
            "ok": not bad,
            "checks": [asdict(line) for line in lines],
            "env_file": loaded.env_file,
            "config_file": loaded.config_file,
            "notes": (*loaded.warnings, *loaded.notes),
            "settings": {name: {"value": value, "origin": origin} for name, value, origin in loaded.effective()},
        })  # fmt: skip
    else:
        _print_checks(lines)
        say(
            "\nNo problem found."
            if not bad
            else f"\n{bad} of {len(lines)} checks failed; the lines with -> say what to do."
        )
        _print_settings(loaded, lists_all=lists_settings)
    return 1 if bad else 0


async def _checks(loaded: LoadedSettings, *, can_start: bool, asks_model: bool) -> list[Line]:
    settings = loaded.settings
    model = await (_service(loaded, asks_model=asks_model) if settings.embedding_mode == "api" else _model(settings))
    lines = [await _journal(loaded), model, await _extraction(loaded, asks_model=asks_model)]
    if not can_start:
        return lines
    if settings.effective_backend == "neo4j":
        lines.append(await _server(settings))
        if not lines[-1].ok or not has_journal(settings):
            return lines
    if (size := kept_bytes(settings.data_dir)) is not None:
        detail = f"{settings.data_dir / FORMER}, {size / 1e6:.1f} MB, as version 0.1 wrote it: you may delete it"
        lines.append(Line("former memory", ok=True, detail=detail))
    if has_journal(settings):
        reported = {line.remedy for line in lines}
        return [*lines, await _database(settings, reported=reported)]
    with tempfile.TemporaryDirectory(prefix="pkm-doctor-") as directory:
        elsewhere = settings.model_copy(update={"data_dir": Path(directory) / "data"})
        return [*lines, await _database(elsewhere, where=", tested in a temporary directory")]


def _tools(settings: Settings) -> list[Line]:
    """A line if the settings of the tools keep a server from starting."""
    try:
        select(settings)
    except InvalidSettings as error:
        return [Line("tools", ok=False, detail=", ".join(settings.toolsets), remedy=error.message)]
    return []


async def _journal(loaded: LoadedSettings) -> Line:
    directory = loaded.settings.data_dir
    journal = journal_of(loaded.settings)
    try:
        must_fit(loaded.settings)
        if not has_journal(loaded.settings):
            none = "of version 0.1; `graphiti-pkm serve` brings it over" if is_to_convert(loaded.settings) else ""
            return Line("journal", ok=True, detail=none or f"none yet in {directory}; `graphiti-pkm serve` creates it")
        await journal.check()
        counts = await journal.counts()
        rebuild = await journal.rebuild_in_progress()
        embedding = await journal.embedding()
    except PkmError as error:
        return Line("journal", ok=False, detail="cannot be used", remedy=error.message)
    except OSError as error:  # a directory without access
        return Line("journal", ok=False, detail="cannot be reached", remedy=f"{error.strerror}: {directory}")
    finally:
        await journal.close()
    if rebuild is not None:
        return Line(
            "journal", ok=False, detail=f"undamaged; a {rebuild.command} is not finished", remedy=rebuild.describe()
        )
    if embedding is not None and embedding.is_changing:
        remedy = "the next start, a running server or `graphiti-pkm reembed` continues it"
        detail = f"undamaged; the change to vectors of {embedding.describe()} is not finished"
        return Line("journal", ok=False, detail=detail, remedy=remedy)
    states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return Line("journal", ok=True, detail=f"undamaged; {states or 'empty'}")


async def _model(settings: Settings) -> Line:
    embedder = LocalEmbedder(settings)
    try:
        if await embedder.available():
            runtime = "ONNX Runtime" if embedder.is_fast else "NumPy (the extra fast is faster)"
            detail = f"{embedder.model}, {embedder.dimension} dimensions, verified; in {runtime}"
            return Line("model", ok=True, detail=detail)
    except PkmError as error:
        return Line("model", ok=False, detail="the weights cannot be used", remedy=error.message)
    finally:
        await embedder.close()
    return Line(
        "model",
        ok=False,
        detail="no weights: search works by words only",
        remedy="run graphiti-pkm fetch-model, or name a directory with --model-dir",
    )


async def _service(loaded: LoadedSettings, *, asks_model: bool) -> Line:
    """The embedding service; nothing is sent to it without --probe."""
    service = service_of(loaded.settings)
    key = f"key from {loaded.origins['embedding_api_key']}" if service.key else "no key"
    open_way = _unencrypted(service.base_url)
    detail = f"{service.model}, {service.dimension} dimensions, at {service.base_url}, {key}{open_way}"
    if not asks_model:
        return Line("model", ok=True, detail=f"{detail}; doctor --probe tests it")
    embedder = ApiEmbedder(service)
    started = time.perf_counter()
    try:
        await embedder.embed(["doctor"], _PATIENCE)
    except PkmError as error:
        return Line("model", ok=False, detail=f"{detail}; does not answer", remedy=error.message)
    finally:
        await embedder.close()
    return Line("model", ok=True, detail=f"{detail}; answers, {time.perf_counter() - started:.1f} s")


async def _extraction(loaded: LoadedSettings, *, asks_model: bool) -> Line:
    """The model for extraction; nothing is sent to it without --probe."""
    settings = loaded.settings
    model = language_model(settings)
    if model is None:
        return Line("extraction", ok=True, detail="no model is configured; no text leaves this machine for extraction")
    key = f"key from {loaded.origins['llm_api_key']}" if settings.llm_api_key else "no key"
    detail = f"{model.name} at {settings.llm_base_url}, {key}{_unencrypted(settings.llm_base_url)}"
    if not asks_model:
        if is_openai(settings.llm_base_url) and not settings.llm_api_key:
            return Line("extraction", ok=False, detail=detail, remedy=f"set {OPENAI_KEY}; see DOCS/models.md")
        return Line("extraction", ok=True, detail=f"{detail}; doctor --probe tests it")
    started = time.perf_counter()
    try:
        form, _ = await model.probe()
    except ModelError as error:
        remedy = f"{error.message} {error.remedy}".strip()
        return Line("extraction", ok=False, detail=f"{detail}; does not answer", remedy=remedy)
    finally:
        await model.close()
    return Line("extraction", ok=True, detail=f"{detail}; answers in {form}, {time.perf_counter() - started:.1f} s")


def _unencrypted(url: str) -> str:
    parts = urlsplit(url)
    is_open = parts.scheme == "http" and not is_loopback(parts.hostname or "")
    return "; texts and key are sent unencrypted" if is_open else ""


async def _server(settings: Settings) -> Line:
    """Neo4j, tested with each of its users."""
    reader = settings.neo4j_reader_username
    as_whom = f"as {settings.neo4j_username}" if settings.neo4j_password else "without a password"
    readers = f", reads as {reader}" if reader else ""
    detail = f"neo4j at {settings.neo4j_uri}, {settings.neo4j_database}, {as_whom}{readers}"
    started = time.perf_counter()
    try:
        database = await opening(settings).open_database()
        try:
            await database.examine()
        finally:
            await database.close()
    except (PkmError, Refused) as error:
        remedy = error.message if isinstance(error, PkmError) else f"{error}; see the log of that server"
        return Line("server", ok=False, detail=detail, remedy=remedy)
    return Line("server", ok=True, detail=f"{detail}; answers, {time.perf_counter() - started:.1f} s")


async def _database(settings: Settings, *, where: str = "", reported: AbstractSet[str] = frozenset()) -> Line:
    try:
        async with open_without_model(settings) as memory:
            found = await memory.services[STATUS].get_status(LOCAL, GetStatus())
            differences = await _differences(memory)
            count = len(await memory.context.graph.records.groups()) if found.status != "unavailable" else 0
    except PkmError as error:
        return Line("database", ok=False, detail="does not start", remedy=error.message)
    failures = [failure for failure in (*found.failures, differences) if failure and failure not in reported]
    problems = "; ".join(dict.fromkeys(failures))
    detail = f"{found.backend}{where or ', ' + counted(count, 'group')}"
    return Line("database", ok=not problems, detail=detail, remedy=problems)


async def _differences(memory: Memory) -> str:
    """The differences between journal and graph in one sentence; empty if there are none, or during a rebuild."""
    if await is_unfinished(memory.context) is not None:
        return ""
    return (await memory.recovery.compare()).describe()


def _print_checks(lines: list[Line]) -> None:
    width = max(len(line.name) for line in lines)
    for line in lines:
        say(f"{'ok ' if line.ok else 'BAD'} {line.name:<{width}}  {line.detail}")
        if line.remedy:
            say(f"    {'':<{width}}  -> {line.remedy}")


def _print_settings(loaded: LoadedSettings, *, lists_all: bool) -> None:
    rows = [(name, _shown(value), origin) for name, value, origin in loaded.effective()]
    for note in (*loaded.warnings, *loaded.notes):
        say(f"    {note}")
    if not lists_all:
        given = sum(origin != DEFAULT for _, _, origin in rows)
        say(f"Settings: {given} given, {len(rows) - given} defaults; --settings lists them and where they come from.")
        return
    say(f"\n.env file: {loaded.env_file or 'none in the working directory and its parents'}")
    if loaded.config_file:
        say(f"YAML file: {loaded.config_file}")
    say("Settings and where they come from:")
    names, values = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    for name, value, origin in rows:
        say(f"    {name:<{names}}  {value:<{values}}  {origin}".rstrip())


def _shown(value: object) -> str:
    if value is None or value == []:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
