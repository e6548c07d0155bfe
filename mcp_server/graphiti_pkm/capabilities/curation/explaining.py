"""What a configured model says of likely duplicates: a text beside each pair, which changes nothing."""

from collections.abc import Sequence

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.ports.extraction import NO_JOB, Budget, ExtractionQueue
from graphiti_pkm.core.ports.summaries import Member, Summarizer
from graphiti_pkm.core.reading.views import clipped

EXPLAINED = 20
"""Pairs of one call at most."""
_NAME, _SUMMARY, _TEXT = 100, 400, 500


class Explaining:
    """Asks the model once a call, at the day's budget for models."""

    def __init__(self, context: Context, queue: ExtractionQueue, summarizer: Summarizer) -> None:
        self._context = context
        self._queue = queue
        self._summarizer = summarizer
        self._budget = Budget.of(context.settings)

    async def explain(self, pairs: Sequence[tuple[Entity, Entity]]) -> list[str]:
        """Of each of the first pairs what the model says. Raises ModelError."""
        today = self._context.now().astimezone(self._context.settings.zone).date().isoformat()
        ledger = self._queue.ledger(NO_JOB, self._budget, today)
        asked = [(_member(one), _member(other)) for one, other in pairs[:EXPLAINED]]
        said = await self._summarizer.explain(asked, ledger) if asked else []
        return [clipped(" ".join(text.split()), _TEXT) for text in said]


def _member(entity: Entity) -> Member:
    return Member(uuid=entity.uuid, name=clipped(entity.name, _NAME), text=clipped(entity.summary, _SUMMARY))
