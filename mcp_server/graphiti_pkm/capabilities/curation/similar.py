"""``flag_similar_entities``: finds entities that may be one, and flags both; a person or librarian decides."""

import math
import operator
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.curation.explaining import Explaining
from graphiti_pkm.capabilities.curation.models import SimilarEntity, SimilarPair, SimilarResponse
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.requests import FlagSimilarEntities
from graphiti_pkm.capabilities.curation.reviews import flag_of, intent_of
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.resolution import PERSON_LABEL
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.spelling import may_name_one_person
from graphiti_pkm.core.identity.uuids import unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import name_key, search_terms
from graphiti_pkm.core.model.quality_checks import SIMILAR, is_settled, with_findings
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Entity, Quality, Vector, in_order
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.core.reading.paging import Key
from graphiti_pkm.core.reading.reader import Reader, Start
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, ModelError, Unavailable
from graphiti_pkm.storage.commit import Committer

EXAMINED = 100
"""Entities that one call compares with others."""
_BATCH = 25
_NEAREST, _NEAREST_OF_ONE = 10, 50
_NEAR_NAMES = 0.5
"""Cosine of two names from which their summaries are compared too."""
_NAME = 200
_TERMS = 32
"""Words of a summary by which further candidates are found: many decisions have names as near as ADR 4 and ADR 41."""
DECIMALS = 3


@dataclass(frozen=True)
class Pair:
    """Two entities whose names and summaries mean nearly the same."""

    one: Entity
    other: Entity
    similarity: float
    by_name: bool = False
    """Whether they are less similar than was asked for: names of one person, as far as spelling tells."""

    @property
    def key(self) -> tuple[str, str]:
        return in_order(self.one.uuid, self.other.uuid)


