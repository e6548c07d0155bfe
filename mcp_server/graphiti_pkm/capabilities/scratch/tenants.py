"""Scratch graphs by tenant and name: ownership, expiry, limits and locks.

A tenant is what a caller may see (``Caller.sight``), not a session: a caller who reconnects finds the same graphs, and
nobody else does. Each graph has one lock, which readers hold too, since work on a graph can run in a thread. Nothing
slow happens under the lock.
"""

import asyncio
import sys
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH, LONGEST_NAME
from graphiti_pkm.capabilities.scratch.models.answers import DeleteGraphResponse, ListGraphsResponse, ScratchGraphView
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.core.operating_system import give_back_memory
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import InvalidInput, NotFound, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

if TYPE_CHECKING:  # rustworkx and NumPy are loaded with the first graph
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

_Tenant: TypeAlias = tuple[str, ...]

_MOST_NAMES = 20
"""Names of graphs listed in one message."""
_SHOWN = 60
_TURN_SECONDS = 60.0
_ENGINE = "graphiti_pkm.capabilities.scratch.graphs.graph"
_LINE_ENDS = frozenset({"Zl", "Zp"})


@dataclass(eq=False)
class OpenGraph:
    """One graph of one tenant."""

    name: str
    graph: "ScratchGraph"
    created_at: datetime
    last_accessed: datetime
    similar: list[str] = field(default_factory=list)
    """Names of earlier graphs that differ only in case, spaces, hyphens and underscores."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = 0.0
    """When it was last used, on a monotonic clock."""
    version_before: int = 0
    """The version of the graph when its lock was taken."""

    @property
    def message_if_created(self) -> dict[str, Any]:
        """Fields of the answer if the holder of the lock has just made the graph."""
        is_made = not self.version_before and self.graph.version
        return {"graph_created": True, "similar_graphs": self.similar or None} if is_made else {}


class ScratchGraphs:
    """All scratch graphs of this process; they end with it."""

    def __init__(
        self,
        limits: ScratchLimits,
        idle: timedelta,
        now: Callable[[], datetime],
        signer: Signer | None = None,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """``idle``: how long an unused graph stays; zero means forever. ``signer`` signs cursors.

        ``elapsed`` is a monotonic clock, in seconds.
        """
        self._elapsed = elapsed
        self.limits = limits
        self.signer = signer or Signer()
        self._idle = idle
        self._now = now
        self._tenants: dict[_Tenant, dict[str, OpenGraph]] = {}
        self._dropped = False

    def reading(self, caller: Caller, name: str = DEFAULT_GRAPH) -> AbstractAsyncContextManager[OpenGraph]:
        """Lock an existing graph.

        Raises:
            NotFound: there is no graph of this name; the message lists those that exist.
        """
        return self._holding(caller, name, creates=False)

    def writing(
        self, caller: Caller, name: str = DEFAULT_GRAPH, *, create: bool = True
    ) -> AbstractAsyncContextManager[OpenGraph]:
        """Lock a graph to change it; with ``create`` a missing graph is made, and kept only if it is then changed.

        Raises:
            NotFound: there is no such graph and ``create`` is False.
            InvalidInput: the name is invalid.
            TooLarge: the tenant has as many graphs as allowed.
        """
        return self._holding(caller, name, creates=create)

    def list_graphs(self, caller: Caller) -> ListGraphsResponse:
        """The caller's graphs, the most recently used first."""
        self.sweep()
        graphs = sorted(self._of(caller.visibility), key=lambda one: one.name)
        graphs.sort(key=lambda one: one.last_accessed, reverse=True)
        return ListGraphsResponse(
            message=None if graphs else "There are no scratch graphs; the first write into a name makes one.",
            total=len(graphs),
            graphs=[self.view(one) for one in graphs],
        )

    async def delete_graph(self, caller: Caller, graph: str = DEFAULT_GRAPH) -> DeleteGraphResponse:
        """Delete a graph; the answer says how much it contained."""
        name = checked_name(graph)
        self.sweep()
        if name not in self._tenants.get(caller.visibility, {}):
            return DeleteGraphResponse(
                success=False,
                graph=name,
                reason="There is no scratch graph of this name; nothing was deleted.",
                existing=self._names(caller.visibility)[:_MOST_NAMES],
            )
        async with self.writing(caller, name, create=False) as opened:
            self._drop(caller.visibility, opened)
            return DeleteGraphResponse(
                success=True,
                graph=name,
                nodes_deleted=opened.graph.node_count,
                edges_deleted=opened.graph.edge_count,
            )

    def sweep(self) -> int:
        """Drop graphs that were unused for the idle time, except locked ones; returns their number."""
        if not self._idle:
            return 0
        now = self._elapsed()
        gone = [
            (tenant, one)
            for tenant, graphs in self._tenants.items()
            for one in graphs.values()
            if now - one.used_at > self._idle.total_seconds() and not one.lock.locked()
        ]
        for tenant, one in gone:
            self._drop(tenant, one)
        return len(gone)

    async def sweep_periodically(self, stop: asyncio.Event) -> None:
        """Drop expired graphs and return their memory to the system even while there are no calls."""
        while not stop.is_set():
            await wait_for_any(stop, seconds=_TURN_SECONDS)
            self.sweep()
            if self._dropped:
                self._dropped = False
                await asyncio.to_thread(give_back_memory)

    @asynccontextmanager
    async def _holding(self, caller: Caller, name: str, *, creates: bool) -> AsyncIterator[OpenGraph]:
        tenant, key = caller.visibility, checked_name(name)
        if creates and _ENGINE not in sys.modules:
            await asyncio.to_thread(import_module, _ENGINE)
        while True:
            self.sweep()
            opened = self._tenants.get(tenant, {}).get(key)
            if opened is None:
                if not creates:
                    raise self._none_of(tenant, key)
                opened = self._made(tenant, key)
            async with opened.lock:
                if self._tenants.get(tenant, {}).get(key) is not opened:
                    continue  # deleted while we waited for the lock
                self._use(opened)
                opened.version_before = opened.graph.version
                try:
                    yield opened
                finally:
                    self._use(opened)
                    if not opened.graph.version:
                        self._drop(tenant, opened)
            return

    def _use(self, opened: OpenGraph) -> None:
        opened.last_accessed, opened.used_at = self._now(), self._elapsed()

    def _made(self, tenant: _Tenant, name: str) -> OpenGraph:
        from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph  # noqa: PLC0415  (loaded with the first graph)

        graphs = self._tenants.setdefault(tenant, {})
        if len(graphs) >= self.limits.graphs:
            raise TooLarge(
                f"There are already {len(graphs)} scratch graphs, the maximum (scratch_graphs): "
                f"{self._listed(tenant)}. delete_graph makes room."
            )
        now = self._now()

        def bytes_elsewhere() -> int:
            return sum(one.graph.bytes for one in self._of(tenant) if one.name != name)

        similar = sorted(other for other in graphs if same_key(other) == same_key(name))
        graphs[name] = OpenGraph(name, ScratchGraph(self.limits, bytes_elsewhere), now, now, similar[:_MOST_NAMES])
        self._use(graphs[name])
        return graphs[name]

    def _drop(self, tenant: _Tenant, opened: OpenGraph) -> None:
        graphs = self._tenants.get(tenant, {})
        if graphs.get(opened.name) is opened:
            del graphs[opened.name]
            self._dropped = True
        if not graphs:
            self._tenants.pop(tenant, None)

    def _of(self, tenant: _Tenant) -> Iterator[OpenGraph]:
        return iter(list(self._tenants.get(tenant, {}).values()))  # threads go through them while others are made

    def _names(self, tenant: _Tenant) -> list[str]:
        return sorted(self._tenants.get(tenant, {}))

    def _listed(self, tenant: _Tenant) -> str:
        names = [repr(name) for name in self._names(tenant)]
        more = f" and {len(names) - _MOST_NAMES} more (list_graphs)" if len(names) > _MOST_NAMES else ""
        return (", ".join(names[:_MOST_NAMES]) + more) or "none"

    def _none_of(self, tenant: _Tenant, name: str) -> NotFound:
        return NotFound(
            f"There is no scratch graph {name[:_SHOWN]!r}, and reading does not make one. There are: "
            f"{self._listed(tenant)}. add_nodes and import_graph make graphs{self._goes()}."
        )

    def _goes(self) -> str:
        return f"; a graph that is not used for {self._idle} expires" if self._idle else ""

    def view(self, one: OpenGraph) -> ScratchGraphView:
        """A graph as ``list_graphs`` shows it."""
        expires = one.last_accessed + self._idle if self._idle else None
        return ScratchGraphView(
            name=one.name,
            node_count=one.graph.node_count,
            edge_count=one.graph.edge_count,
            created_at=one.created_at.isoformat(),
            last_accessed=one.last_accessed.isoformat(),
            expires_at=expires.isoformat() if expires else None,
        )


def checked_name(name: str, parameter: str = "graph") -> str:
    """The trimmed name of a graph. Raises InvalidInput, naming the parameter, if it is invalid."""
    trimmed = unicodedata.normalize("NFC", name.strip())
    kinds = {unicodedata.category(character) for character in trimmed}
    if not trimmed or len(trimmed) > LONGEST_NAME or any(kind[0] == "C" or kind in _LINE_ENDS for kind in kinds):
        left_out = f"; leave it out for {DEFAULT_GRAPH!r}" if parameter == "graph" else ""
        raise InvalidInput(
            f"{parameter} must be a name of 1 to {LONGEST_NAME} characters on one line, e.g. codebase{left_out}."
        )
    return trimmed
