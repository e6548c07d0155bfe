"""The fake model that sums up: what it says is made of what it was given, one call of the ledger each."""

from collections.abc import Sequence

from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.extraction import ModelLedger, Usage
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.summaries import CommunityText, Member


class FakeSummarizer:
    """The port ``Summarizer`` over a graph; ``fail_next`` the next calls in turn."""

    def __init__(self, graph: Graph, batch: int = 20) -> None:
        self._graph = graph
        self._batch = batch
        self.calls = 0
        """Those that were paid for."""
        self.read: list[list[Member]] = []
        """Of each community, its members as they were given."""
        self._faults: list[Exception | None] = []

    @property
    def model(self) -> str:
        return "fake-1"

    def fail_next(self, *errors: Exception | None) -> None:
        """The next calls raise, one error each; None for one that does not."""
        self._faults.extend(errors)

    async def summarize(self, saga: Saga, ledger: ModelLedger) -> Saga | None:
        episodes = await self._graph.sagas.episodes_of_saga(saga.uuid, saga.last_summarized_at, self._batch)
        if not episodes:
            return None
        text = " ".join(filter(None, (saga.summary, *(one.content for one in episodes))))
        return saga.model_copy(
            update={
                "summary": await self._asked(text, ledger),
                "last_summarized_at": episodes[-1].created_at,
                "last_summarized_episode_valid_at": max(one.valid_at for one in episodes),
            }
        )

    async def describe(self, members: Sequence[Member], ledger: ModelLedger) -> CommunityText:
        self.read.append(list(members))
        names = ", ".join(one.name for one in members)
        return CommunityText(name=f"About {names}", summary=await self._asked(names, ledger))

    async def explain(self, pairs: Sequence[tuple[Member, Member]], ledger: ModelLedger) -> list[str]:
        said = [f"{one.name} may be {other.name}." for one, other in pairs]
        return (await self._asked("\n".join(said), ledger)).split("\n")

    async def _asked(self, text: str, ledger: ModelLedger) -> str:
        if (kept := await ledger.recorded(text)) is not None:
            return kept
        await ledger.allow()
        if self._faults and (error := self._faults.pop(0)) is not None:
            raise error
        self.calls += 1
        await ledger.record(text, text, Usage(calls=1, prompt_tokens=10, completion_tokens=5))
        return text
