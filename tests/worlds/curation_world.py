"""A memory with a librarian, over fakes."""

from collections.abc import Sequence
from typing import Any

from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.curation.assembly import CURATION, MERGING
from graphiti_pkm.capabilities.curation.checks import Checks
from graphiti_pkm.capabilities.curation.fitness import FitnessTools
from graphiti_pkm.capabilities.curation.merging import Merging
from graphiti_pkm.capabilities.curation.models import (
    BiasResponse,
    CurateReport,
    FlaggedResponse,
    MergeResponse,
    QualityResponse,
    SimilarResponse,
    SplitResponse,
    UsefulResponse,
)
from graphiti_pkm.capabilities.curation.requests import (
    AdjustBias,
    ClearFlag,
    FlagForReview,
    FlagSimilarEntities,
    ListFlagged,
    MarkUseful,
    MergeEntities,
    SetConfidence,
    SplitEntity,
    UnmergeEntities,
)
from graphiti_pkm.capabilities.curation.reviews import Reviews
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.capabilities.curation.splitting import Splitting
from graphiti_pkm.capabilities.curation.unmerging import Unmerging
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.quality_checks import CHECKS, Check
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.storage.commit import Committer


class CurationWorld(WritingWorld):
    """One server over fakes; entities are given by name."""

    def __init__(self, *, at_once: int = 500, **settings: Any) -> None:
        """``at_once``: records of a kind that one write of a merge moves."""
        super().__init__(**settings)
        groups = Groups(self.graph, self.context.settings)
        stored, committer = self.graph.part(CURATION), Committer(self.context)
        self.reviews = Reviews(self.context, groups, stored, committer)
        self.fitness = FitnessTools(self.context, groups, stored, committer)
        self.similar = Similar(self.context, groups, stored, committer)
        self.checks = Checks(self.context, groups, stored, committer, self.similar)
        merges = self.graph.part(MERGING)
        self.rests: list[float] = []
        """Seconds that merges rested for between their writes."""

        async def rest(seconds: float) -> None:
            self.rests.append(seconds)

        self.merging = Merging(self.context, groups, stored, merges, committer, at_once, rest)
        self.unmerging = Unmerging(self.context, groups, stored, merges, committer, self.merging)
        self.splitting = Splitting(self.context, groups, merges, committer)

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

    async def bias(
        self, name: str, bias: float, reason: str = "It is the right one.", caller: Caller = LOCAL
    ) -> BiasResponse:
        self.clock.advance(seconds=1)
        request = AdjustBias(entity_uuid=self._uuid(name), bias=bias, reason=reason)
        return await self.fitness.adjust_bias(caller, request)

    async def useful(self, fact_uuid: str, caller: Caller = LOCAL) -> UsefulResponse:
        return await self.fitness.mark_useful(caller, MarkUseful(fact_uuid=fact_uuid))

    async def flagged(self, caller: Caller = LOCAL, **fields: Any) -> FlaggedResponse:
        return await self.reviews.list_flagged(caller, ListFlagged(**fields))

    async def flag_similar(self, caller: Caller = LOCAL, **fields: Any) -> SimilarResponse:
        self.clock.advance(seconds=1)
        return await self.similar.flag_similar_entities(caller, FlagSimilarEntities(**fields))

    async def check(
        self, *checks: Check, caller: Caller = LOCAL, group_id: str | None = None, writes: bool = True
    ) -> CurateReport:
        """All checks if none is named."""
        self.clock.advance(seconds=1)
        return await self.checks.run(caller, group_id, checks or CHECKS, writes=writes)

    async def merge(
        self, keep: str, remove: str, reason: str = "One thing.", caller: Caller = LOCAL, confirm: str | None = None
    ) -> MergeResponse:
        """One call; without ``confirm`` a preview."""
        self.clock.advance(seconds=1)
        uuids = {"keep_uuid": self._uuid(keep), "remove_uuid": self._uuid(remove)}
        return await self.merging.merge_entities(caller, MergeEntities(**uuids, reason=reason, confirm=confirm))

    async def merged(self, keep: str, remove: str, **fields: Any) -> MergeResponse:
        """Preview and deed."""
        preview = await self.merge(keep, remove, **fields)
        return await self.merge(keep, remove, **fields, confirm=preview.confirm)

    async def unmerge(self, uuid: str, reason: str = "Two things.", caller: Caller = LOCAL) -> MergeResponse:
        self.clock.advance(seconds=1)
        return await self.unmerging.unmerge_entities(caller, UnmergeEntities(remove_uuid=uuid, reason=reason))

    async def split(
        self,
        entity: str,
        name: str,
        facts: Sequence[str] = (),
        episodes: Sequence[str] = (),
        caller: Caller = LOCAL,
        confirm: str | None = None,
    ) -> SplitResponse:
        """One call; without ``confirm`` a preview."""
        self.clock.advance(seconds=1)
        request = SplitEntity(
            entity_uuid=self._uuid(entity),
            fact_uuids=list(facts),
            episode_uuids=list(episodes),
            name=name,
            confirm=confirm,
        )
        return await self.splitting.split_entity(caller, request)

    async def parted(self, entity: str, name: str, **fields: Any) -> SplitResponse:
        """Preview and deed."""
        preview = await self.split(entity, name, **fields)
        return await self.split(entity, name, **fields, confirm=preview.confirm)

    @property
    def curated(self) -> list[WriteIntent]:
        """The writes of curation in the journal, in order."""
        return [row.intent for row in self.journal.table.values() if row.intent.kind is WriteKind.CURATE]

    def _uuid(self, name: str) -> str:
        known = [one.uuid for one in self.graph.tables.entities.values() if one.name == name]
        return known[0] if known else name
