"""The fake of what servers share about readings, in the tables of a fake graph that they share."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.fakes.clock import FakeClock
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import ExtractionState
from graphiti_pkm.core.ports.takeover import SharedExtractionJob


class FakeSharedExtractionJobs:
    """The port ``SharedExtractionJobs``; ``connect`` gives the tables, ``clock`` is the database's."""

    def __init__(self, connect: Callable[[], Awaitable[Tables]], server: str, clock: FakeClock | None = None) -> None:
        self._connect = connect
        self._server = server
        self.clock = clock or FakeClock()

    @property
    def server(self) -> str:
        return self._server

    async def heartbeat(self, lease_seconds: float) -> None:
        db, now = await self._connect(), self._now()
        since = db.servers[self._server][0] if self._is_there(db, self._server) else now
        db.servers[self._server] = (since, now + round(lease_seconds * 1_000))

    async def take_over(self, lease_seconds: float, limit: int) -> list[SharedExtractionJob]:
        db = await self._connect()
        here = self._is_there(db, self._server)
        if not here or db.servers[self._server][0] + round(lease_seconds * 1_000) > self._now():
            return []
        gone = {server for server in db.servers if not self._is_there(db, server)}
        taken = [uuid for uuid, one in db.readings.items() if one.owner in gone][:limit]
        for uuid in taken:
            _change(db, uuid, owner=self._server, state="queued")
            db.turns.pop(uuid, None)
        return [db.readings[uuid] for uuid in taken]

    async def own(self, after: int, limit: int) -> list[SharedExtractionJob]:
        db = await self._connect()
        return [one for one in db.readings.values() if one.owner == self._server and one.queued_at > after][:limit]

    async def begin(self, group_id: str, job: ExtractJob, turn: str) -> bool:
        db = await self._connect()
        episode = db.episodes.get(job.episode_uuid)
        if episode is None or episode.group_id != group_id:
            return True
        known = db.readings.get(job.uuid)
        if known is None:
            known = _queue(db, group_id, job, self._server)
        is_free = known.owner in {None, self._server} or not self._is_there(db, known.owner or "")
        if known.state == "done" or not is_free:
            return False
        _change(db, job.uuid, owner=self._server, state="running")
        db.turns[job.uuid] = turn
        return True

    async def holds(self, job_uuid: str, turn: str) -> bool:
        db = await self._connect()
        known = db.readings.get(job_uuid)
        return known is not None and known.owner == self._server and db.turns.get(job_uuid) == turn

    async def end(self, job_uuids: Sequence[str], state: ExtractionState) -> None:
        db = await self._connect()
        for uuid in job_uuids:
            if uuid in db.readings and db.readings[uuid].owner == self._server:
                _end(db, uuid, state)

    async def of_episode(self, episode_uuid: str, group_ids: Sequence[str]) -> SharedExtractionJob | None:
        db = await self._connect()
        fitting = [
            one for one in db.readings.values() if one.job.episode_uuid == episode_uuid and one.group_id in group_ids
        ]
        return fitting[-1] if fitting else None

    def _is_there(self, db: Tables, server: str) -> bool:
        return server in db.servers and db.servers[server][1] > self._now()

    def _now(self) -> int:
        return round(self.clock().timestamp() * 1_000)


def share(db: Tables, intent: WriteIntent, server: str) -> None:
    """What a write says of readings."""
    for job in intent.extractions:
        if job.task == "episode" and job.episode_uuid in db.episodes:
            _queue(db, intent.group_id, job, server)
    if intent.kind is WriteKind.EXTRACT and intent.uuid in db.readings:
        _end(db, intent.uuid, "done")
    told, gone = intent.forgets, intent.deletions
    for uuid, one in list(db.readings.items()):
        if told is not None and one.group_id == intent.group_id and db.turns.pop(uuid, None):
            _change(db, uuid, state="queued")
        if told is not None and one.job.episode_uuid in {left.uuid for left in told.episodes}:
            _change(db, uuid, job=one.job.model_copy(update={"instructions": ""}))
        if one.job.episode_uuid in gone.episodes or one.group_id in gone.groups:
            del db.readings[uuid]
            db.turns.pop(uuid, None)


def _queue(db: Tables, group_id: str, job: ExtractJob, server: str) -> SharedExtractionJob:
    made = SharedExtractionJob(job=job, group_id=group_id, state="queued", owner=server, queued_at=len(db.readings) + 1)
    return db.readings.setdefault(job.uuid, made)


def _end(db: Tables, uuid: str, state: ExtractionState) -> None:
    job = db.readings[uuid].job
    asked = ExtractJob(uuid=uuid, episode_uuid=job.episode_uuid, update_communities=job.update_communities)
    _change(db, uuid, job=asked, state=state, owner=None)
    db.turns.pop(uuid, None)


def _change(db: Tables, uuid: str, **values: Any) -> None:
    db.readings[uuid] = db.readings[uuid].model_copy(update=values)
