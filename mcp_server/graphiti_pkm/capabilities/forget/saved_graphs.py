"""Saved scratch graphs that contain what is forgotten: removed completely, since the rest may refer to it too.

Open graphs are not touched: ``save_graph`` and ``commit_graph`` leave out what is gone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.forget.plan import ForgetPlan
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import is_of
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Forgetting, WriteIntent
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent, is_lost, texts_in
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread

_MOST_LISTED = 20
_NAME = 100


@dataclass(frozen=True)
class SavedTrace:
    """Saved graphs that are removed, and those that may contain it."""

    lost: Sequence[SavedGraphContent] = ()
    doubtful: Sequence[SavedGraphContent] = ()
    of_owner: Sequence[SavedGraphContent] = ()
    """Those that are removed of whom the shared memory belongs to; the caller is not told what they are called."""

    @property
    def uuids(self) -> tuple[str, ...]:
        return tuple(graph.uuid for graph in (*self.lost, *self.of_owner))

    @property
    def names(self) -> list[str]:
        """Names of those that are removed."""
        return [clipped(graph.name, _NAME) for graph in self.lost[:_MOST_LISTED]]

    @property
    def hints(self) -> list[str]:
        """Lines for ``ask_user``."""
        return [
            f"saved graph {clipped(graph.name, _NAME)!r} holds a word of it; delete_graph with saved=true removes it"
            for graph in self.doubtful[:_MOST_LISTED]
        ]

    def taken(self, write: WriteIntent) -> WriteIntent:
        """The write with the graphs to be removed."""
        forgets = write.forgets or Forgetting()
        return write.model_copy(update={"forgets": forgets.model_copy(update={"saved_graphs": self.uuids})})


async def saved_trace(context: Context, caller: Caller, plan: ForgetPlan) -> SavedTrace:
    """The caller's saved graphs that contain what is removed, by uuid or by words.

    In a shared memory also those of its owner that hold a part of the group; members cannot save any.
    """
    kept = await context.journal.saved_graph_contents(caller.principal)
    group, others = plan.material.target.group_id, list[SavedGraphContent]()
    for owner in {one.memory for one in caller.shared if is_of(group, one.memory)}:
        found = await context.journal.saved_graph_contents(owner)
        others += [graph for graph in found if group in graph.groups]
    if not kept and not others:
        return SavedTrace()
    now = context.now()

    def work() -> SavedTrace:
        write = plan.intent(now)
        lost, doubtful, forms = [], [], plan.material.target.forms
        for graph in kept:
            texts = texts_of_graph(graph)
            if is_lost(graph, write) or any(map(plan.says, texts)):
                lost.append(graph)
            elif any(map(plan.material.around.vanished.marks, texts)) or any(map(forms.found, texts)):
                doubtful.append(graph)
        gone = [graph for graph in others if is_lost(graph, write) or any(map(plan.says, texts_of_graph(graph)))]
        return SavedTrace(lost, doubtful, gone)

    return await in_thread(work)


async def saved_graphs_note(context: Context, caller: Caller, write: WriteIntent) -> str:
    """A sentence about the saved graphs that a write removes; empty if there are none."""
    kept = await context.journal.saved_graph_contents(caller.principal)
    lost = SavedTrace(await in_thread(lambda: [graph for graph in kept if is_lost(graph, write)]))
    names = ", ".join(repr(name) for name in lost.names)
    return f" Saved scratch graphs that held a part of it are gone as well: {names}." if names else ""


def texts_of_graph(graph: SavedGraphContent) -> set[str]:
    """All texts of a graph: its name, its texts, and each edge as a whole."""
    content = json.loads(graph.content)
    edges = {f"{source} {relation} {target}" for source, target, relation, _ in content["edges"]}
    return {graph.name, *texts_in(content), *edges}
