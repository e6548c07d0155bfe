"""Implements the port ``Summarizer``: Graphiti summarises sagas and communities, and nothing is saved."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.extraction import ModelLedger
from graphiti_pkm.core.ports.summaries import CommunityText, Member
from graphiti_pkm.graphiti_adapter.model_of_job import LanguageModel, model_of_job

if TYPE_CHECKING:
    from graphiti_pkm.graphiti_adapter.readable_store import ReadableStore

T = TypeVar("T")


class GraphitiSummarizer:
    """Reads from one store. Modules that are slow to import are imported in a thread on first use."""

    def __init__(self, store: "ReadableStore", language_model: LanguageModel, *, parallel_calls: int = 4) -> None:
        self._store = store
        self._language_model = language_model
        self._parallel_calls = parallel_calls

    @property
    def model(self) -> str:
        return self._language_model.name

    async def summarize(self, saga: Saga, ledger: ModelLedger) -> Saga | None:
        return await self._asked(ledger, lambda run: run.summarize(saga))

    async def describe(self, members: Sequence[Member], ledger: ModelLedger) -> CommunityText:
        return await self._asked(ledger, lambda run: run.describe(members))

    async def explain(self, pairs: Sequence[tuple[Member, Member]], ledger: ModelLedger) -> list[str]:
        return await self._asked(ledger, lambda run: run.explain(pairs))

    async def _asked(self, ledger: ModelLedger, ask: Callable[[Any], Awaitable[T]]) -> T:
        module: Any = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.graphiti_adapter.summary_run")
        async with model_of_job(self._language_model, ledger) as model:
            return await ask(module.Run(self._store, model, self._parallel_calls))
