"""Loads the configured model on demand, because its client takes a second to import and many servers never use it."""

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from graphiti_pkm.core.ports.extraction import ModelLedger, Usage
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:
    from graphiti_pkm.graphiti_adapter.llm_client import Form, JobClient, LanguageModel


class ModelOnDemand:
    """A language model that is created with the first job. Use each instance in one event loop only."""

    def __init__(self, settings: Settings, name: str, **http: Any) -> None:
        """``http``: arguments for the HTTP client, used by tests."""
        self.name = name
        self._settings = settings
        self._http = http
        self._making = threading.Lock()
        self._made: LanguageModel | None = None

    def for_job(self, ledger: ModelLedger) -> "JobClient":
        """The client for one job of Graphiti's pipeline. The first call is slow, so make it in a thread."""
        return self._make().for_job(ledger)

    async def probe(self) -> tuple["Form", Usage]:
        """Call the model once, outside of any job, and return the form of its answer and the tokens used.

        Raises:
            ModelUnavailable: the model cannot be reached, or asks to wait.
            ModelRefused: key, name, address or form of answers are wrong.
        """
        return await (await asyncio.to_thread(self._make)).probe()

    async def close(self) -> None:
        """Close the connections, if any."""
        if self._made is not None:
            await self._made.close()

    def _make(self) -> "LanguageModel":
        with self._making:
            if self._made is None:
                from graphiti_pkm.graphiti_adapter.llm_client import llm_client  # noqa: PLC0415  (see the module)

                self._made = llm_client(self._settings, **self._http)
            return self._made


def language_model(settings: Settings, **http: Any) -> ModelOnDemand | None:
    """The model that reads episodes; None if none is configured, even if keys exist."""
    return ModelOnDemand(settings, settings.llm_model, **http) if settings.llm_model else None
