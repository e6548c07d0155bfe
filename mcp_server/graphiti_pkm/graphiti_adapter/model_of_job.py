"""The model as one job of Graphiti's code is given it."""

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
    """A client of Graphiti's for one job."""

    async def finish(self) -> None:
        """Wait for calls that were left running, refuse later ones, raise the first error of any."""
        ...


class LanguageModel(Protocol):
    """A model that Graphiti's pipeline can be given; one a process."""

    @property
    def name(self) -> str: ...

    def for_job(self, ledger: ModelLedger) -> JobModel:
        """A client of Graphiti's whose calls go through the ledger; the first is slow, so it is called in a thread."""
        ...


@asynccontextmanager
async def model_of_job(language_model: LanguageModel, ledger: ModelLedger) -> AsyncIterator[JobModel]:
    """Finished with the block. Errors of the model stay as it raised them.

    Raises:
        ModelNonsense: whatever Graphiti makes of an answer that it did not expect.
    """
    model = await asyncio.to_thread(language_model.for_job, ledger)
    try:
        yield model
    except PkmError:
        with contextlib.suppress(PkmError):
            await model.finish()
        raise
    except Exception as error:  # noqa: BLE001 Graphiti's, of any type
        await model.finish()
        _log.warning("Graphiti failed on an answer of the model: %s", _place(error))
        raise ModelNonsense("An answer of the model does not fit what Graphiti asked for.") from None
    await model.finish()


def _place(error: Exception) -> str:
    """Without its text, which may quote the answer."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
