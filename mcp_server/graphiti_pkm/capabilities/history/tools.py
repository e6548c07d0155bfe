"""Tools of the memory about what became of facts. Their docstrings are prompts."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.history.models import ChangedFactResponse, ChangesResponse
from graphiti_pkm.core.model.records import ChangeKind
from graphiti_pkm.core.model.requests import as_list
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import Before, Cursor, OwnGroups
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.history.changes import Changes
    from graphiti_pkm.capabilities.history.retiring import Retiring

CHANGES: ServiceKey["Changes"] = ServiceKey("changes")
RETIRING: ServiceKey["Retiring"] = ServiceKey("retiring")

FactUuid: TypeAlias = Annotated[str, Field(description="from search_memory_facts or what_changed")]
Kinds: TypeAlias = Annotated[list[ChangeKind], BeforeValidator(as_list)]
Reason: TypeAlias = Annotated[str, Field(description="why, kept in the record")]


async def what_changed(
    call: Call,
    since: Annotated[str, Field(description="when recorded: ISO date, month or year")],
    until: Before = None,
    entity_uuid: Annotated[str | None, Field(description="only its facts")] = None,
    group_ids: OwnGroups = None,
    kinds: Annotated[Kinds | None, Field(description="all if left out")] = None,
    limit: Annotated[int, Field(ge=paging.CHANGES.minimum, le=paging.CHANGES.maximum)] = paging.CHANGES.default,
    cursor: Cursor = None,
) -> ChangesResponse:
    """List what became of facts, newest recorded first, with reason and the words that caused it.

    Use for what is new, why something no longer holds, the history of a status, and proposals that wait (open). For
    what held at a date use get_entity_connections instead.
    """
    return await call.services[CHANGES].what_changed(
        call.caller, since, until, entity_uuid, group_ids, kinds, limit, cursor
    )


async def retire_fact(
    call: Call,
    fact_uuid: FactUuid,
    reason: Reason,
    invalid_at: Annotated[str | None, Field(description="when it ended; left out: as proposed, else now")] = None,
    replaced_by: Annotated[str | None, Field(description="uuid of the fact in its place")] = None,
) -> ChangedFactResponse:
    """End a fact that no longer holds, or accept a proposal; history stays, restore_fact undoes it.

    Use when no note says what came instead; else use add_memory with replaces, for one that never held
    change=corrected.
    """
    return await call.services[RETIRING].retire_fact(call.caller, fact_uuid, reason, invalid_at, replaced_by)


async def restore_fact(call: Call, fact_uuid: FactUuid, reason: Reason) -> ChangedFactResponse:
    """Undo what last ended or corrected a fact, or reject a proposal; what replaced it stays.

    Use when something was ended wrongly. To end a fact use retire_fact instead.
    """
    return await call.services[RETIRING].restore_fact(call.caller, fact_uuid, reason)
