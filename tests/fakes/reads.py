"""The parts of the fake graph that need neither full text nor vectors."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from uuid import UUID
from zoneinfo import ZoneInfo

from tests.fakes.merging import current
from tests.fakes.part import FakePart
from tests.fakes.tables import (
    Key,
    Tables,
    backwards_episode_order,
    connection_key,
    connection_order,
    due_key,
    episode_key,
    is_own_reading,
    iso,
    newest_created,
    newest_episode_order,
    oldest_key,
)

from graphiti_pkm.core.facts.amounts import amount_of
from graphiti_pkm.core.facts.observations import joining
from graphiti_pkm.core.model import names
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.places import Place, Stretch
from graphiti_pkm.core.model.queries import (
    Companion,
    EntityFilter,
    EpisodeFilter,
    EpisodePage,
    FactCounts,
    FactFilter,
    FactPage,
    GroupSize,
    KindCount,
    NameBook,
    NeighbourCount,
    NewestOf,
    ReadingPoint,
    ReadingSeries,
    TimelineSummary,
    Window,
    newest_under,
)
from graphiti_pkm.core.model.records import CONFIDENTIAL, Entity, Episode, Fact, FactChange, Name, Origin, Passage
from graphiti_pkm.core.model.times import month_key
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.storage.graph.ordering import as_asked

_QUARTERS_SINCE = 1972


class FakeRecords(FakePart):
    """The port ``GraphRecords``."""

    async def groups(self) -> list[str]:
        db = await self._db()
        episodes = {episode.group_id for episode in db.episodes.values()}
        entities = {entity.group_id for entity in db.entities.values()}
        return sorted(episodes | entities | {fact.group_id for fact in db.facts.values()})

    async def find_uuids(self, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
        db = await self._db()
        groups: dict[RecordKind, dict[str, str]] = {
            "entity": {uuid: entity.group_id for uuid, entity in db.entities.items()}
            | {uuid: db.former_groups[uuid] for uuid in db.former},
            "fact": {uuid: fact.group_id for uuid, fact in db.facts.items()},
            "episode": {uuid: episode.group_id for uuid, episode in db.episodes.items()},
        }
        found = [uuid for uuid, group in groups[kind].items() if uuid.startswith(prefix) and group in group_ids]
        return sorted(found)[:limit]

    async def origins(self, kind: RecordKind, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Origin]:
        db = await self._db()
        tables = {"entity": db.entities, "fact": db.facts, "episode": db.episodes}
        held: dict[str, Entity | Fact | Episode] = {**tables[kind]}
        found = {uuid: held[uuid] for uuid in uuids if uuid in held and held[uuid].group_id in group_ids}
        made = {uuid: db.origins.get((one.group_id, one.created_at)) for uuid, one in found.items()}
        return {uuid: one for uuid, one in made.items() if one is not None}

    async def get_entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
        held = current(await self._db(), uuids)
        return as_asked(uuids, {uuid: one for uuid, one in held.items() if one.group_id in group_ids})

    async def former_uuids(self, group_id: str) -> dict[str, str]:
        db = await self._db()
        return {uuid: now for uuid, now in db.former.items() if db.former_groups[uuid] == group_id}

    async def get_episodes(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
        db = await self._db()
        found = [db.episodes[uuid] for uuid in uuids if uuid in db.episodes]
        return [episode for episode in found if episode.group_id in group_ids]

    async def get_facts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
        db = await self._db()
        found = [db.named(db.facts[uuid]) for uuid in uuids if uuid in db.facts]
        return [fact for fact in found if fact.group_id in group_ids]

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        db = await self._db()
        named = {name.entity_uuid for name in db.names.values()}
        foreign = {
            names.name_key(entity.group_id, entity.name): entity
            for uuid, entity in sorted(db.entities.items(), reverse=True)
            if uuid not in named
        }
        found: dict[str, Name] = {}
        for key in keys:
            if key in db.names:
                found[key] = db.names[key]
            elif key in foreign:
                entity = foreign[key]
                found[key] = Name(key=key, group_id=entity.group_id, text=entity.name, entity_uuid=entity.uuid)
        return found

    async def aliases(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        db = await self._db()
        return {
            uuid: sorted(
                text
                for name in db.names.values()
                if name.entity_uuid == uuid
                for text in ((name.text,) if name.is_alias else ()) + name.spellings
            )[:limit_each]
            for uuid in entity_uuids
        }

    async def mentioned(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        return set(pairs) & (await self._db()).mentions.keys()

    async def apart(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        return set(pairs) & (await self._db()).apart

    async def name_book(self, group_id: str, known_version: int | None) -> NameBook | None:
        db = await self._db()
        version = db.book_versions.get(group_id, 0)
        if version == known_version:
            return None
        linkable = [name for name in db.names.values() if name.group_id == group_id and name.is_linkable]
        return NameBook(version=version, names=tuple(linkable))

    async def entity_support(self, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
        db = await self._db()
        return {
            uuid: (
                sum(entity == uuid for _, entity in db.mentions),
                sum(uuid in {fact.source_uuid, fact.target_uuid} for fact in db.facts.values()),
            )
            for uuid in entity_uuids
        }

    async def group_sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        db = await self._db()
        return {
            group: GroupSize(
                episodes=sum(e.group_id == group for e in db.episodes.values()),
                entities=sum(e.group_id == group for e in db.entities.values()),
                facts=sum(f.group_id == group for f in db.facts.values()),
            )
            for group in group_ids
        }

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        db = await self._db()
        found = {(entity.name, entity.uuid): entity for entity in db.entities_under(wanted)}
        return [found[str(key[0]), str(key[1])] for key in _page(list(found), _as_it_is, window)], len(found)


class FakeFacts(FakePart):
    """The port ``GraphFacts``."""

    async def facts_with_relation(
        self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        return await self._facts_by(group_id, pairs, limit_each, lambda fact: (fact.source_uuid, fact.relation))

    async def facts_between(self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int) -> list[list[Fact]]:
        return await self._facts_by(group_id, pairs, limit_each, lambda fact: (fact.source_uuid, fact.target_uuid))

    async def _facts_by(
        self,
        group_id: str,
        pairs: Sequence[tuple[str, str]],
        limit_each: int,
        pair_of: Callable[[Fact], tuple[str, str]],
    ) -> list[list[Fact]]:
        db = await self._db()
        facts = newest_created(
            db.named(fact) for fact in db.facts.values() if fact.group_id == group_id and not fact.voided
        )
        return [[fact for fact in facts if pair_of(fact) == pair][:limit_each] for pair in pairs]

    async def relations(self, group_id: str, limit: int) -> dict[str, int]:
        db = await self._db()
        return _most_used((fact.relation for fact in db.facts.values() if fact.group_id == group_id), limit)

    async def measures(self, group_id: str, source_uuid: str | None, limit: int) -> dict[str, int]:
        db = await self._db()
        readings = [fact for fact in db.facts.values() if fact.group_id == group_id and _is_reading(fact, source_uuid)]
        return _most_used((fact.measure for fact in readings if fact.measure is not None), limit)

    async def readings(self, group_id: str, source_uuid: str, measure_key: str, limit: int) -> tuple[list[Fact], int]:
        db = await self._db()
        series = [
            db.named(fact)
            for fact in db.facts.values()
            if fact.group_id == group_id
            and _is_reading(fact, source_uuid)
            and fact.measure is not None
            and names.measure_key(fact.measure) == measure_key
        ]
        series.sort(key=lambda fact: (iso(fact.valid_at or fact.reference_time), iso(fact.created_at), fact.uuid))
        return series[-limit:], len(series)

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        db = await self._db()
        return _fact_page(db, _connected(db, entity_uuid, wanted), wanted, window)

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        db = await self._db()
        return _fact_page(db, db.facts_under(wanted), wanted, window)

    async def reading_series(
        self, entity_uuid: str | None, wanted: FactFilter, zone: str, limit: int, months: int
    ) -> list[ReadingSeries]:
        db = await self._db()
        facts = db.facts_under(wanted) if entity_uuid is None else _connected(db, entity_uuid, wanted)
        found: dict[tuple[str, str, str], list[Fact]] = {}
        for fact in sorted(facts, key=lambda fact: (_read_at(fact), fact.created_at, fact.uuid)):
            if fact.kind == "reading" and fact.measure is not None and not fact.voided:
                amount = amount_of(fact.value, fact.unit)
                key = (fact.source_uuid, fact.measure.lower(), amount.kind if amount else "")
                found.setdefault(key, []).append(db.named(fact))
        means = {key: _means(facts, zone) for key, facts in found.items()}
        newest = sorted(((month, key) for key, by_month in means.items() for month in by_month), key=lambda one: one[1])
        newest = sorted(newest, key=lambda one: one[0], reverse=True)[:months]
        ordered = sorted(found, key=lambda key: (-len(found[key]), key))[:limit]
        return [
            _series(key, found[key], [(month, means[key][month]) for month, of in newest if of == key])
            for key in ordered
        ]

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        db = await self._db()
        found = {fact.uuid: db.named(fact) for fact in db.facts_under(wanted)}
        return [found[uuid] for uuid in uuids if uuid in found]

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        db = await self._db()
        dates = [
            fact.valid_at or fact.reference_time or fact.created_at
            for fact in db.facts.values()
            if fact.group_id in group_ids
            and not fact.voided
            and (
                fact.valid_at or not (fact.invalid_at and fact.reference_time) or fact.invalid_at > fact.reference_time
            )
            and entity_uuid in {None, fact.source_uuid, fact.target_uuid}
            and (not relations or fact.relation in relations)
        ]
        return min(dates, default=None)

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        db = await self._db()
        return max((db.recorded[group] for group in group_ids if group in db.recorded), default=None)

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        db = await self._db()
        return min((one.created_at for one in db.episodes.values() if one.group_id in group_ids), default=None)

    async def fact_counts(self, entity_uuid: str, wanted: FactFilter, neighbours: int, kinds: int) -> FactCounts:
        return FactCounts(
            neighbours=tuple(await self._neighbour_counts(entity_uuid, wanted, neighbours)),
            kinds=tuple(await self._kind_counts(entity_uuid, wanted, kinds)),
        )

    async def _neighbour_counts(self, entity_uuid: str, wanted: FactFilter, limit: int) -> list[NeighbourCount]:
        db = await self._db()
        counts = Counter(
            fact.target_uuid if fact.source_uuid == entity_uuid else fact.source_uuid
            for fact in joining(_connected(db, entity_uuid, wanted))
        )
        found = [
            NeighbourCount(entity_uuid=uuid, name=db.entities[uuid].name, facts=facts) for uuid, facts in counts.items()
        ]
        return sorted(found, key=lambda one: (-one.facts, one.name, one.entity_uuid))[:limit]

    async def _kind_counts(self, entity_uuid: str, wanted: FactFilter, limit: int) -> list[KindCount]:
        db = await self._db()
        counts = Counter(
            (fact.kind, (fact.measure if fact.kind == "reading" else None) or fact.relation)
            for fact in _connected(db, entity_uuid, wanted)
        )
        found = [KindCount(kind=kind, name=name, facts=facts) for (kind, name), facts in counts.items()]
        return sorted(found, key=lambda one: (-one.facts, one.kind, one.name))[:limit]

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        return {fact.uuid for fact in await self._graph.records.get_facts(fact_uuids, group_ids) if fact.voided}

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        status: NewestOf = "current",
    ) -> dict[str, list[Fact]]:
        wanted = newest_under(group_ids, now, status)
        window = Window(limit=limit_each)
        return {uuid: list((await self.connections(uuid, wanted, window)).facts) for uuid in entity_uuids}

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        db = await self._db()
        found = [f for f in db.facts.values() if episode_uuid in f.episodes and f.group_id in group_ids]
        return [db.named(fact) for fact in newest_created(found)[:limit]]

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        db = await self._db()
        wanted = set(episode_uuids)
        found = [f for f in db.facts.values() if wanted.intersection(f.episodes) and f.group_id in group_ids]
        return [db.named(fact) for fact in newest_created(found)[:limit]]

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._retired(lambda change: change.episode_uuid == episode_uuid, group_ids, limit)

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._retired(lambda change: change.replaced_by == fact_uuid, group_ids, limit)

    async def _retired(self, by: Callable[[FactChange], bool], group_ids: Sequence[str], limit: int) -> list[Fact]:
        db = await self._db()
        ended = [change for change in db.changes.values() if change.kind in {"retired", "voided"}]
        uuids = {change.fact_uuid for change in ended if by(change)}
        found = [db.named(db.facts[uuid]) for uuid in uuids if uuid in db.facts]
        return newest_created(fact for fact in found if fact.group_id in group_ids)[:limit]


class FakeEpisodes(FakePart):
    """The port ``GraphEpisodes``."""

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        db = await self._db()
        return _episode_page([e for e in db.mentioning(entity_uuid) if db.episode_fits(e, wanted)], window)

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:  # noqa: ARG002 its spans fit every zone
        db = await self._db()
        instants = [e.valid_at.astimezone(UTC) for e in db.mentioning(entity_uuid) if db.episode_fits(e, wanted)]
        spans = Counter(map(_span, instants))
        return TimelineSummary(
            first=min(instants, default=None),
            last=max(instants, default=None),
            total=len(instants),
            counts=tuple(sorted(spans.items())),
        )

    async def mentioned_with(self, entity_uuid: str, wanted: EpisodeFilter, newest: int, limit: int) -> list[Companion]:
        db = await self._db()
        page = _episode_page(
            [e for e in db.mentioning(entity_uuid) if db.episode_fits(e, wanted)], Window(limit=newest)
        )
        uuids = {episode.uuid for episode in page.episodes}
        counts = Counter(other for uuid, other in db.mentions if uuid in uuids and other != entity_uuid)
        found = [
            Companion(entity_uuid=uuid, name=db.entities[uuid].name, episodes=often)
            for uuid, often in counts.items()
            if db.entities[uuid].group_id in wanted.group_ids
        ]
        return sorted(found, key=lambda one: (-one.episodes, one.name, one.entity_uuid))[:limit]

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        db = await self._db()
        return _episode_page([e for e in db.episodes.values() if db.episode_fits(e, wanted)], window)

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        db = await self._db()
        uuids = {
            entity
            for episode, entity in db.mentions
            if episode in episode_uuids and db.episodes[episode].group_id in group_ids
        }
        found = {(e.name, e.uuid): e for e in map(db.entities.__getitem__, uuids) if e.group_id in group_ids}
        return [found[key] for key in _page(list(found), _as_it_is, window)], len(found)  # type: ignore[index]

    async def passages(self, episode_uuid: str, without_vector: bool, limit: int) -> list[Passage]:
        db = await self._db()
        found = [
            passage
            for passage in db.passages.values()
            if passage.episode_uuid == episode_uuid and not (without_vector and passage.uuid in db.vectors)
        ]
        return sorted(found, key=lambda passage: (passage.start, passage.uuid))[:limit]

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        db = await self._db()
        found = [db.episodes[uuid] for uuid in uuids if uuid in db.episodes]
        return {episode.uuid: place(episode) for episode in found if episode.group_id in group_ids}

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        db = await self._db()
        same = [
            (one.created_at, one.uuid)
            for one in db.episodes.values()
            if one.group_id == stretch.group_id
            and stretch.start <= one.valid_at < stretch.end
            and one.content == content
        ]
        return min(same)[1] if same else None

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        db = await self._db()
        found: dict[str, list[str]] = {}
        for (episode, entity), mention in sorted(db.mentions.items()):
            is_late = UUID(mention.uuid).version == 5 and mention.created_at > db.episodes[episode].created_at
            if entity in entity_uuids and not is_late:
                found.setdefault(entity, []).append(episode)
        return {entity: episodes[:limit_each] for entity, episodes in found.items()}


def _read_at(fact: Fact) -> datetime:
    return fact.valid_at or fact.reference_time or fact.created_at


def _means(facts: list[Fact], zone: str) -> dict[str, float]:
    by_month: dict[str, list[float]] = {}
    for fact in facts:
        if (amount := amount_of(fact.value, fact.unit)) is not None:
            by_month.setdefault(month_key(_read_at(fact), ZoneInfo(zone)), []).append(amount.middle)
    return {month: sum(numbers) / len(numbers) for month, numbers in by_month.items()}


def _series(key: tuple[str, str, str], facts: list[Fact], means: list[tuple[str, float]]) -> ReadingSeries:
    points = [
        ReadingPoint(
            value=fact.value or "",
            unit=fact.unit,
            at=_read_at(fact),
            words=fact.attributes.get(START_WORDS),
            confidential=CONFIDENTIAL in fact.attributes,
        )
        for fact in facts
    ]
    read = ((amount_of(fact.value, fact.unit), point) for fact, point in zip(facts, points, strict=True))
    numbers = [(amount.middle, point) for amount, point in read if amount is not None]
    return ReadingSeries(
        source_uuid=key[0],
        source_name=facts[0].source_name,
        measure=facts[0].measure or "",
        kind=key[2],
        readings=len(facts),
        numbers=len(numbers),
        first=points[0],
        last=points[-1],
        least=min(numbers, key=lambda one: one[0])[1] if numbers else None,
        most=max(numbers, key=lambda one: one[0])[1] if numbers else None,
        means=tuple(means),
    )


def _connected(db: Tables, entity_uuid: str, wanted: FactFilter) -> list[Fact]:
    found = []
    for fact in db.facts_under(wanted):
        sides = {"out": fact.source_uuid == entity_uuid, "in": fact.target_uuid == entity_uuid}
        fits = any(sides.values()) if wanted.direction == "both" else sides[wanted.direction]
        fits = fits or (wanted.direction != "out" and is_own_reading(fact, wanted))
        other = fact.target_uuid if sides["out"] else fact.source_uuid
        if fits and wanted.neighbour_uuid in (None, other):
            found.append(fact)
    return found


def _fact_page(db: Tables, facts: list[Fact], wanted: FactFilter, window: Window) -> FactPage:
    oldest = due_key if wanted.asks_open else oldest_key
    fitting = {connection_key(fact, wanted) if window.newest else oldest(fact): fact for fact in facts}
    keys = _page(list(fitting), connection_order if window.newest else _as_it_is, window)
    return FactPage(facts=tuple(db.named(fitting[key]) for key in keys), keys=tuple(keys), total=len(fitting))


def _episode_page(episodes: list[Episode], window: Window) -> EpisodePage:
    fitting = {episode_key(episode): episode for episode in episodes}
    newest = backwards_episode_order if window.backwards else newest_episode_order
    keys = _page(list(fitting), newest if window.newest else _as_it_is, window)
    return EpisodePage(episodes=tuple(fitting[key] for key in keys), keys=tuple(keys), total=len(fitting))


def _span(instant: datetime) -> datetime:
    """The start of its second, from 1972 on of its quarter of an hour: until then offsets had odd minutes."""
    second = instant.replace(microsecond=0)
    return second if second.year < _QUARTERS_SINCE else second.replace(minute=second.minute // 15 * 15, second=0)


def _page(keys: list[Key], order: Callable[[Key], tuple[object, ...]], window: Window) -> list[Key]:
    after = None if window.after is None else order(window.after)
    return sorted((key for key in keys if after is None or order(key) > after), key=order)[: window.limit]


def _as_it_is(key: Key) -> tuple[object, ...]:
    return key


def _is_reading(fact: Fact, source_uuid: str | None) -> bool:
    return fact.kind == "reading" and source_uuid in (None, fact.source_uuid) and not fact.voided


def _most_used(words: Iterable[str], limit: int) -> dict[str, int]:
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))[:limit])


def place(episode: Episode) -> Place:
    """Where it stands in time."""
    return Place(uuid=episode.uuid, group_id=episode.group_id, valid_at=episode.valid_at, created_at=episode.created_at)
