"""A memory with a librarian, over fakes."""

from typing import Any

from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.curation.assembly import CURATION
from graphiti_pkm.capabilities.curation.models import FlaggedResponse, QualityResponse, SimilarResponse
from graphiti_pkm.capabilities.curation.requests import (
    ClearFlag,
    FlagForReview,
    FlagSimilarEntities,
    ListFlagged,
    SetConfidence,
)
from graphiti_pkm.capabilities.curation.reviews import Reviews
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.storage.commit import Committer


class CurationWorld(WritingWorld):
    """One server over fakes; entities are given by name."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        groups = Groups(self.graph, self.context.settings)
        stored, committer = self.graph.part(CURATION), Committer(self.context)
        self.reviews = Reviews(self.context, groups, stored, committer)
        self.similar = Similar(self.context, groups, stored, committer)

    async def make(self, *names: str, caller: Caller = LOCAL, **fields: Any) -> None:
        """Entities with these names, from one note."""
        self.clock.advance(seconds=1)
        named = [{"name": name, "type": "Person"} for name in names]
        await self.tell(f"{' and '.join(names)} came.", entities=named, caller=caller, **fields)

    async def flag(self, name: str, reason: str = "Looks odd.", caller: Caller = LOCAL) -> QualityResponse:
        self.clock.advance(seconds=1)
        request = FlagForReview(entity_uuid=self._uuid(name), reason=reason)
        return await self.reviews.flag_for_review(caller, request)

    async def clear(self, name: str, note: str = "It is fine.", caller: Caller = LOCAL) -> QualityResponse:
        self.clock.advance(seconds=1)
        return await self.reviews.clear_flag(caller, ClearFlag(entity_uuid=self._uuid(name), note=note))

    async def rate(
        self, name: str, confidence: float, reason: str = "Read again.", caller: Caller = LOCAL
    ) -> QualityResponse:
        self.clock.advance(seconds=1)
        request = SetConfidence(entity_uuid=self._uuid(name), confidence=confidence, reason=reason)
        return await self.reviews.set_confidence(caller, request)

    async def flagged(self, caller: Caller = LOCAL, **fields: Any) -> FlaggedResponse:
        return await self.reviews.list_flagged(caller, ListFlagged(**fields))

    async def flag_similar(self, caller: Caller = LOCAL, **fields: Any) -> SimilarResponse:
        self.clock.advance(seconds=1)
        return await self.similar.flag_similar_entities(caller, FlagSimilarEntities(**fields))

    @property
    def curated(self) -> list[WriteIntent]:
        """The writes of curation in the journal, in order."""
        return [row.intent for row in self.journal.table.values() if row.intent.kind is WriteKind.CURATE]

    def _uuid(self, name: str) -> str:
        known = [one.uuid for one in self.graph.tables.entities.values() if one.name == name]
        return known[0] if known else name
