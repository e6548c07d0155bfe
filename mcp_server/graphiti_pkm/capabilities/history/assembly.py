"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.history.changes import Changes
from graphiti_pkm.capabilities.history.ports import GraphChangeLists
from graphiti_pkm.capabilities.history.retiring import Retiring
from graphiti_pkm.capabilities.history.tools import CHANGES, RETIRING
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.change_lists import ChangeLists
from graphiti_pkm.storage.graph.sqlite.changes import SqliteChangeLists
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey

CHANGE_LISTS = GraphPart[GraphChangeLists](cypher=ChangeLists, sqlite=SqliteChangeLists)


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    return {
        CHANGES: Changes(kernel.context, kernel.groups, kernel.parts.part(CHANGE_LISTS)),
        RETIRING: Retiring(kernel.context, kernel.groups, kernel.committer),
    }
