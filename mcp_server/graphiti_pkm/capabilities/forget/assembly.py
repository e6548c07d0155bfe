"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.forget.clearing import Clearing
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.capabilities.forget.tools import CLEARING, DELETING, FORGETTING
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    return {
        CLEARING: Clearing(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
        DELETING: Deleting(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
        FORGETTING: Forgetting(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
    }
