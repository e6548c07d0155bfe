"""Collects episodes that may answer a query, from a pool of bounded size, with their scores."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphiti_pkm.capabilities.search.episode_ranking import (
    Signs,
    Surroundings,
    best_of,
    holding_parts,
    joined,
    own_scores,
    possible_score,
    steps_in,
    unknown_terms,
    with_surroundings,
    word_shares,
)
from graphiti_pkm.capabilities.search.periods import Period, in_years_before, nearness, periods_in
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.capabilities.search.talk import talk_shares, talk_weights
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.names import part_terms, words_of
from graphiti_pkm.core.model.places import Place, Stretch
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, EpisodeHit, Window
from graphiti_pkm.core.model.stems import StemCounts, stems_of
from graphiti_pkm.core.model.times import day_bounds
from graphiti_pkm.core.reading.candidates import POOL, Candidates, Query
from graphiti_pkm.core.reading.ranking import MIN_COSINE, Scores

_ASKED_FOR = 50
"""Candidates for each period, and for each entity, that the query names."""
_YEARS = 5
"""Years searched for a date without a year."""
_MOST_NAMED = 3
_FEW_MENTIONS = 1_000
"""Entities with more mentions are searched by name only: comparing all mentions takes longer than the whole search."""
_MOST_PARTS = 16
_NAME_WORDS = 3
_COMPARED = 100
"""Best episodes whose mentioned entities are compared."""
_SURROUNDED = 20
"""Best notes whose day is read."""
DAY = 300
"""Episodes read of one day."""

_SHORT = 2_000
"""Characters of an episode that may lean on those before, as messages do: long answers are part of a talk."""
_SOON = timedelta(minutes=30)
_FOLLOWING = 5
"""Messages looked at after each that has words: later ones hardly lean on it."""

_MOST_WORDS = 40
_MARKS = " .,;:!?\"'“”‘’()[]{}<>…"
_POSSESSIVE = re.compile(r"['’]s$")
SMALL_WORDS = words_of(
    """a about above after again against all also am an and any are as at be because been before being below between
    both but by can could did do does doing done down during each every few for from further had has have having he
    her here hers him himself his how i if in into is it its itself just let me may might more most much must my
    myself no nor not now of off on once one only or other our ours out over own s said same shall she should since so
    some still such t than that the their theirs them then there these they this those through till to too under until
    up upon us very was we were what when where which while who whom whose why will with within without would yes yet
    you your yours"""
)
_NO_NAMES = SMALL_WORDS | words_of("day like man month thing time today tonight week woman work year yesterday")
"""Words that form questions: as names they would match an entity of that name."""


@dataclass(frozen=True)
class Found:
    """Scores, and the sentence of each episode that is nearest in meaning."""

    scores: Scores
    hits: Mapping[str, EpisodeHit]


class EpisodeCandidates:
    """Queries the graph, and scores the results."""

    def __init__(self, context: Context, candidates: Candidates, neighbours: GraphNeighbours) -> None:
        self._graph = context.graph
        self._neighbours = neighbours
        self._zone = context.settings.zone
        self._weights = context.settings.episode_weights
        self._candidates = candidates

    async def find(self, text: str, query: Query, wanted: EpisodeFilter, reference: datetime) -> Found:
        """All episodes in the filter that have the words, are near in meaning, or of a date named in the query."""
        periods = periods_in(text, reference, self._zone)
        worded, near, named = await asyncio.gather(
            self._graph.search.search_episodes(without_stop_words(query.terms), wanted, POOL),
            self._near(query, wanted, POOL),
            self._named(text, wanted),
        )
        is_cut = len(worded) >= POOL or sum(hit.cosine > MIN_COSINE for hit in near.values()) >= POOL
        dated = await self._of_periods(query, wanted, periods)
        of_entities = await self._of_entities(query, wanted, named)
        hits = {**of_entities, **dated, **near}
        terms = without_stop_words(query.terms)
        stems = stems_of(terms)
        words = self._graph.search.episode_words
        others = [uuid for uuid, hit in hits.items() if uuid not in worded and _counts(uuid, hit, dated)]
        found, places = await asyncio.gather(
            words(list(worded), stems, (), wanted.group_ids),
            self._graph.episodes.episode_places(others, wanted.group_ids),
        )
        counts = {uuid: one.counts for uuid, one in found.items()}
        unknown = unknown_terms(terms, counts)
        if parts := [part for term in unknown for part in part_terms(term)][:_MOST_PARTS]:
            held = list(await self._graph.search.search_episodes(parts, wanted, _ASKED_FOR))
            more = await words(held, stems, stems_of(unknown), wanted.group_ids)
            holding = holding_parts({uuid: one.counts for uuid, one in more.items()})
            counts |= holding
            found |= {uuid: more[uuid] for uuid in holding}
        places |= {uuid: one.place for uuid, one in found.items()}
        messages, followers = await self._messages(counts, stems, wanted, places)
        both = counts | {after: joined(counts[uuid], counts[after]) for uuid, after in followers.items()}
        cosines = _cosines(places, hits, near)
        talk: dict[str, float] = {}
        if messages:
            talk, true_cosines = await self._talk(terms, query, counts, messages, followers, wanted)
            cosines |= true_cosines
        signs = Signs(
            words={uuid: share for uuid, share in word_shares(terms, both).items() if uuid in places},
            cosines=cosines,
            talk=talk,
            dates=self._dates(places, periods),
        )
        possible, in_talk = (
            possible_score(
                self._weights,
                meaning=query.vector is not None,
                dates=bool(periods),
                entities=bool(named),
                talk=with_talk,
            )
            for with_talk in (False, True)
        )
        own = own_scores(signs, self._weights, possible, in_talk)
        if named:
            counts_of_named = await self._neighbours.mentions_among(best_of(own.by_uuid, _COMPARED), named)
            shares = {uuid: count / len(named) for uuid, count in counts_of_named.items()}
            own = own_scores(replace(signs, entities=shares), self._weights, possible, in_talk)
        notes = {uuid: score for uuid, score in own.by_uuid.items() if uuid not in talk}
        around = await self._surroundings(notes, places, wanted)
        scores = replace(with_surroundings(own, around, self._weights), is_cut=is_cut)
        return Found(scores, {uuid: hit for uuid, hit in hits.items() if hit.end})

    async def _messages(
        self, counts: dict[str, StemCounts], stems: Sequence[str], wanted: EpisodeFilter, places: dict[str, Place]
    ) -> tuple[dict[str, Place], dict[str, str]]:
        """The messages among the candidates, with those that follow one that has words; and who follows each of these.

        No other episode is ranked by what stands before it: notes of one sitting are no talk.

        Those that were no candidates become some, with their ``places``. All get ``counts``.
        """
        followers = self._neighbours.followers
        chains = await followers(list(counts), wanted, _SHORT, _SOON, _FOLLOWING)
        others = [uuid for uuid in places if uuid not in counts]
        near = await followers(others, wanted, _SHORT, _SOON, 0)
        if not chains and not near:  # notes alone, as in a journal
            return {}, {}
        messages = list(dict.fromkeys((*chains, *(uuid for chain in chains.values() for uuid in chain), *near)))
        unread = [uuid for uuid in messages if uuid not in counts]
        read = await self._graph.search.episode_words(unread, stems, (), wanted.group_ids)
        new = {uuid: one for uuid, one in read.items() if uuid in places or _may_join(one.place, wanted)}
        places |= {uuid: one.place for uuid, one in new.items()}
        counts |= {uuid: one.counts for uuid, one in new.items()}
        after = {uuid: chain[0] for uuid, chain in chains.items() if chain and chain[0] in counts}
        return {uuid: places[uuid] for uuid in messages if uuid in counts}, after

    async def _talk(
        self,
        terms: Sequence[str],
        query: Query,
        counts: Mapping[str, StemCounts],
        messages: Mapping[str, Place],
        followers: Mapping[str, str],
        wanted: EpisodeFilter,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """How much of the query was said up to each message, and how near each is itself."""
        search = self._graph.search
        held = await search.episodes_holding(terms, wanted)
        cosines: dict[str, float] = {}
        if query.vector is not None:
            cosines = await search.episode_cosines(query.vector, list(messages), wanted.group_ids)
        shares = talk_shares(talk_weights(terms, held), counts, messages, followers)
        return shares, {uuid: max(cosine, 0.0) for uuid, cosine in cosines.items()}

    async def _near(self, query: Query, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        return await self._graph.search.nearest_episodes(query.vector, wanted, limit) if query.vector else {}

    async def _of_periods(
        self, query: Query, wanted: EpisodeFilter, periods: Sequence[Period]
    ) -> dict[str, EpisodeHit]:
        """Episodes of the periods, nearest in meaning first: a date may be all that is known.

        If no year is named and the latest has none, those of the year before the newest episode that has some.
        """
        found: dict[str, EpisodeHit] = {}
        for period in periods:
            inside = await self._inside(query, wanted, period)
            if not inside and period.is_yearly:
                newest = (await self._graph.episodes.recent_episodes(wanted, Window(limit=1))).episodes
                for earlier in in_years_before(period, newest[0].valid_at, self._zone, _YEARS) if newest else ():
                    if inside := await self._inside(query, wanted, earlier):
                        break
            found.update(inside)
        return found

    async def _inside(self, query: Query, wanted: EpisodeFilter, period: Period) -> dict[str, EpisodeHit]:
        start = max(filter(None, (wanted.valid_after, period.start)))
        end = min(filter(None, (wanted.valid_before, period.end)))
        if start >= end:
            return {}
        inside = wanted.model_copy(update={"valid_after": start, "valid_before": end})
        if near := await self._near(query, inside, _ASKED_FOR):
            return near
        page = await self._graph.episodes.recent_episodes(
            inside, Window(limit=_ASKED_FOR)
        )  # without a model, or vectors
        return {each.uuid: EpisodeHit(cosine=0.0, start=0, end=0) for each in page.episodes}

    async def _named(self, text: str, wanted: EpisodeFilter) -> list[str]:
        """Entities whose whole name or alias the query contains, in any case."""
        asked = phrases(text)
        found = await self._candidates.named(asked, EntityFilter(group_ids=wanted.group_ids))
        return list(dict.fromkeys(one.uuid for phrase in asked for one in found[phrase]))[:_MOST_NAMED]

    async def _of_entities(self, query: Query, wanted: EpisodeFilter, named: Sequence[str]) -> dict[str, EpisodeHit]:
        """Episodes that mention an entity, possibly by another name than the query."""
        found: dict[str, EpisodeHit] = {}
        if named and wanted.entity_uuid is None:
            support = await self._graph.records.entity_support(named)
            for uuid in (one for one in named if support[one][0] <= _FEW_MENTIONS):
                found.update(await self._near(query, wanted.model_copy(update={"entity_uuid": uuid}), _ASKED_FOR))
        return found

    def _dates(self, places: Mapping[str, Place], periods: Sequence[Period]) -> dict[str, float]:
        if not periods:
            return {}
        return {
            uuid: max(nearness(place.valid_at, period, self._zone) for period in periods)
            for uuid, place in places.items()
        }

    async def _surroundings(
        self, notes: Mapping[str, float], places: Mapping[str, Place], wanted: EpisodeFilter
    ) -> Surroundings:
        """Surroundings of the best notes on their days.

        Messages have none: what was said before each counts already (``talk``), and of a day of 2,000 messages only the
        first ``DAY`` are read.
        """
        if not notes:
            return Surroundings()
        best = best_of(notes, _SURROUNDED)
        stretches = list(dict.fromkeys(self._day(places[uuid]) for uuid in best))
        steps, orders = await asyncio.gather(
            self._neighbours.saga_steps(best, wanted.group_ids),
            self._neighbours.uuids_in(stretches, wanted.recorded_until, DAY),
        )
        found = {uuid: step for order in orders for uuid, step in steps_in(order, notes).items()}
        days = {uuid: day for day, order in zip(stretches, orders, strict=True) for uuid in order if uuid in notes}
        return Surroundings({**found, **steps}, days)

    def _day(self, place: Place) -> Stretch:
        start, end = day_bounds(place.valid_at, self._zone)
        return Stretch(group_id=place.group_id, start=start, end=end)


def without_stop_words(terms: Sequence[str]) -> list[str]:
    """The terms without stop words, which occur in every text and would fill the pool; if nothing is left, all."""
    return [term for term in terms if term not in SMALL_WORDS] or list(terms)


def phrases(text: str) -> list[str]:
    """Possible names in a text: up to three words, without surrounding marks, longer ones first."""
    words = text.split()[:_MOST_WORDS]
    found: dict[str, None] = {}
    for length in range(_NAME_WORDS, 0, -1):
        for first in range(len(words) - length + 1):
            phrase = " ".join(words[first : first + length]).strip(_MARKS)
            for spelling in (phrase, _POSSESSIVE.sub("", phrase)):
                if len(spelling) > 1 and not _NO_NAMES.issuperset(spelling.lower().split()):
                    found[spelling] = None
    return list(found)


def _may_join(place: Place, wanted: EpisodeFilter) -> bool:
    """Whether an episode that was found by the one before it is asked for. What it mentions is not known here."""
    return (
        wanted.entity_uuid is None
        and wanted.entries is None
        and (wanted.valid_after is None or place.valid_at >= wanted.valid_after)
        and (wanted.valid_before is None or place.valid_at < wanted.valid_before)
    )


def _cosines(
    places: Mapping[str, Place], hits: Mapping[str, EpisodeHit], near: Mapping[str, EpisodeHit]
) -> dict[str, float]:
    """Cosines by uuid; an episode outside of the nearest, if there are more, gets the cosine of the last."""
    least = min((hit.cosine for hit in near.values()), default=0.0) if len(near) >= POOL else 0.0
    return {uuid: max(hits[uuid].cosine if uuid in hits else least, 0.0) for uuid in places}


def _counts(uuid: str, hit: EpisodeHit, dated: Mapping[str, EpisodeHit]) -> bool:
    return hit.cosine > MIN_COSINE or uuid in dated
