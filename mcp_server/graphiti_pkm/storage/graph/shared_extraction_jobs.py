"""The port ``SharedExtractionJobs`` in the database itself, and what a write changes in it.

A node is locked by a change before it is read: two servers may ask at the same time. An ended reading stays as
a mark of its outcome, without the instructions; no server needs the right to delete one.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import ExtractionState
from graphiti_pkm.core.ports.takeover import SharedExtractionJob
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.queries.write import Section

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.database import Database

_LONGEST = 3_600_000
"""Milliseconds: a longer lease was written before the database's clock was set back."""
_ENDED = """q.owner = null, q.turn = null, q.instructions = null, q.person = null, q.previous_episode_uuids = null,
  q.excluded_entity_types = null"""
_SHOWN = """RETURN q.uuid AS uuid, q.episode_uuid AS episode_uuid, q.group_id AS group_id, q.state AS state,
  q.owner AS owner, q.queued_at AS queued_at, q.instructions AS instructions, q.person AS person,
  q.previous_episode_uuids AS previous_episode_uuids, q.excluded_entity_types AS excluded_entity_types,
  q.update_communities AS update_communities"""

QUEUED = """MATCH (e:Episodic {uuid: r.episode_uuid})
MERGE (q:Reading {uuid: r.uuid}) ON CREATE SET q += r, q.queued_at = timestamp()"""
WRITTEN = f"MATCH (q:Reading {{uuid: r}}) SET q.state = 'done', {_ENDED}"
READ_AGAIN = "MATCH (q:Reading {group_id: r}) WHERE q.turn IS NOT NULL SET q.turn = null, q.state = 'queued'"
"""After something of the group was forgotten that a model may have been shown."""
WITHOUT_WORDS = "MATCH (q:Reading {episode_uuid: r}) WHERE q.instructions IS NOT NULL SET q.instructions = ''"
OF_EPISODE = "MATCH (q:Reading {episode_uuid: r}) DELETE q"
OF_GROUP = "MATCH (q:Reading {group_id: r}) DELETE q"

_BEAT = """MERGE (s:Server {id: $server}) SET s.asked_at = timestamp()
WITH s, coalesce(s.seen_until, 0) > timestamp() AS goes_on
SET s.since = CASE WHEN goes_on AND s.since <= timestamp() THEN s.since ELSE timestamp() END,
  s.seen_until = timestamp() + $lease"""
_TAKE_OVER = f"""MATCH (me:Server {{id: $server}})
WHERE me.seen_until > timestamp() AND me.since + $lease <= timestamp()
MATCH (s:Server) WHERE s.seen_until <= timestamp() OR s.seen_until > timestamp() + $longest WITH s.id AS gone
MATCH (q:Reading {{owner: gone}}) WITH q, gone ORDER BY q.queued_at, q.uuid LIMIT $limit
SET q.asked_at = timestamp()
WITH q, gone WHERE q.owner = gone SET q.owner = $server, q.turn = null, q.state = 'queued'
{_SHOWN}"""
_OWN = f"""MATCH (q:Reading {{owner: $server}}) WHERE q.queued_at > $after
{_SHOWN} ORDER BY queued_at, uuid LIMIT $limit"""
_BEGIN = """MATCH (e:Episodic {uuid: $episode_uuid}) WHERE e.group_id = $group_id
MERGE (q:Reading {uuid: $uuid}) ON CREATE SET q += $properties, q.queued_at = timestamp()
SET q.asked_at = timestamp()
WITH q OPTIONAL MATCH (s:Server {id: q.owner})
WITH q, q.state <> 'done'
  AND (q.owner IS NULL OR q.owner = $server OR coalesce(s.seen_until, 0) <= timestamp()
    OR s.seen_until > timestamp() + $longest) AS is_ours
SET q.owner = CASE WHEN is_ours THEN $server ELSE q.owner END,
  q.turn = CASE WHEN is_ours THEN $turn ELSE q.turn END,
  q.state = CASE WHEN is_ours THEN 'running' ELSE q.state END
RETURN is_ours"""
_HOLDS = """MATCH (q:Reading {uuid: $uuid}) SET q.asked_at = timestamp()
WITH q WHERE q.owner = $server AND q.turn = $turn RETURN 1 AS holds"""
_END = f"""UNWIND $uuids AS u MATCH (q:Reading {{uuid: u}}) WHERE q.owner = $server SET q.state = $state, {_ENDED}"""
_LATEST = f"""MATCH (q:Reading {{episode_uuid: $episode_uuid}}) WHERE q.group_id IN $group_ids
{_SHOWN} ORDER BY queued_at DESC, uuid LIMIT 1"""


