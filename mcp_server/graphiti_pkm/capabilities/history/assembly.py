"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.history.changes import Changes
from graphiti_pkm.capabilities.history.ports import GraphChangeLists
from graphiti_pkm.capabilities.history.retiring import Retiring
from graphiti_pkm.capabilities.history.tools import CHANGES, RETIRING, UPDATING
from graphiti_pkm.capabilities.history.updating import Updating
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.change_lists import ChangeLists
from graphiti_pkm.storage.graph.sqlite.changes import SqliteChangeLists
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

CHANGE_LISTS = GraphPart[GraphChangeLists](cypher=ChangeLists, sqlite=SqliteChangeLists)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    updating = Updating(kernel.context, kernel.groups, kernel.committer)
    return Built(
        {
            UPDATING: updating,
            CHANGES: Changes(kernel.context, kernel.groups, kernel.parts.part(CHANGE_LISTS)),
            RETIRING: Retiring(kernel.context, kernel.groups, kernel.committer, updating),
        }
    )
