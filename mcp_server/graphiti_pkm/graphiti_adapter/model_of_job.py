"""The model as a single job of Graphiti's code uses it."""

import asyncio
import contextlib
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from graphiti_pkm.core.ports.extraction import ModelLedger
from graphiti_pkm.errors import ModelNonsense, PkmError

_log = logging.getLogger(__name__)


class JobModel(Protocol):
    """Graphiti's client for one job."""

    async def finish(self) -> None:
        """Wait for calls that are still running, refuse later ones, and raise the first error of any."""
        ...


class LanguageModel(Protocol):
    """A model that Graphiti's pipeline can use. Create one per process."""

    @property
    def name(self) -> str: ...

    def for_job(self, ledger: ModelLedger) -> JobModel:
        """A client that records its calls in the ledger. The first call is slow, so make it in a thread."""
        ...


@asynccontextmanager
async def model_of_job(language_model: LanguageModel, ledger: ModelLedger) -> AsyncIterator[JobModel]:
    """The client for one job, finished at the end of the block. Errors of the model are raised unchanged.

    Raises:
        ModelNonsense: Graphiti failed on an answer that it did not expect.
    """
    model = await asyncio.to_thread(language_model.for_job, ledger)
    try:
        yield model
    except PkmError:
        with contextlib.suppress(PkmError):
            await model.finish()
        raise
    except Exception as error:  # noqa: BLE001 Graphiti raises errors of any type
        await model.finish()
        _log.warning("Graphiti failed on an answer of the model: %s", _place(error))
        raise ModelNonsense("An answer of the model does not fit what Graphiti asked for.") from None
    await model.finish()


def _place(error: Exception) -> str:
    """The place of an error, without its text, which may quote the answer."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
