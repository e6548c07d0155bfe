"""Opens a memory for commands that must not cause costs of a model."""

from contextlib import AbstractAsyncContextManager

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.settings.loader import Settings


def open_without_model(settings: Settings) -> AbstractAsyncContextManager[Memory]:
    """Like ``open_memory``, but without a model, so that no episode is read meanwhile."""
    return open_memory(settings.model_copy(update={"llm_model": None}))