def extraction_job_sections(intent: WriteIntent, server: str | None) -> Iterator[Section]:
    """Runs after the episodes of a write; nothing for a database with one server."""
    if server is None:
        return
    jobs = [_properties(intent.group_id, job, server) for job in intent.extractions if job.task == "episode"]
    yield QUEUED, jobs
    yield WRITTEN, [intent.uuid] if intent.kind is WriteKind.EXTRACT else []
    forgets, gone = intent.forgets, intent.deletions
    if forgets is not None:
        yield READ_AGAIN, [intent.group_id]
        yield WITHOUT_WORDS, [left.uuid for left in forgets.episodes]
    yield OF_EPISODE, gone.episodes
    yield OF_GROUP, gone.groups


class GraphExtractionJobs:
    """The port ``SharedExtractionJobs``; each question is one query."""

    def __init__(self, connect: "Callable[[], Awaitable[Database]]", server: str) -> None:
        self._connect = connect
        self._server = server

    @property
    def server(self) -> str:
        return self._server

    async def heartbeat(self, lease_seconds: float) -> None:
        await self._change("tell that we are there", _BEAT, lease=_milliseconds(lease_seconds))

    async def take_over(self, lease_seconds: float, limit: int) -> list[SharedExtractionJob]:
        lease = _milliseconds(lease_seconds)
        return _jobs(await self._change("take readings over", _TAKE_OVER, lease=lease, limit=limit))

    async def own(self, after: int, limit: int) -> list[SharedExtractionJob]:
        return _jobs(await self._read("own readings", _OWN, server=self._server, after=after, limit=limit))

    async def begin(self, group_id: str, job: ExtractJob, turn: str) -> bool:
        found = await self._change(
            "begin a reading",
            _BEGIN,
            uuid=job.uuid,
            episode_uuid=job.episode_uuid,
            group_id=group_id,
            turn=turn,
            properties=_properties(group_id, job, self._server),
        )
        return not found or bool(found[0]["is_ours"])

    async def holds(self, job_uuid: str, turn: str) -> bool:
        return bool(await self._change("hold a reading", _HOLDS, uuid=job_uuid, turn=turn))

    async def end(self, job_uuids: Sequence[str], state: ExtractionState) -> None:
        await self._change("end readings", _END, uuids=list(job_uuids), state=state)

    async def of_episode(self, episode_uuid: str, group_ids: Sequence[str]) -> SharedExtractionJob | None:
        found = await self._read("latest reading", _LATEST, episode_uuid=episode_uuid, group_ids=list(group_ids))
        return next(iter(_jobs(found)), None)

    async def _change(self, name: str, text: str, **values: object) -> list[Row]:
        try:
            return await (await self._connect()).write(
                Query(name, text, {"server": self._server, "longest": _LONGEST, **values})
            )
        except Refused:
            raise Unavailable("The database did not take a change of what the servers share.") from None

    async def _read(self, name: str, text: str, **values: object) -> list[Row]:
        (found,) = await (await self._connect()).read(Query(name, text, values))
        return found


def _properties(group_id: str, job: ExtractJob, server: str) -> Row:
    previous = job.previous_episode_uuids
    return {
        "uuid": job.uuid,
        "episode_uuid": job.episode_uuid,
        "group_id": group_id,
        "owner": server,
        "state": "queued",
        "instructions": job.instructions,
        "person": job.person,
        "previous_episode_uuids": None if previous is None else list(previous),
        "excluded_entity_types": list(job.excluded_entity_types),
        "update_communities": job.update_communities,
    }


def _jobs(found: Sequence[Row]) -> list[SharedExtractionJob]:
    return [
        SharedExtractionJob(
            job=ExtractJob(
                uuid=row["uuid"],
                episode_uuid=row["episode_uuid"],
                instructions=row["instructions"] or "",
                person=row["person"],
                previous_episode_uuids=_tuple_or_none(row["previous_episode_uuids"]),
                excluded_entity_types=tuple(row["excluded_entity_types"] or ()),
                update_communities=bool(row["update_communities"]),
            ),
            group_id=row["group_id"],
            state=row["state"],
            owner=row["owner"],
            queued_at=row["queued_at"],
        )
        for row in found
    ]


def _tuple_or_none(given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1_000)
