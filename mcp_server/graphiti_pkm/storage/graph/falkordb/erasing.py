"""The database's files made anew, so that nothing is in them that the graph does not hold."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from graphiti_pkm.storage.graph.falkordb.connection import FalkorRefused
from graphiti_pkm.storage.graph.falkordb.server import Keeping

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase

DURABLE_TIMEOUT_MS = 5_000
_TRIES = 3
_PAUSE = 0.05
_PATIENCE = 120.0
DENIED = (
    "What was forgotten may still stand in the FalkorDB server's files: its user may not run {command}. Allow it, or "
    "have that server's administrator run it."
)

_State = Mapping[str, Any]


async def erase(db: "FalkorDatabase") -> bool:
    """True once each file was made anew after everything written before this call. Raises Unavailable."""
    if db.keeping is Keeping.APPEND_ONLY:
        return await _rewrite(db) and (not db.has_snapshots or await _save(db))
    return db.keeping is Keeping.NOTHING or await _save(db)


async def _rewrite(db: "FalkorDatabase") -> bool:
    if not await db.is_durable(DURABLE_TIMEOUT_MS):
        return False
    return await _made_anew(db, "BGREWRITEAOF", _rewrites, _has_rewritten)


async def _save(db: "FalkorDatabase") -> bool:
    return await _made_anew(db, "BGSAVE", _saves, _has_saved)


async def _made_anew(
    db: "FalkorDatabase", command: str, is_busy: Callable[[_State], bool], is_done: Callable[[_State, _State], bool]
) -> bool:
    for _ in range(_TRIES):
        before = await _idle(db, is_busy)
        if before is None:
            return False
        try:
            await db.command(command)
        except FalkorRefused as refused:
            if refused.is_denied:
                db.note(DENIED.format(command=command))
                return False
            continue  # another process was quicker; what it began may be older than our write
        db.note(DENIED.format(command=command), holds=False)
        after = await _idle(db, is_busy)
        return after is not None and is_done(before, after)
    return False


def _rewrites(state: _State) -> bool:
    return bool(int(state.get("aof_rewrite_in_progress", 0)) or int(state.get("aof_rewrite_scheduled", 0)))


def _has_rewritten(before: _State, after: _State) -> bool:
    """A server that was started anew meanwhile counts from zero."""
    is_newer = int(after.get("aof_rewrites", 0)) > int(before.get("aof_rewrites", 0))
    return is_newer and after.get("aof_last_bgrewrite_status") == "ok"


def _saves(state: _State) -> bool:
    return bool(int(state.get("rdb_bgsave_in_progress", 0)))


def _has_saved(before: _State, after: _State) -> bool:
    is_newer = int(after.get("rdb_saves", 0)) > int(before.get("rdb_saves", 0))
    return is_newer and after.get("rdb_last_bgsave_status") == "ok"


async def _idle(db: "FalkorDatabase", is_busy: Callable[[_State], bool]) -> _State | None:
    """The state of persistence once nothing of the kind is under way; None if that takes too long."""
    clock = asyncio.get_running_loop().time
    until = clock() + _PATIENCE
    while clock() < until:
        state: _State = await db.command("INFO", "persistence")
        if not is_busy(state):
            return state
        await asyncio.sleep(_PAUSE)
    return None
