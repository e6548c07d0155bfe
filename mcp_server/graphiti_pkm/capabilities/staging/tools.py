"""The tool over staging, and the keys of the services, which the commands use. Its docstring is a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.staging.comparing import GroupComparing
    from graphiti_pkm.capabilities.staging.migrating import Migrating
    from graphiti_pkm.capabilities.staging.models import PromoteResponse
    from graphiti_pkm.capabilities.staging.requests import Promote
    from graphiti_pkm.capabilities.staging.snapshots import Snapshots

TYPES = (
    "graphiti_pkm.capabilities.staging.models",
    "graphiti_pkm.capabilities.staging.requests",
)
SNAPSHOTS: ServiceKey[Snapshots] = ServiceKey("snapshots")
MIGRATING: ServiceKey[Migrating] = ServiceKey("migrating")
COMPARING: ServiceKey[GroupComparing] = ServiceKey("group_comparing")


async def promote(call: Call, request: Promote) -> PromoteResponse:
    """Copy entities from the staging group into the group that is relied on; a dry run unless dry_run is false.

    Use once what was tried out is good; to store something new use add_memory instead. What is flagged, unsure, alone
    or very similar to another entity is held back and flagged; issues says why. Nothing ends or goes: an entity of the
    same name and type is joined. A second call finds what the first copied.
    """
    return await call.services[MIGRATING].promote(call.caller, request)
