"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.history.changes import Changes
from graphiti_pkm.capabilities.history.retiring import Retiring
from graphiti_pkm.capabilities.history.tools import CHANGES, RETIRING
from graphiti_pkm.storage.graph.parts.change_lists import ChangeLists
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    return {
        CHANGES: Changes(kernel.context, kernel.groups, kernel.parts.part(cypher=ChangeLists)),
        RETIRING: Retiring(kernel.context, kernel.groups, kernel.committer),
    }
