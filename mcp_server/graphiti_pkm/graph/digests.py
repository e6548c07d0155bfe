"""The port ``Digester``: Graphiti summarises sagas and describes communities, nothing is saved."""

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from graphiti_pkm.domain.digests import CommunityDigest, Member
from graphiti_pkm.domain.extraction import ModelLedger
from graphiti_pkm.domain.saga_records import Saga
from graphiti_pkm.errors import ModelNonsense, PkmError
from graphiti_pkm.graph.pipeline import LanguageModel

if TYPE_CHECKING:
    from graphiti_pkm.graph.store import GraphStore

_log = logging.getLogger(__name__)

T = TypeVar("T")


class GraphitiDigester:
    """Over one store; what takes long to import is imported on first use, in a thread."""

    def __init__(self, store: "GraphStore", language_model: LanguageModel, *, parallel_calls: int = 4) -> None:
        self._store = store
        self._language_model = language_model
        self._parallel_calls = parallel_calls

    @property
    def model(self) -> str:
        return self._language_model.name

    async def summarize(self, saga: Saga, ledger: ModelLedger) -> Saga | None:
        return await self._asked(ledger, lambda run: run.summarize(saga))

    async def describe(self, members: Sequence[Member], ledger: ModelLedger) -> CommunityDigest:
        return await self._asked(ledger, lambda run: run.describe(members))

    async def _asked(self, ledger: ModelLedger, ask: Callable[[Any], Awaitable[T]]) -> T:
        """Errors of the model as it raised them; whatever Graphiti makes of an odd answer is nonsense."""
        module: Any = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.graph.digest_run")
        model = await asyncio.to_thread(self._language_model.for_job, ledger)
        try:
            answer = await ask(module.Run(self._store, model, self._parallel_calls))
        except PkmError:
            with contextlib.suppress(PkmError):
                await model.finish()
            raise
        except Exception as error:  # noqa: BLE001 Graphiti's on an answer that it did not expect, of any type
            await model.finish()
            _log.warning("a summary failed on an answer of the model: %s", type(error).__name__)
            raise ModelNonsense("An answer of the model does not fit what Graphiti asked for.") from None
        await model.finish()
        return answer
