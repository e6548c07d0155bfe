"""Compares what was copied with what it was copied from, page by page, before a move removes anything."""

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TypeVar

from graphiti_pkm.capabilities.staging.counting import Found
from graphiti_pkm.capabilities.staging.same_facts import same_words, stated
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.errors import DamagedStore

_PAGE = 500
_UUID = 8

_Read = TypeVar("_Read", Entity, Episode, Fact)


class Verifying:
    """Reads both sides again; ``pairs`` are the uuids of records there and here."""

    def __init__(self, context: Context, groups: tuple[str, str], *, compares: bool) -> None:
        """``groups``: from, to. ``compares``: False if nothing was written, so that there is nothing to compare."""
        self._journal = context.journal
        self._records = context.graph.records
        self._groups = groups
        self.still_told = Found()
        """Episodes that lost words there since they were copied."""
        self._compares = compares
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str | None:
        """SHA-256 of what was compared, the same for both groups; None if nothing was."""
        return self._digest.hexdigest() if self._compares else None

    async def entities(self, pairs: Sequence[tuple[str, str]]) -> None:
        """They must be there; names and summaries of what was joined may differ. Raises DamagedStore."""
        await self._must_agree(pairs, self._records.get_entities, lambda _: (True,))

    async def episodes(self, pairs: Sequence[tuple[str, str]], made: Collection[str]) -> None:
        """They must tell the same, but for words that were forgotten there, or further back, since they were copied.

        ``made``: those here that this run has made. Raises DamagedStore.
        """
        writes = await self._journal.forgetting_writes(self._groups[0])
        redacted = {one.uuid for write in writes for one in (write.forgets.episodes if write.forgets else ())}
        asked = pairs if self._compares else [pair for pair in pairs if pair[0] in redacted]
        for some in (asked[start : start + _PAGE] for start in range(0, len(asked), _PAGE)):
            sides = [
                {one.uuid: one for one in await self._records.get_episodes(uuids, [group])}
                for uuids, group in self._sides(some)
            ]
            there, here = ({uuid: _told(one) for uuid, one in side.items()} for side in sides)
            for one, other in some:
                may_differ = one in redacted or other not in made
                if may_differ and one in there and other in here and there[one] != here[other]:
                    self.still_told.add(f"[{other[:_UUID]}] {sides[1][other].name}")
                    there[one], here[other] = _of_time(sides[0][one]), _of_time(sides[1][other])
            if self._compares:
                self._compare(some, there, here)

    async def facts(self, pairs: Sequence[tuple[str, str]], coming: Collection[str]) -> None:
        """They must state the same, and those there that have just come in the same words. Raises DamagedStore.

        The sentences of others may have got another name, or lost words, in one of the groups.
        """
        for some in self._pages(pairs):
            there, here = [
                {one.uuid: one for one in await self._records.get_facts(uuids, [group])}
                for uuids, group in self._sides(some)
            ]
            self._compare(some, *({uuid: stated(one) for uuid, one in side.items()} for side in (there, here)))
            if not all(same_words(there[one], here[other]) for one, other in some if one in there and one in coming):
                raise _differs()

    async def _must_agree(
        self,
        pairs: Sequence[tuple[str, str]],
        read: Callable[[Sequence[str], Sequence[str]], Awaitable[Sequence[_Read]]],
        says: Callable[[_Read], tuple[object, ...]],
    ) -> None:
        for some in self._pages(pairs):
            there, here = [
                {one.uuid: says(one) for one in await read(uuids, [group])} for uuids, group in self._sides(some)
            ]
            self._compare(some, there, here)

    def _pages(self, pairs: Sequence[tuple[str, str]]) -> list[Sequence[tuple[str, str]]]:
        return [pairs[start : start + _PAGE] for start in range(0, len(pairs) if self._compares else 0, _PAGE)]

    def _sides(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[str], str]]:
        return [([pair[side] for pair in pairs], group) for side, group in enumerate(self._groups)]

    def _compare(
        self, pairs: Sequence[tuple[str, str]], there: Mapping[str, object], here: Mapping[str, object]
    ) -> None:
        said = [there.get(pair[0]) for pair in pairs]
        if said != [here.get(pair[1]) for pair in pairs]:
            raise _differs()
        self._digest.update(repr(said).encode(errors="surrogatepass"))


def _told(episode: Episode) -> tuple[object, ...]:
    return (episode.name, episode.content, episode.source, episode.valid_at, episode.confidential)


def _of_time(episode: Episode) -> tuple[object, ...]:
    return (episode.source, episode.valid_at, episode.confidential)


def _differs() -> DamagedStore:
    return DamagedStore("After the copy, the two groups differ; words may have been forgotten in one of them.")