class Similar(Reader):
    """Compares names and summaries by meaning."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        stored: GraphCuration,
        committer: Committer,
        explaining: Explaining | None = None,
    ) -> None:
        """``explaining``: None without a model."""
        super().__init__(context, groups)
        self._stored = stored
        self._committer = committer
        self._explaining = explaining

    async def flag_similar_entities(self, caller: Caller, request: FlagSimilarEntities) -> SimilarResponse:
        """Compare one entity, or the next of a group, with those that have near names, and flag the pairs.

        Raises:
            InvalidInput, NotFound: nothing was changed.
            Unavailable: there is no embedding model that answers; nothing was changed.
        """
        caller.must_write("Nothing was changed.")
        if request.explain and self._explaining is None:
            raise InvalidInput("explain needs a model, and none is configured (llm_model). Nothing was changed.")
        if request.entity_uuid is not None:
            return await self._of_one(caller, request, request.entity_uuid)
        group = self._groups.one(caller, request.group_id)
        start = self._start(caller, request, request.cursor, group_id=group)
        pairs: dict[tuple[str, str], Pair] = {}
        examined, total, more, key = 0, 0, True, start.after
        while more and examined < EXAMINED and len(pairs) < request.limit:
            wanted = EntityFilter(group_ids=(group,), recorded_until=start.recorded_until)
            found, total = await self._graph.records.entity_page(wanted, Window(limit=_BATCH + 1, after=key))
            batch, more = found[:_BATCH], len(found) > _BATCH
            listed = await self._near(batch, group, request.threshold, _NEAREST, by_names=True)
            for entity, near in zip(batch, listed, strict=True):
                examined, key = examined + 1, (entity.name, entity.uuid)
                pairs.update((pair.key, pair) for pair in near)
                if len(pairs) >= request.limit:
                    more = more or entity is not batch[-1]
                    break
        some = list(pairs.values())[: request.limit]
        return await self._flagged(caller, request, some, (examined, total), start, group, key if more else None)

    async def of_group(self, group: str, threshold: float) -> AsyncIterator[list[Pair]]:
        """All pairs of a stored group, in parts; each from both of its ends. Raises Unavailable."""
        key: Key | None = None
        while True:
            wanted = EntityFilter(group_ids=(group,))
            batch, _ = await self._graph.records.entity_page(wanted, Window(limit=_BATCH, after=key))
            yield [pair for near in await self._near(batch, group, threshold, _NEAREST) for pair in near]
            if len(batch) < _BATCH:
                return
            key = (batch[-1].name, batch[-1].uuid)

    async def _of_one(self, caller: Caller, request: FlagSimilarEntities, entity_uuid: str) -> SimilarResponse:
        if request.cursor is not None or request.group_id is not None:
            raise InvalidInput("With entity_uuid leave out group_id and cursor. Nothing was changed.")
        anchor = await self._anchor(caller, entity_uuid, None)
        if anchor.entity is None:
            raise unknown("entity", anchor.asked)
        group = anchor.entity.group_id
        start = self._start(caller, request, None, group_id=group)
        (near,) = await self._near([anchor.entity], group, request.threshold, _NEAREST_OF_ONE, by_names=True)
        return await self._flagged(caller, request, near[: request.limit], (1, 1), start, group)

    async def pairs(
        self, entities: Sequence[Entity], group: str, within: str, threshold: float, limit: int
    ) -> list[tuple[Entity, Entity]]:
        """Entities of a group with those of another, or of the same, that they may be. Raises Unavailable."""
        near = await self._near(entities, group, threshold, limit, within)
        return [(pair.one, pair.other) for listed in near for pair in listed]

    async def _near(
        self,
        entities: Sequence[Entity],
        group: str,
        threshold: float,
        limit: int,
        within: str | None = None,
        *,
        by_names: bool = False,
    ) -> list[list[Pair]]:
        """The pairs of each entity, most similar first; ``within``: the group of the others, if it is another.

        ``by_names``: also people who are less similar, if their names may be of one.
        """
        within = within or group
        with_names = await self.named(entities, group)
        asked = [one for one in entities if one.uuid in with_names]
        vectors = await self._vectors([one.name for one in asked])
        near: dict[str, list[str]] = {}
        by_words: dict[str, list[str]] = {}
        for one in asked:
            wanted = EntityFilter(group_ids=(within,), labels=(one.label,) if one.label else ())
            found = await self._graph.search.nearest_entities(vectors[one.name], wanted, limit + 1)
            near[one.uuid] = [uuid for uuid, score in found.items() if score >= _NEAR_NAMES and uuid != one.uuid]
            terms = search_terms(one.summary, _TERMS)
            alike = await self._graph.search.search_entities(terms, wanted, limit + 1) if terms else {}
            by_words[one.uuid] = [uuid for uuid in alike if uuid != one.uuid and uuid not in found]
        uuids = list(dict.fromkeys(uuid for listed in (*near.values(), *by_words.values()) for uuid in listed))
        records = {one.uuid: one for one in await self._graph.records.get_entities(uuids, [within])}
        names = await self._vectors(
            [records[uuid].name for some in by_words.values() for uuid in some if uuid in records]
        )
        for one in asked:
            told = [uuid for uuid in by_words[one.uuid] if uuid in records]
            near[one.uuid] += [
                uuid for uuid in told if cosine(vectors[one.name], names[records[uuid].name]) >= _NEAR_NAMES
            ]
        named = await self.named(list(records.values()), within)
        others = {
            one.uuid: [
                other
                for uuid in near[one.uuid]
                if (other := records.get(uuid)) and uuid in named and other.label == one.label
            ]
            for one in asked
        }
        keys = [in_order(one.uuid, other.uuid) for one in asked for other in others[one.uuid]]
        apart = await self._graph.records.apart(keys) if keys else set()
        compared = [one for one in asked if others[one.uuid]]
        texts = [text_of(one) for one in (*compared, *(other for one in compared for other in others[one.uuid]))]
        vectors = await self._vectors(texts)

        def pairs_of(one: Entity) -> list[Pair]:
            found = list[Pair]()
            for other in others.get(one.uuid, ()):
                if in_order(one.uuid, other.uuid) in apart:
                    continue
                score = cosine(vectors[text_of(one)], vectors[text_of(other)])
                is_by_name = by_names and one.label == PERSON_LABEL and may_name_one_person(one.name, other.name)
                if score > threshold or is_by_name:
                    found.append(Pair(one, other, score, by_name=score <= threshold))
            return sorted(found, key=lambda pair: (-pair.similarity, pair.other.uuid))

        return await in_thread(lambda: [pairs_of(one) for one in entities])

    async def named(self, entities: Sequence[Entity], group: str) -> set[str]:
        """Those with a name of their own: not the person, values or measures."""
        held = await self._graph.records.get_names([name_key(group, one.name) for one in entities])
        return {name.entity_uuid for name in held.values() if name.is_linkable}

    async def _vectors(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        try:
            return await vectors_of(self._context.embedder, texts)
        except Unavailable as error:
            raise Unavailable(f"Similarity needs the embedding model; nothing was changed. {error.message}") from error

    async def _flagged(
        self,
        caller: Caller,
        request: FlagSimilarEntities,
        pairs: Sequence[Pair],
        examined: tuple[int, int],
        start: Start,
        group: str,
        key: Key | None = None,
    ) -> SimilarResponse:
        said, unsaid = await self._explained(pairs) if request.explain else ([], "")
        flagged = await self._flag(caller, pairs, group) if pairs else set()
        cursor = await self._next(start, key, [group])
        seen, total = examined
        alone = sum(pair.by_name for pair in pairs)
        by_name = f", {alone} by the spelling of names alone" if alone else ""
        return SimilarResponse(
            message=f"{len(pairs)} pair(s){by_name} among {seen} of {total} examined; "
            f"{len(flagged)} newly flagged entities."
            f"{' Repeat with next_cursor for the others.' if cursor else ''}{unsaid}",
            pairs=[
                SimilarPair(
                    similarity=round(pair.similarity, DECIMALS),
                    one=_shown(pair.one),
                    other=_shown(pair.other),
                    explanation=said[place] or None if place < len(said) else None,
                )
                for place, pair in enumerate(pairs)
            ],
            examined=seen,
            entities_total=total,
            newly_flagged=len(flagged),
            next_cursor=cursor,
            group_id=self._groups.public(group),
        )

    async def _explained(self, pairs: Sequence[Pair]) -> tuple[list[str], str]:
        """What a model says of the first pairs, and why not if it does not; the flags do not depend on it."""
        if self._explaining is None:
            return [], ""
        try:
            return await self._explaining.explain([(pair.one, pair.other) for pair in pairs]), ""
        except ModelError as error:
            return [], f" Not explained: {error.message}"

    async def _flag(self, caller: Caller, pairs: Sequence[Pair], group: str) -> set[str]:
        """Flag both of each pair in one write; returns those that had no flag. An earlier reason stays."""
        others: dict[str, list[str]] = {}
        for pair in pairs:
            others.setdefault(pair.one.uuid, []).append(pair.other.uuid)
            others.setdefault(pair.other.uuid, []).append(pair.one.uuid)
        async with self._committer.writing(group):
            there = {one.uuid for one in await self._graph.records.get_entities(list(others), [group])}
            before = await self._stored.qualities(list(others), [group])
            at = await self._committer.time(group, self._context.now())
            changed, flagged = [], set()
            for uuid in sorted(there):
                held = before.get(uuid) or Quality(uuid=uuid, group_id=group)
                similar = tuple(dict.fromkeys((*held.similar_to, *(one for one in others[uuid] if one in there))))
                if similar == held.similar_to or is_settled(held, "duplicates", similar):
                    continue
                if held.is_flagged:
                    changed.append(held.model_copy(update={"similar_to": similar}))
                    continue
                flagged.add(uuid)
                new = held.model_copy(update=flag_of(SIMILAR, caller, at))
                changed.append(with_findings(new, "duplicates", similar))
            if changed:
                await self._committer.commit(intent_of(changed, group, at), {})
        return flagged


async def vectors_of(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vector]:
    """By text. Raises Unavailable."""
    given = list(dict.fromkeys(texts))
    return dict(zip(given, await embedder.embed(given), strict=True)) if given else {}


async def similarity(embedder: Embedder, one: Entity, other: Entity) -> float:
    """Of two entities. Raises Unavailable."""
    first, second = await embedder.embed([text_of(one), text_of(other)])
    return cosine(first, second)


def text_of(entity: Entity) -> str:
    """What is compared: the name alone would take AuthService for OAuthService."""
    return f"{entity.name}. {entity.summary}" if entity.summary else entity.name


def cosine(one: Vector, other: Vector) -> float:
    return math.fsum(map(operator.mul, one, other))


def _shown(entity: Entity) -> SimilarEntity:
    return SimilarEntity(entity_uuid=entity.uuid, name=clipped(entity.name, _NAME), type=entity.label)
