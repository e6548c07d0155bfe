"""Saves scratch graphs and opens saved ones, only on request."""

import asyncio
import json
from uuid import uuid4

from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.memory_bridge.lookup import look_up_records
from graphiti_pkm.capabilities.scratch.models.answers import DeleteGraphResponse, ListGraphsResponse, SavedGraphView
from graphiti_pkm.capabilities.scratch.models.memory import OpenGraphResponse, SaveGraphResponse
from graphiti_pkm.capabilities.scratch.requests import DeleteGraph, OpenGraph, SaveGraph
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs, checked_name
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups, is_of
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent, SavedGraphs
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import NotAllowed, NotFound

MOST_CHARACTERS = 20_000_000
"""Characters of JSON, for all saved graphs of one caller together; every backup contains them."""
_NAMES = 20
_SHOWN = 60


class ScratchSaving:
    """``save_graph``, ``open_graph``, and ``list_graphs`` and ``delete_graph``, which also cover saved graphs."""

    def __init__(self, context: Context, groups: Groups, graphs: ScratchGraphs, saved: SavedGraphs) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._graphs = graphs
        self._saved = saved

    async def save_graph(self, caller: Caller, request: SaveGraph) -> SaveGraphResponse:
        """Save a copy in the data directory, replacing an earlier one of the same name. Durable on return.

        Raises:
            NotFound: the graph does not exist.
            TooLarge: the caller's saved graphs would be too large; nothing was saved.
            NotAllowed: the caller may only read.
        """
        caller.must_write("Nothing was saved.")
        called = checked_name(request.graph) if request.name is None else checked_name(request.name, "name")
        async with self._graphs.reading(caller, request.graph) as opened:
            content = await in_thread(opened.graph.content)
        left, groups, renewed = await self._without_gone(caller, content)
        if not all(is_of(group, caller.principal) for group in groups):
            raise NotAllowed(
                "Nothing was saved: this graph holds parts of a shared memory, which stay there, where forget reaches "
                "them. remove_node takes them out; load_memory_graph loads them again."
            )
        text = await asyncio.to_thread(_as_text, left)
        replaced = await self._saved.save(
            SavedGraphContent(
                uuid=str(uuid4()),
                owner=caller.own_visibility,
                name=called,
                saved_at=self._context.now(),
                groups=groups,
                nodes=len(left.nodes),
                edges=len(left.edges),
                content=text,
            ),
            self._graphs.limits.graphs,
            MOST_CHARACTERS,
        )
        gone = len(content.nodes) - len(left.nodes) + len(content.edges) - len(left.edges)
        without = f", without {gone} nodes and edges that memory has forgotten since they were loaded" if gone else ""
        if renewed:
            without += f", with {renewed} nodes and edges in the words that memory has for them now"
        return SaveGraphResponse(
            message=f"Saved {called!r}{without}; open_graph brings it back after a restart or expiry. Later changes of "
            "the scratch graph are not saved by themselves.",
            name=called,
            node_count=len(left.nodes),
            edge_count=len(left.edges),
            replaced=replaced,
        )

    async def open_graph(self, caller: Caller, request: OpenGraph) -> OpenGraphResponse:
        """Merge a saved graph into a scratch graph, by default one of the same name.

        Raises:
            NotFound: no graph was saved under this name; the message lists the saved ones.
            TooLarge: the scratch graph would become too large; nothing was added.
        """
        called = checked_name(request.name, "name")
        into = called if request.graph is None else checked_name(request.graph)
        found = await self._saved.find(caller.own_visibility, called)
        if found is None:
            raise NotFound(f"There is no saved graph {called[:_SHOWN]!r}. There are: {await self._named(caller)}.")
        content = await asyncio.to_thread(_from_text, found.content)
        async with self._graphs.writing(caller, into) as opened:
            added = await in_thread(opened.graph.apply, content)
            nodes, edges = opened.graph.node_count, opened.graph.edge_count
        merged = "; it was merged into what was there" if nodes > added.nodes_added else ""
        return OpenGraphResponse(
            message=f"Opened {called!r} as scratch graph {into!r}{merged}. The saved copy stays as it is.",
            graph=into,
            nodes_added=added.nodes_added,
            edges_added=added.edges_added,
            node_count=nodes,
            edge_count=edges,
            saved_at=iso(found.saved_at),
        )

    async def list_graphs(self, caller: Caller) -> ListGraphsResponse:
        """The caller's scratch graphs, the most recently used first, and the saved graphs by name."""
        saved = [
            SavedGraphView(name=one.name, node_count=one.nodes, edge_count=one.edges, saved_at=iso(one.saved_at))
            for one in await self._saved.listed(caller.own_visibility)
        ]
        return self._graphs.list_graphs(caller).model_copy(update={"saved": saved or None})

    async def delete_graph(self, caller: Caller, request: DeleteGraph) -> DeleteGraphResponse:
        """Delete a scratch graph, or with ``saved`` only the saved copy of this name."""
        if not request.saved:
            return await self._graphs.delete_graph(caller, request.graph)
        called = checked_name(request.graph)
        gone = await self._saved.delete(caller.own_visibility, called)
        if gone is None:
            existing = [one.name for one in await self._saved.listed(caller.own_visibility)]
            return DeleteGraphResponse(
                success=False,
                graph=called,
                reason="There is no saved graph of this name; nothing was deleted.",
                existing=existing[:_NAMES],
            )
        return DeleteGraphResponse(success=True, graph=called, nodes_deleted=gone.nodes, edges_deleted=gone.edges)

    async def _named(self, caller: Caller) -> str:
        names = [repr(one.name) for one in await self._saved.listed(caller.own_visibility)]
        more = f" and {len(names) - _NAMES} more (list_graphs)" if len(names) > _NAMES else ""
        return (", ".join(names[:_NAMES]) + more) or "none"

    async def _without_gone(self, caller: Caller, content: Content) -> tuple[Content, tuple[str, ...], int]:
        """The content updated from memory, without forgotten parts; its groups; the number of updated items."""
        visible = await self._groups.visible(caller)
        found = await look_up_records(self._graph, visible, content.nodes, content.edges)
        gone = {node.label for node in content.nodes if found.lacks_node(node)}
        nodes = [node for node in content.nodes if node.label not in gone]
        edges = [
            edge for edge in content.edges if gone.isdisjoint((edge.source, edge.target)) and not found.lacks_edge(edge)
        ]
        left = Content(tuple(map(found.node_now, nodes)), tuple(map(found.edge_now, edges)))
        pairs = (*zip(nodes, left.nodes, strict=True), *zip(edges, left.edges, strict=True))
        return left, tuple(sorted(found.groups)), sum(before is not now for before, now in pairs)


def _as_text(content: Content) -> str:
    nodes = [[node.label, node.type, dict(node.properties)] for node in content.nodes]
    edges = [[edge.source, edge.target, edge.relation, dict(edge.properties)] for edge in content.edges]
    return json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=False, separators=(",", ":"))


def _from_text(text: str) -> Content:
    data = json.loads(text)
    return Content(
        nodes=tuple(ScratchNode(label, kind, properties) for label, kind, properties in data["nodes"]),
        edges=tuple(ScratchEdge(*parts) for parts in data["edges"]),
    )
