"""Model jobs without an episode: summarising a saga, and building a group's communities.

Each is one write, like an extraction: the model is asked under no lock, every answer is kept with the job, and a
resumed job first looks for its write.
"""

from collections.abc import Awaitable, Callable, Sequence
from uuid import uuid4

from graphiti_pkm.capabilities.extraction.writing import OutdatedError
from graphiti_pkm.capabilities.sagas.label_propagation import MOST_PAIRS, MOST_SUMMARIES, clusters
from graphiti_pkm.capabilities.sagas.ports import GraphCommunities
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Entity, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.model.saga_records import Community, Saga
from graphiti_pkm.core.ports.extraction import ModelLedger
from graphiti_pkm.core.ports.summaries import Member, Summarizer
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import NotFound, WritePending
from graphiti_pkm.storage.commit import Committer

MOST_ROUNDS = 50
"""Rounds of twenty episodes each in one job; another job continues."""
_MOST_TEXT = 1_000
_MOST_NAME = 200
_FACTS = 3

MayWrite = Callable[[], Awaitable[bool]]
"""Asked under the group's lock right before the write: whether the worker still has the job."""


class SummaryJobs:
    """Runs the jobs: a model summarises, and the result is written."""

    def __init__(
        self, context: Context, committer: Committer, summarizer: Summarizer, communities: GraphCommunities
    ) -> None:
        self._context = context
        self._graph = context.graph
        self._persons = Persons(context.graph, context.settings)
        self._committer = committer
        self._summarizer = summarizer
        self._communities = communities

    async def work(self, group_id: str, job: ExtractJob, ledger: ModelLedger, may_write: MayWrite) -> None:
        """Run one job whose write is not in the journal yet.

        Raises:
            NotFound: the saga has gone.
            OutdatedError: the job is not its worker's any more; nothing was written.
            ModelError, Unavailable, WriteFailed: likewise.
        """
        works = {"saga": self._summarize, "communities": self._build}
        await works[job.task](group_id, job, ledger, may_write)

    async def _summarize(self, group_id: str, job: ExtractJob, ledger: ModelLedger, may_write: MayWrite) -> None:
        saga = await self._saga(group_id, job.episode_uuid)
        newest = await self._graph.facts.newest_record([group_id])
        for _ in range(MOST_ROUNDS):
            further = await self._summarizer.summarize(saga, ledger)
            if further is None:
                break
            saga = further
        names = ("summary", "last_summarized_at", "last_summarized_episode_valid_at")
        values = {name: getattr(saga, name) for name in names}
        if newest is not None and saga.last_summarized_at is not None:
            # By the record rather than a clock, which may be set back: everything later is recorded after this.
            values["last_summarized_at"] = min(saga.last_summarized_at, newest)
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            now = await self._saga(group_id, job.episode_uuid)  # the saga may have grown meanwhile
            await self._write(await self._intent(group_id, job, sagas=(now.model_copy(update=values),)), {}, may_write)

    async def _saga(self, group_id: str, uuid: str) -> Saga:
        found = await self._graph.sagas.find_sagas(group_id, [uuid], "")
        for saga in found:
            if saga.uuid == uuid:
                return saga
        raise NotFound("The saga has gone.")

    async def _build(self, group_id: str, job: ExtractJob, ledger: ModelLedger, may_write: MayWrite) -> None:
        pairs = await self._communities.joined_entities(group_id, MOST_PAIRS)
        # The person is connected to everything.
        found = clusters(pairs, left_out=await self._persons.uuids(group_id))
        communities = [await self._community(group_id, members, ledger) for members in found]
        names = list(dict.fromkeys(one.name for one in communities))
        vectors = (await embed_by_text(self._context.embedder, names) if names else None) or {}
        by_uuid = {one.uuid: vectors[one.name] for one in communities if one.name in vectors}
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            intent = await self._intent(group_id, job, communities=tuple(communities))
            await self._write(intent, by_uuid, may_write)

    async def _community(self, group_id: str, members: Sequence[str], ledger: ModelLedger) -> Community:
        read = await self._members(group_id, members[:MOST_SUMMARIES])
        described = await self._summarizer.describe(read, ledger)
        return Community(
            uuid=str(uuid4()),
            group_id=group_id,
            name=described.name.strip()[:_MOST_NAME] or ", ".join(one.name for one in read)[:_MOST_NAME],
            summary=described.summary,
            created_at=self._context.now(),
            members=tuple(members),
        )

    async def _members(self, group_id: str, uuids: Sequence[str]) -> list[Member]:
        """Members for the model; one without a summary is represented by its newest facts."""
        entities = await self._graph.records.get_entities(uuids, [group_id])
        plain = [one.uuid for one in entities if not one.summary]
        now = self._context.now()
        facts = await self._graph.facts.newest_facts(plain, [group_id], now, _FACTS) if plain else {}
        return [
            Member(uuid=one.uuid, name=one.name, text=_text(one, [fact.text for fact in facts.get(one.uuid, ())]))
            for one in entities
        ]

    async def _intent(self, group_id: str, job: ExtractJob, **fields: object) -> WriteIntent:
        kind = {"saga": WriteKind.SUMMARIZE_SAGA, "communities": WriteKind.BUILD_COMMUNITIES}[job.task]
        return WriteIntent.model_validate(
            {
                "uuid": job.uuid,
                "group_id": group_id,
                "kind": kind,
                "recorded_at": await self._committer.time(group_id),
                **fields,
            }
        )

    async def _write(self, intent: WriteIntent, vectors: Vectors, may_write: MayWrite) -> None:
        if not await may_write():
            raise OutdatedError
        try:
            await self._committer.commit(intent, vectors)
        except WritePending:  # the journal has it, so the job is done
            return


def _text(entity: Entity, facts: Sequence[str]) -> str:
    """The text, always with the name, which a summary may leave out."""
    return f"{entity.name}: {entity.summary or ' '.join(facts)}"[:_MOST_TEXT]
