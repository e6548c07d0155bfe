"""Walks of the fake graph: parts of episodes near a fact, ways between entities, what surrounds one."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from tests.fakes.part import FakePart
from tests.fakes.search import cosine
from tests.fakes.tables import Key, Tables, connection_key, connection_order, falling, iso

from graphiti_pkm.core.facts.observations import is_observation
from graphiti_pkm.core.model.passages import is_heading
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Episode, Fact, Passage
from graphiti_pkm.core.model.walks import FactSource, Neighbourhood, SourceMode, SourcePage

_UNITS = 1_000_000
_NOT_COMPARED = -2_000_000


class FakeWalks(FakePart):
    """The port ``GraphWalks``."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        db = await self._db()
        stored = db.facts.get(fact.uuid)
        episodes = [
            db.episodes[uuid] for uuid in dict.fromkeys(stored.episodes if stored else ()) if uuid in db.episodes
        ]
        found: dict[Key, FactSource] = {}
        for episode in episodes:
            if episode.group_id in group_ids:
                found.update(_parts(db, fact, episode, mode))
        held, found = len(found), _near(found)
        after = None if window.after is None else _order(window.after)
        keys = sorted((key for key in found if after is None or _order(key) > after), key=_order)[: window.limit]
        return SourcePage(sources=tuple(found[key] for key in keys), keys=tuple(keys), total=len(found), held=held)

    async def shortest_paths(
        self,
        source_uuid: str,
        target_uuid: str,
        wanted: FactFilter,
        max_hops: int,
        limit: int,
        avoided: Collection[str] = (),
    ) -> list[tuple[Fact, ...]]:
        db = await self._db()
        between = _between(db, wanted)
        ways = [(source_uuid,)] if source_uuid != target_uuid else []
        for _ in range(max_hops):
            seen = {uuid for way in ways for uuid in way} | {*avoided}
            joined = [(*way, uuid) for way in ways for uuid in db.entities if frozenset((way[-1], uuid)) in between]
            ways = [way for way in joined if way[-1] not in seen]
            if arrived := sorted(way for way in ways if way[-1] == target_uuid):
                return [tuple(between[frozenset(step)][0] for step in pairwise(way)) for way in arrived[:limit]]
        return []

    async def neighbourhood(
        self,
        entity_uuids: Sequence[str],
        wanted: FactFilter,
        hops: int,
        max_entities: int,
        max_facts: int,
        avoided: Collection[str] = (),
    ) -> Neighbourhood:
        db = await self._db()
        between = _between(db, wanted)
        distances = dict.fromkeys(entity_uuids, 0)
        starts = len(distances)
        left_out = 0
        for hop in range(1, hops + 1):
            inner = {uuid for uuid, distance in distances.items() if distance == hop - 1} - {*avoided}
            facts = Counter(
                uuid
                for pair, joining in between.items()
                for uuid in pair - distances.keys()
                for _ in joining
                if pair & inner
            )
            ring = sorted(facts, key=lambda uuid: (-facts[uuid], db.entities[uuid].name, uuid))
            room = max_entities + starts - len(distances)
            distances |= dict.fromkeys(ring[:room], hop)
            left_out = len(ring) - len(ring[:room])
            if left_out:
                break
        among = [joining for pair, joining in between.items() if pair <= distances.keys()]
        turns = [
            (turn, connection_order(connection_key(fact, wanted)), fact)
            for joining in among
            for turn, fact in enumerate(joining)
        ]
        turns.sort(key=lambda one: one[:2])
        return Neighbourhood(
            entities=tuple((db.entities[uuid], hop) for uuid, hop in distances.items() if hop),
            entities_left_out=left_out,
            facts=tuple(fact for _, _, fact in turns[:max_facts]),
            facts_total=len(turns),
        )


def _between(db: Tables, wanted: FactFilter) -> dict[frozenset[str], list[Fact]]:
    """The facts between two entities, in the order of connections, as they are or as they were known."""
    found: dict[frozenset[str], list[Fact]] = defaultdict(list)
    for fact in db.facts_under(wanted):
        if not fact.voided and not is_observation(fact):
            found[frozenset((fact.source_uuid, fact.target_uuid))].append(db.named(fact))
    for facts in found.values():
        facts.sort(key=lambda fact: connection_order(connection_key(fact, wanted)))
    return found


def _parts(db: Tables, fact: Fact, episode: Episode, mode: SourceMode) -> Iterator[tuple[Key, FactSource]]:
    compared = [
        passage
        for passage in db.passages.values()
        if passage.episode_uuid == episode.uuid
        and {passage.uuid, fact.uuid} <= db.vectors.keys()
        and (_holds_quote(fact, passage) or not is_heading(episode.content, passage.start))
    ]
    if not compared:
        yield _part(db, fact, episode, [])
    units: dict[int, list[Passage]] = {}
    for passage in compared:
        sentence = -1 if _holds_quote(fact, passage) else passage.start
        unit = {"quote": sentence, "paragraph": passage.paragraph, "episode": 0}[mode]
        units.setdefault(unit, []).append(passage)
    for passages in units.values():
        yield _part(db, fact, episode, passages)


def _near(parts: dict[Key, FactSource]) -> dict[Key, FactSource]:
    """Without those less than half as near as the best, but for the best of each episode."""
    best: dict[str, int] = {}
    for _, score, _, uuid, _ in parts:
        best[str(uuid)] = max(int(score), best.get(str(uuid), _NOT_COMPARED))
    top = max(best.values(), default=0)
    return {key: part for key, part in parts.items() if key[0] or key[1] == best[str(key[3])] or int(key[1]) * 2 >= top}


def _part(db: Tables, fact: Fact, episode: Episode, passages: list[Passage]) -> tuple[Key, FactSource]:
    scores = {p.uuid: round(cosine(db.vectors[fact.uuid], db.vectors[p.uuid]) * _UNITS) for p in passages}
    best = min(passages, key=lambda p: (not _holds_quote(fact, p), -scores[p.uuid], p.start), default=None)
    start = min((p.start for p in passages), default=None)
    quoted = any(_holds_quote(fact, p) for p in passages) if passages else fact.quote_episode_uuid == episode.uuid
    score = max(scores.values(), default=_NOT_COMPARED)
    return (
        (int(quoted), score, iso(episode.valid_at), episode.uuid, -1 if start is None else start),
        FactSource(
            episode_uuid=episode.uuid,
            holds_quote=quoted,
            start=start,
            end=max((p.end for p in passages), default=None),
            best=best.start if best else None,
            cosine=score / _UNITS if passages else None,
        ),
    )


def _holds_quote(fact: Fact, passage: Passage) -> bool:
    return (
        fact.quote_episode_uuid == passage.episode_uuid
        and passage.start < (fact.quote_end or 0)
        and passage.end > (fact.quote_start or 0)
    )


def _order(key: Key) -> tuple[object, ...]:
    first, score, valid_at, uuid, place = key
    return (-int(first), -int(score), falling(str(valid_at)), uuid, place)
