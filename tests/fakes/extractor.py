"""The fake model that reads episodes: it finds what it was told to, as soon as it may."""

import asyncio
from collections.abc import Callable

from graphiti_pkm.core.ports.extraction import Extraction, ExtractionTask, ModelLedger, Usage
from graphiti_pkm.errors import NotFound

Finds = Callable[[ExtractionTask], Extraction]


class FakeExtractor:
    """The port ``Extractor``: one call of the ledger for each episode, its answer kept there.

    ``finds`` is what it finds; ``fail_next`` the next readings in turn; while ``may_answer`` is clear it thinks on.
    """

    def __init__(self, finds: Finds = lambda _: Extraction()) -> None:
        self.finds = finds
        self.tasks: list[ExtractionTask] = []
        """What it was asked, in order."""
        self.episodes: set[str] | None = None
        """Those that are there; None: whatever it is asked about."""
        self.calls = 0
        """Those that were paid for."""
        self.most_at_once = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._asked = asyncio.Condition()
        self._under_way = 0
        self._faults: list[Exception] = []

    @property
    def model(self) -> str:
        return "fake-1"

    def fail_next(self, *errors: Exception) -> None:
        """The next readings raise, one error each."""
        self._faults.extend(errors)

    async def asked_for(self, count: int) -> None:
        """Returns once it was asked so often."""
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.tasks) >= count)

    async def extract(self, task: ExtractionTask, ledger: ModelLedger) -> Extraction:
        async with self._asked:
            self.tasks.append(task)
            self._asked.notify_all()
        if self.episodes is not None and task.episode_uuid not in self.episodes:
            raise NotFound("The episode is not there any more.")
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            await self.may_answer.wait()
            if self._faults:
                raise self._faults.pop(0)
            request = task.model_dump_json()
            if (kept := await ledger.recorded(request)) is not None:
                return Extraction.model_validate_json(kept)
            await ledger.allow()
            self.calls += 1
            found = self.finds(task)
            await ledger.record(request, found.model_dump_json(), Usage(calls=1, prompt_tokens=10, completion_tokens=5))
            return found
        finally:
            self._under_way -= 1
