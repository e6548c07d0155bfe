"""Counts a group, and compares two groups by what they say."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.staging.models import DiffReport, GroupStats, Side
from graphiti_pkm.capabilities.staging.reading import PAGE, GroupReading
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.curation import QualityFilter
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.queries import GroupSize, Window
from graphiti_pkm.core.model.records import Fact, WriteKind
from graphiti_pkm.core.model.targets import target_of
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.snapshots import files

_LOW = 0.5
_SHOWN = 8
_NAME = 200


class GroupComparing:
    """``stats`` and ``diff``."""

    def __init__(self, context: Context, groups: Groups, curation: GraphCuration) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._curation = curation

    async def stats(self, caller: Caller, group: str | None) -> GroupStats:
        """What a group holds; a group that does not exist holds nothing."""
        stored = self._groups.one(caller, group)
        sizes = await self._graph.records.group_sizes([stored])
        size = sizes.get(stored, GroupSize(episodes=0, entities=0, facts=0))
        quality = await self._curation.quality_counts(QualityFilter(group_ids=(stored,), below=_LOW, limit=1))
        step = await self._context.journal.last_write(stored, WriteKind.RESTORE_SNAPSHOT)
        begun = step.restores.checksum if step and step.restores and not step.restores.is_end else None
        name = self._groups.public(stored)
        return GroupStats(
            group=name,
            target=target_of(name),
            **size.model_dump(),
            **(await self._graph.documents.counts(stored)).model_dump(),
            flagged=quality.flagged,
            low_confidence=quality.low,
            orphans=quality.orphans,
            snapshots=len(files.snapshots_in(self._context.settings.data_dir, stored)),
            unfinished=None if begun is None else await asyncio.to_thread(self._tag_of, stored, begun),
        )

    def _tag_of(self, stored: str, checksum: str) -> str:
        """The tag of a snapshot; the beginning of its checksum if it is gone, or was made for a rollback."""
        for path in files.snapshots_in(self._context.settings.data_dir, stored):
            with contextlib.suppress(PkmError):
                if (header := files.header_of(path)).checksum == checksum:
                    return header.tag
        return checksum[:_SHOWN]

    async def diff(self, caller: Caller, source: str, target: str, limit: int) -> DiffReport:
        """What only one of two groups has; ``limit`` bounds each list."""
        one, other = self._groups.one(caller, source), self._groups.one(caller, target)
        left, right = await self._said(one), await self._said(other)
        return DiffReport(
            source=self._groups.public(one),
            target=self._groups.public(other),
            only_source=await self._side(one, left, right, limit),
            only_target=await self._side(other, right, left, limit),
            **{f"{kind}_in_both": len(own & right[kind]) for kind, own in left.items()},
        )

    def _lines(self, stored: str) -> dict[str, AsyncIterator[tuple[bytes, str]]]:
        """By kind of record: a digest of what each one says, and how it is shown."""
        return {
            "entities": self._entity_lines(stored),
            "facts": self._fact_lines(stored),
            "documents": self._document_lines(stored),
            "sagas": self._saga_lines(stored),
        }

    async def _said(self, stored: str) -> dict[str, set[bytes]]:
        return {kind: {key async for key, _ in lines} for kind, lines in self._lines(stored).items()}

    async def _side(
        self, stored: str, own: Mapping[str, set[bytes]], others: Mapping[str, set[bytes]], limit: int
    ) -> Side:
        found: dict[str, Any] = {}
        for kind, lines in self._lines(stored).items():
            only = own[kind] - others[kind]
            shown = list[str]()
            if only:
                async for key, text in lines:
                    if len(shown) < min(limit, len(only)) and key in only:
                        shown.append(clipped(text, _NAME))
            found |= {f"{kind}_total": len(only), kind: tuple(shown)}
        return Side(**found)

    async def _entity_lines(self, stored: str) -> AsyncIterator[tuple[bytes, str]]:
        async for page in GroupReading(self._context, stored).entities():
            for one in page:
                yield _digest(normalise_name(one.name), one.label, one.summary), one.name

    async def _fact_lines(self, stored: str) -> AsyncIterator[tuple[bytes, str]]:
        async for page in GroupReading(self._context, stored).facts():
            for one in page:
                if not one.voided:
                    yield _fact_key(one), one.text

    async def _document_lines(self, stored: str) -> AsyncIterator[tuple[bytes, str]]:
        after = None
        while page := await self._graph.documents.listed(stored, Window(limit=PAGE, after=after)):
            for one in page:
                yield _digest(one.name, one.digest), one.name
            after = (page[-1].name,)

    async def _saga_lines(self, stored: str) -> AsyncIterator[tuple[bytes, str]]:
        after = None
        while page := await self._graph.sagas.listed(stored, Window(limit=PAGE, after=after)):
            for one in page:
                yield _digest(normalise_name(one.name)), one.name
            after = (page[-1].name, page[-1].uuid)


def _fact_key(fact: Fact) -> bytes:
    ends = (normalise_name(fact.source_name), fact.relation, normalise_name(fact.target_name))
    return _digest(*ends, fact.kind, fact.measure, fact.value, fact.unit, fact.valid_at, fact.invalid_at)


def _digest(*parts: object) -> bytes:
    return hashlib.blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()
