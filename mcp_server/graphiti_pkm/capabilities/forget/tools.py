"""The tool that forgets. Its docstring is a prompt."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.capabilities.forget.models import EpisodesMode, ForgetResponse
from graphiti_pkm.server.backend import Call
from graphiti_pkm.toolkit.parameters import GroupId


async def forget(
    call: Call,
    entity_uuid: Annotated[str | None, Field(description="give one of these four")] = None,
    fact_uuid: str | None = None,
    episode_uuid: str | None = None,
    query: Annotated[str | None, Field(description="words that each sentence holds")] = None,
    episodes: EpisodesMode = "redact",
    confirm: Annotated[str | None, Field(description="from the preview; leave out to get one")] = None,
    group_id: GroupId = None,
) -> ForgetResponse:
    """Forget a claim or a person for good: its sentences become "[forgotten]", also in the server's files.

    Use when the user wants something gone: the first call only previews; show it, ask about ask_user, then repeat it
    with confirm. For what merely ended use retire_fact instead.
    """
    return await call.services.forgetting.forget(
        call.caller, entity_uuid, fact_uuid, episode_uuid, query, episodes, confirm, group_id
    )
