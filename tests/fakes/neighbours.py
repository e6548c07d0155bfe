"""What stands around an episode of the fake graph."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tests.fakes.reads import Reads
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.ports.neighbours import Place, Steps, Stretch


class Neighbours(Reads):
    """The port ``GraphNeighbours``."""

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        db = await self._db()
        found = [db.episodes[uuid] for uuid in uuids if uuid in db.episodes]
        return {episode.uuid: _place(episode) for episode in found if episode.group_id in group_ids}

    async def places_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[Place]]:
        db = await self._db()
        places = [
            _place(one) for one in db.episodes.values() if recorded_until is None or one.created_at <= recorded_until
        ]
        places.sort(key=lambda place: place.order)
        return [
            [one for one in places if one.group_id == each.group_id and each.start <= one.valid_at < each.end][
                :limit_each
            ]
            for each in stretches
        ]

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

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        db = await self._db()
        found: dict[str, list[str]] = {}
        for (episode, entity), mention in sorted(db.mentions.items()):
            is_late = UUID(mention.uuid).version == 5 and mention.created_at > db.episodes[episode].created_at
            if entity in entity_uuids and not is_late:
                found.setdefault(entity, []).append(episode)
        return {entity: episodes[:limit_each] for entity, episodes in found.items()}


def _place(episode: Episode) -> Place:
    return Place(uuid=episode.uuid, group_id=episode.group_id, valid_at=episode.valid_at, created_at=episode.created_at)
