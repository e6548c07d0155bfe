"""Full text as a match of words and exact cosines, over the fake graph's tables."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tests.fakes.part import FakePart
from tests.fakes.reads import place
from tests.fakes.tables import Tables

from graphiti_pkm.core.facts.observations import TYPE
from graphiti_pkm.core.model.name_forms import identifier_words
from graphiti_pkm.core.model.names import fold, joined_words, name_beginnings, word_parts
from graphiti_pkm.core.model.queries import COMPARED_QUOTE, EntityFilter, EpisodeFilter, EpisodeHit, FactFilter
from graphiti_pkm.core.model.records import Entity, Episode, Vector
from graphiti_pkm.core.model.stems import EpisodeWords, counted, stem, text_stems
from graphiti_pkm.core.model.times import iso

_ALL = 1_000_000


class FakeSearch(FakePart):
    """The port ``GraphSearch``."""

    async def episodes_naming(
        self,
        group_id: str,
        name: str,
        before: datetime,
        after: str | None,
        limit: int,
        *,
        only_linking: bool = False,
    ) -> list[Episode]:
        db = await self._db()
        found = [
            episode
            for episode in db.episodes.values()
            if episode.group_id == group_id
            and episode.created_at < before
            and (after is None or episode.uuid > after)
            and _joined(name) in _joined(episode.content)
            and not (only_linking and episode.uuid in db.entries and not db.entries[episode.uuid].links_names)
        ]
        return sorted(found, key=lambda episode: episode.uuid)[:limit]

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        db = await self._db()
        texts = []
        for entity in db.entities_under(wanted):
            names = f"{entity.name} {_alias_text(db, entity.uuid)}"
            texts.append(
                _Text(
                    entity.uuid,
                    f"{names} {entity.summary} {_type_words(entity)}",
                    name_beginnings(names),
                    entity.created_at,
                )
            )
        return _word_hits(terms, texts, limit)

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        db = await self._db()
        texts = [
            _Text(each.uuid, f"{each.relation} {each.text} {each.quote or ''}", (), each.created_at)
            for each in db.facts_under(wanted)
        ]
        return _word_hits(terms, texts, limit)

    async def fact_texts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        db = await self._db()
        found = [db.named(db.facts[uuid]) for uuid in uuids if uuid in db.facts]
        return {
            one.uuid: " ".join((*said, *([one.quote[:COMPARED_QUOTE]] if one.quote and one.quote != one.text else ())))
            for one in found
            for said in [(one.text, one.relation.replace("_", " "), one.source_name, one.target_name)]
            if one.group_id in group_ids
        }

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        db = await self._db()
        fitting = [episode for episode in db.episodes.values() if db.episode_fits(episode, wanted)]
        texts = []
        for one in fitting:
            text = f"{one.name} {one.content}"
            texts.append(_Text(one.uuid, text, [*joined_words(text), *word_parts(text)], one.valid_at))
        return _word_hits(terms, texts, limit)

    async def episode_words(
        self, uuids: Sequence[str], stems: Sequence[str], parts: Sequence[str], group_ids: Sequence[str]
    ) -> dict[str, EpisodeWords]:
        db = await self._db()
        found = [db.episodes[uuid] for uuid in uuids if uuid in db.episodes]
        return {
            one.uuid: EpisodeWords(place(one), counted(text_stems(f"{one.name} {one.content}"), stems, parts))
            for one in found
            if one.group_id in group_ids
        }

    async def episodes_holding(self, terms: Sequence[str], wanted: EpisodeFilter) -> dict[str, int]:
        db = await self._db()
        texts = [
            set(map(stem, [*fold(text).split(), *joined_words(text), *word_parts(text)]))
            for one in db.episodes.values()
            if one.group_id in wanted.group_ids
            and (wanted.recorded_until is None or one.created_at <= wanted.recorded_until)
            for text in [f"{one.name} {one.content}"]
        ]
        held = {term: sum(stem(term) in text for text in texts) for term in terms}
        return {term: count for term, count in held.items() if count}

    async def episode_cosines(self, vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, float]:
        near = await self.nearest_episodes(vector, EpisodeFilter(group_ids=tuple(group_ids)), _ALL)
        return {uuid: near[uuid].cosine for uuid in uuids if uuid in near}

    async def nearest_entities(self, vector: Vector, wanted: EntityFilter, limit: int) -> dict[str, float]:
        db = await self._db()
        return _nearest(vector, [entity.uuid for entity in db.entities_under(wanted)], db, limit)

    async def nearest_facts(self, vector: Vector, wanted: FactFilter, limit: int) -> dict[str, float]:
        db = await self._db()
        return _nearest(vector, [fact.uuid for fact in db.facts_under(wanted)], db, limit)

    async def nearest_episodes(self, vector: Vector, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        db = await self._db()
        best: dict[str, EpisodeHit] = {}
        fitting = {uuid for uuid, episode in db.episodes.items() if db.episode_fits(episode, wanted)}
        for passage in db.passages.values():
            if passage.episode_uuid not in fitting or passage.uuid not in db.vectors:
                continue
            hit = EpisodeHit(cosine=cosine(vector, db.vectors[passage.uuid]), start=passage.start, end=passage.end)
            known = best.get(passage.episode_uuid)
            if known is None or (hit.cosine, -hit.start) > (known.cosine, -known.start):
                best[passage.episode_uuid] = hit
        return dict(sorted(best.items(), key=lambda item: (-item[1].cosine, item[0]))[:limit])


def _type_words(entity: Entity) -> str:
    given = str(entity.attributes.get(TYPE, ""))
    return " ".join((given, *identifier_words(given)))


def cosine(left: Vector, right: Vector) -> float:
    """Raw cosine; both must have the same dimension."""
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))


def _nearest(vector: Vector, uuids: Iterable[str], db: Tables, limit: int) -> dict[str, float]:
    return _best({uuid: cosine(vector, db.vectors[uuid]) for uuid in uuids if uuid in db.vectors}, limit)


class _Text(NamedTuple):
    """What may be found by its words, and when it is of."""

    uuid: str
    text: str
    parts: Sequence[str]
    at: datetime | None


def _word_hits(terms: Sequence[str], texts: Iterable[_Text], limit: int) -> dict[str, float]:
    """By how rare the words are among these texts; of equal ones the newest."""
    asked = dict.fromkeys(terms)
    held = {one.uuid: asked.keys() & {*fold(one.text).split(), *one.parts} for one in texts}
    counts = Counter(word for words in held.values() for word in words)
    total = counts.total()
    found = {
        uuid: float(sum(round(1_000_000 * math.log1p(total / counts[word])) for word in words))
        for uuid, words in held.items()
        if words
    }
    times = {one.uuid: iso(one.at) if one.at else "" for one in texts}
    newest = sorted(sorted(found), key=lambda uuid: times[uuid], reverse=True)
    return {uuid: found[uuid] for uuid in sorted(newest, key=lambda uuid: -found[uuid])[:limit]}


def _best(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _alias_text(db: Tables, entity_uuid: str) -> str:
    names = [name for name in db.names.values() if name.entity_uuid == entity_uuid]
    return " ".join(text for name in names for text in (name.text, *name.spellings))


def _joined(text: str) -> str:
    return fold(text).replace(" ", "")
