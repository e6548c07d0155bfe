"""What stands around an episode of the fake graph."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from tests.fakes.part import FakePart
from tests.fakes.reads import place
from tests.fakes.tables import Tables

from graphiti_pkm.core.facts.observations import is_observation
from graphiti_pkm.core.model.places import Steps, Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.model.records import Episode


class FakeNeighbours(FakePart):
    """The port ``GraphNeighbours``."""

    async def uuids_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[str]]:
        db = await self._db()
        places = [
            place(one) for one in db.episodes.values() if recorded_until is None or one.created_at <= recorded_until
        ]
        places.sort(key=lambda place: place.order)
        return [
            [one.uuid for one in places if one.group_id == each.group_id and each.start <= one.valid_at < each.end][
                :limit_each
            ]
            for each in stretches
        ]

    async def followers(
        self, uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int
    ) -> dict[str, list[str]]:
        db = await self._db()
        found: dict[str, list[str]] = {}
        for uuid in uuids:
            one = db.episodes.get(uuid)
            if (
                one is None
                or one.group_id not in wanted.group_ids
                or one.source != "message"
                or len(one.content) > most
            ):
                continue
            later = [
                other
                for other in db.episodes.values()
                if other.group_id == one.group_id
                and other.source == "message"
                and place(one).order < place(other).order
                and other.valid_at <= one.valid_at + within
                and (wanted.recorded_until is None or other.created_at <= wanted.recorded_until)
            ]
            following = sorted(later, key=lambda other: place(other).order)[:count]
            found[uuid] = [other.uuid for other in takewhile(lambda other: len(other.content) <= most, following)]
        return found

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        db = await self._db()
        steps: dict[str, Steps] = {}
        for uuid in uuids:
            episode = db.episodes.get(uuid)
            if episode is None or episode.group_id not in group_ids:
                continue
            before = [one for one, after in db.episode_links if after == uuid and self._is_beside(db, one, episode)]
            after = [one for before, one in db.episode_links if before == uuid and self._is_beside(db, one, episode)]
            if before or after:
                steps[uuid] = Steps(previous=min(before, default=None), next=min(after, default=None))
        return steps

    @staticmethod
    def _is_beside(db: Tables, uuid: str, episode: Episode) -> bool:
        return db.episodes[uuid].group_id == episode.group_id

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        db = await self._db()
        counts = {uuid: sum((uuid, entity) in db.mentions for entity in set(entity_uuids)) for uuid in episode_uuids}
        return {uuid: count for uuid, count in counts.items() if count}

    async def has_observations(self, group_ids: Sequence[str]) -> bool:
        db = await self._db()
        return any(is_observation(fact) and fact.group_id in group_ids for fact in db.facts.values())

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        db = await self._db()
        ends = [(fact.source_uuid, fact.target_uuid) for fact in db.facts.values()]
        distances = {center_uuid: 0} if center_uuid in db.entities else {}
        for hops in (1, 2):
            reached = {uuid for uuid, distance in distances.items() if distance == hops - 1}
            for source, target in ends:
                if source in reached:
                    distances.setdefault(target, hops)
                if target in reached:
                    distances.setdefault(source, hops)
        return {uuid: distances[uuid] for uuid in entity_uuids if uuid in distances}
