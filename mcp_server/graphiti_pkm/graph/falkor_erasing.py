"""The append-only file made anew, so that nothing is in it that the graph does not hold."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphiti_pkm.graph.database import Refused

if TYPE_CHECKING:
    from graphiti_pkm.graph.falkor_database import FalkorDatabase

DURABLE_TIMEOUT_MS = 5_000
_TRIES = 3
_PAUSE = 0.05
_PATIENCE = 120.0


async def erase(db: "FalkorDatabase") -> bool:
    """True once the file was rewritten after everything written before this call. Raises Unavailable."""
    if not await db.is_durable(DURABLE_TIMEOUT_MS):
        return False
    for _ in range(_TRIES):
        before = await _idle(db)
        if before is None:
            return False
        try:
            await db.command("BGREWRITEAOF")
        except Refused:  # another process was quicker; its rewrite may have begun before our write
            continue
        after = await _idle(db)
        return after is not None and _has_rewritten(before, after)
    return False


def _has_rewritten(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A server that was started anew meanwhile counts from zero."""
    is_newer = int(after.get("aof_rewrites", 0)) > int(before.get("aof_rewrites", 0))
    return is_newer and after.get("aof_last_bgrewrite_status") == "ok"


async def _idle(db: "FalkorDatabase") -> Mapping[str, Any] | None:
    """The state of persistence once no rewrite is under way; None if that takes too long."""
    clock = asyncio.get_running_loop().time
    until = clock() + _PATIENCE
    while clock() < until:
        state: Mapping[str, Any] = await db.command("INFO", "persistence")
        if not int(state.get("aof_rewrite_in_progress", 0)) and not int(state.get("aof_rewrite_scheduled", 0)):
            return state
        await asyncio.sleep(_PAUSE)
    return None
