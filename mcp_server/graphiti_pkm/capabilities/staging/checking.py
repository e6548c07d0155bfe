"""Looks at entities before they are promoted: who is flagged, unsure, alone or there twice waits for a librarian."""

from collections.abc import Callable, Iterator, Sequence

from graphiti_pkm.capabilities.curation.merging import BAR
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.reviews import flag_of, intent_of
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.capabilities.staging.models import Issue, IssueKind
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.quality_checks import LOW_CONFIDENCE, REASONS, Check, is_settled, with_findings
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Quality
from graphiti_pkm.storage.commit import Committer

_NEAREST = 10
_CHECKS: dict[IssueKind, Check] = {
    "low_confidence": "low-confidence",
    "orphan": "orphans",
    "duplicate": "duplicates",
}
"""What finds them in ``curate run`` as well; what is flagged keeps its own reason."""


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
        found: dict[str, list[Issue]] = {one.uuid: [] for one in entities}
        uuids = list(found)
        said = await self._curation.qualities(uuids, [source])
        alone = await self._curation.orphans(source, Window(limit=len(uuids)), uuids) if uuids else []
        listed = [issue for one in entities if (held := said.get(one.uuid)) for issue in _said(one, held)]
        listed += [_issue(one, "orphan", "nothing mentions it") for one in alone]
        for issue in [*listed, *await self._duplicates(entities, source, target, copy_of)]:
            held, check = said.get(issue.uuid), _CHECKS.get(issue.kind)
            if held is None or check is None or not is_settled(held, check, _others(issue)):
                found[issue.uuid].append(issue)
        return found

    async def _duplicates(
        self, entities: Sequence[Entity], source: str, target: str, copy_of: Callable[[str], str]
    ) -> list[Issue]:
        if not await self._context.embedder.available():
            return []
        return [
            _issue(one, "duplicate", f"very similar to {other.name} ({other.uuid})", other.uuid)
            for within in (source, target)
            for one, other in await self._similar.pairs(entities, source, within, BAR, _NEAREST)
            if within == source or not (other.uuid == copy_of(one.uuid) or _has_same_name(one, other))
        ]

    async def flag(self, caller: Caller, issues: Sequence[Issue], group: str) -> None:
        """Flag what has no flag yet, for the first of its reasons."""
        first = {one.uuid: (check, one) for one in reversed(issues) if (check := _CHECKS.get(one.kind)) is not None}
        held = await self._curation.qualities(list(first), [group])
        at = await self._committer.time(group, self._context.now())
        flagged = [
            with_findings(before.model_copy(update=flag_of(REASONS[check], caller, at)), check, _others(issue))
            for uuid, (check, issue) in first.items()
            if not (before := held.get(uuid) or Quality(uuid=uuid, group_id=group)).is_flagged
        ]
        if flagged:
            await self._committer.commit(intent_of(flagged, group, at), {})


def _issue(entity: Entity, kind: IssueKind, detail: str, other: str | None = None) -> Issue:
    return Issue(kind=kind, uuid=entity.uuid, name=entity.name, detail=detail, other=other)


def _said(entity: Entity, held: Quality) -> Iterator[Issue]:
    if held.is_flagged:
        yield _issue(entity, "flagged", "flagged")
    if held.confidence is not None and held.confidence < LOW_CONFIDENCE:
        yield _issue(entity, "low_confidence", f"confidence {held.confidence:g}")


def _others(issue: Issue) -> tuple[str, ...]:
    return () if issue.other is None else (issue.other,)


def _has_same_name(one: Entity, other: Entity) -> bool:
    return normalise_name(one.name) == normalise_name(other.name)
