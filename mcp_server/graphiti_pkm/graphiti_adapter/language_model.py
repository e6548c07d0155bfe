"""The configured model, before it is needed: its client takes a second to import, and most starts never ask it."""

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from graphiti_pkm.core.ports.extraction import ModelLedger, Usage
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:
    from graphiti_pkm.graphiti_adapter.llm_client import Form, JobClient, LanguageModel


class ModelOnDemand:
    """A language model that is made with the first job; nothing is sent or imported before. For one event loop."""

    def __init__(self, settings: Settings, name: str, **http: Any) -> None:
        """``http``: for the HTTP client, in tests."""
        self.name = name
        self._settings = settings
        self._http = http
        self._making = threading.Lock()
        self._made: LanguageModel | None = None

    def for_job(self, ledger: ModelLedger) -> "JobClient":
        """What Graphiti's pipeline asks for one job; the first one is slow, so call it in a thread."""
        return self._make().for_job(ledger)

    async def probe(self) -> tuple["Form", Usage]:
        """Ask it once, outside of any job: how it answers, and what that took.

        Raises:
            ModelUnavailable: it cannot be reached, or asks to wait.
            ModelRefused: key, name, address or form of answers do not fit.
        """
        return await (await asyncio.to_thread(self._make)).probe()

    async def close(self) -> None:
        """End its connections; harmless when nothing was asked."""
        if self._made is not None:
            await self._made.close()

    def _make(self) -> "LanguageModel":
        with self._making:
            if self._made is None:
                from graphiti_pkm.graphiti_adapter.llm_client import llm_client  # noqa: PLC0415  (see the module)

                self._made = llm_client(self._settings, **self._http)
            return self._made


def language_model(settings: Settings, **http: Any) -> ModelOnDemand | None:
    """The model that reads episodes; None if none is configured, whatever keys there are."""
    return ModelOnDemand(settings, settings.llm_model, **http) if settings.llm_model else None
