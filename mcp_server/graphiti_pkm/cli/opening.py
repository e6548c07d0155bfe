"""Opens a memory for commands that must not cause costs of a model."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.cli.directories import require_memory
from graphiti_pkm.core.model.access import Caller, Tier, local_caller
from graphiti_pkm.errors import PermissionDenied
from graphiti_pkm.settings.loader import Settings


def local_user(settings: Settings, command: str, needs: Tier) -> Caller:
    """Who reads or changes what is remembered with a command: the local user, as over stdio.

    Raises:
        PermissionDenied: the setting ``tier`` is too low; nothing was opened.
    """
    caller = local_caller(settings.tier, read_only=False)
    if not caller.may(needs):
        raise PermissionDenied(
            f"PERMISSION_DENIED: {command} needs tier {needs} or above, and the setting tier is {settings.tier}. "
            "Nothing was changed."
        )
    return caller


def open_without_model(settings: Settings) -> AbstractAsyncContextManager[Memory]:
    """Like ``open_memory``, but without a model, so that no episode is read meanwhile."""
    return open_memory(settings.model_copy(update={"llm_model": None}))


def run_on(settings: Settings, act: Callable[[Memory], Awaitable[int]]) -> int:
    """Open the memory, without a language model, and act on it. Raises if there is none."""
    require_memory(settings)

    async def run() -> int:
        async with open_without_model(settings) as memory:
            return await act(memory)

    return asyncio.run(run())
