"""Looks at entities before they are promoted: who is flagged, unsure, alone or there twice waits for a librarian."""

from collections.abc import Callable, Sequence

from graphiti_pkm.capabilities.curation.merging import BAR
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.reviews import flag_of, intent_of
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.capabilities.staging.models import Issue, IssueKind
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Entity, Quality
from graphiti_pkm.storage.commit import Committer

_LOW = 0.5
_NEAREST = 10
_REASONS: dict[IssueKind, str] = {
    "low_confidence": "Its confidence is too low for promotion.",
    "orphan": "Nothing mentions it.",
    "duplicate": "May be the same as another entity.",
}
"""Of the flags that are set; what is flagged keeps its own."""


class PromotionCheck:
    """Reads a page of entities; both groups are locked by whoever asks."""

    def __init__(self, context: Context, committer: Committer, curation: GraphCuration, similar: Similar) -> None:
        self._context = context
        self._graph = context.graph
        self._committer = committer
        self._curation = curation
        self._similar = similar

    async def issues(
        self, entities: Sequence[Entity], source: str, target: str, copy_of: Callable[[str], str]
    ) -> dict[str, list[Issue]]:
        """By uuid, the reasons to look at it first. Duplicates are found only while the embedding model answers.

        ``copy_of``: what an entity is in the target, if it was copied before: that is no other one.
        """
        uuids = [one.uuid for one in entities]
        said = await self._curation.qualities(uuids, [source])
        support = await self._graph.records.entity_support(uuids)
        found: dict[str, list[Issue]] = {uuid: [] for uuid in uuids}

        def add(entity: Entity, kind: IssueKind, detail: str) -> None:
            found[entity.uuid].append(Issue(kind=kind, uuid=entity.uuid, name=entity.name, detail=detail))

        for entity in entities:
            quality = said.get(entity.uuid)
            if quality is not None and quality.is_flagged:
                add(entity, "flagged", "flagged")
            if quality is not None and quality.confidence is not None and quality.confidence < _LOW:
                add(entity, "low_confidence", f"confidence {quality.confidence:g}")
            if support.get(entity.uuid, (0, 0)) == (0, 0):
                add(entity, "orphan", "nothing mentions it")
        if await self._context.embedder.available():
            for within in (source, target):
                for entity, other in await self._similar.pairs(entities, source, within, BAR, _NEAREST):
                    is_joined = other.uuid == copy_of(entity.uuid) or _has_same_name(entity, other)
                    if within == source or not is_joined:
                        add(entity, "duplicate", f"very similar to {other.name} ({other.uuid})")
        return found

    async def flag(self, caller: Caller, issues: Sequence[Issue], group: str) -> None:
        """Flag what has no flag yet, for the first of its reasons."""
        reasons = {one.uuid: _REASONS[one.kind] for one in reversed(issues) if one.kind != "flagged"}
        held = await self._curation.qualities(list(reasons), [group])
        at = await self._committer.time(group, self._context.now())
        flagged = [
            before.model_copy(update=flag_of(reason, caller, at))
            for uuid, reason in reasons.items()
            if not (before := held.get(uuid) or Quality(uuid=uuid, group_id=group)).is_flagged
        ]
        if flagged:
            await self._committer.commit(intent_of(flagged, group, at), {})


def _has_same_name(one: Entity, other: Entity) -> bool:
    return normalise_name(one.name) == normalise_name(other.name)
