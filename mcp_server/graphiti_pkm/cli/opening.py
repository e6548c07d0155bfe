"""A memory opened by a command: it looks or mends, and leaves what a model costs to the servers."""

from contextlib import AbstractAsyncContextManager

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.settings.loader import Settings


def open_without_model(settings: Settings) -> AbstractAsyncContextManager[Memory]:
    """As ``open_memory``, but no episode is read meanwhile, whatever model the settings name."""
    return open_memory(settings.model_copy(update={"llm_model": None}))
