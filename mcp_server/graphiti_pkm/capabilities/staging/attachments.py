"""Copies what hangs on the copied episodes and entities: sagas, documents, and quotes from these as evidence."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.staging.copying import PASSAGES, Copying
from graphiti_pkm.capabilities.staging.models import Attached
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.saga_plan import closing_links, find_saga, saga_uuid
from graphiti_pkm.core.model.document_records import Document, Instance
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Copied, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.saga_records import EpisodeLink, Saga, SagaStep
from graphiti_pkm.errors import DamagedStore

_PAGE = 500
_BATCH = 200
_DOCUMENTS = 100_000
"""Versions that have some of a batch's sections: more than there are."""
_SECTIONS = 100_000


class Attachments:
    """Of one copy, after its entities and episodes; both locks are held."""

    def __init__(self, context: Context, copying: Copying) -> None:
        self._context = context
        self._graph = context.graph
        self._copying = copying
        self._groups = [copying.source]
        self._documents: dict[str, str] = {}
        """By the uuid there: the uuid here, of those that are here whole."""
        self._last: dict[str, int] = {}
        """By the name of a document: the last version here that was copied, now or earlier."""
        self._present: dict[str, Document] = {}
        """By name: the last version that this run copies, or would copy."""
        self._counts = {state: dict.fromkeys(Attached.model_fields, 0) for state in ("copied", "known", "left")}

    @property
    def copied(self) -> Attached:
        """What came with the records."""
        return Attached(**self._counts["copied"])

    @property
    def known(self) -> Attached:
        """What an earlier run had copied, or the target has as well."""
        return Attached(**self._counts["known"])

    @property
    def left(self) -> Attached:
        """What stays in the source, since not all that it needs came along."""
        return Attached(**self._counts["left"])

    async def copy(self) -> None:
        """Copy all of them. Raises as ``Committer.commit``."""
        sagas, documents = dict[str, Saga](), dict[str, Document]()
        episodes = list(self._copying.episodes)
        for start in range(0, len(episodes), _BATCH):
            some = episodes[start : start + _BATCH]
            held = await self._graph.sagas.sagas_of_episodes(some, self._groups, [])
            sagas |= {one.saga.uuid: one.saga for one in held}
            found = await self._graph.documents.holding(some, self._groups, _DOCUMENTS)
            documents |= {one.uuid: one for one in found}
        for saga in sagas.values():
            await self._copy_saga(saga)
        ordered = sorted(documents.values(), key=lambda one: (one.name, one.version))
        last = {one.name: one.uuid for one in ordered}
        for document in ordered:
            await self._copy_document(document, is_last=last[document.name] == document.uuid)
        if await self._may_have_evidence():
            for uuid in self._copying.entities:
                await self._copy_evidence(uuid)

    # Sagas

    async def _copy_saga(self, saga: Saga) -> None:
        """A saga of the same name in the target goes on with what comes; what does not come leaves no gap."""
        own = self._placed()
        members = await self._members(saga.uuid)
        came = [one for one in members if one in own]
        if len(came) < len(members):
            self._count("left", "sagas")
        held = await self._held(saga)
        here = held or self._new_saga(saga, is_whole=len(came) == len(members))
        if held is None and here.uuid in self._copying.gone.sagas:
            return
        steps, links = set(await self._members(here.uuid) if held else ()), set[tuple[str, str]]()
        for start in range(0, len(came), _PAGE):
            links.update(await self._graph.sagas.links_around([own[one] for one in came[start : start + _PAGE]]))
        here = await self._with_ends(here, [own[one] for one in came])
        new_steps = [own[one] for one in came if own[one] not in steps]
        new_links = [pair for pair in await self._links(members) if pair not in links]
        self._count("copied" if new_steps or new_links else "known", "sagas")
        for start in range(0, max(len(new_steps), len(new_links)), _PAGE):
            intent = await self._copying.intent([Copied(uuid=here.uuid, origin_uuid=saga.uuid)])
            await self._copying.commit(
                intent.model_copy(
                    update={
                        "sagas": (here,),
                        "saga_steps": tuple(
                            SagaStep(
                                uuid=str(uuid4()),
                                saga_uuid=here.uuid,
                                episode_uuid=one,
                                created_at=intent.recorded_at,
                            )
                            for one in new_steps[start : start + _PAGE]
                        ),
                        "episode_links": tuple(
                            EpisodeLink(
                                uuid=str(uuid4()), previous_uuid=one, next_uuid=other, created_at=intent.recorded_at
                            )
                            for one, other in new_links[start : start + _PAGE]
                        ),
                    }
                )
            )

        if self._copying.writes and not {own[one] for one in came}.issubset(await self._members(here.uuid)):
            raise _differs()

    def _placed(self) -> dict[str, str]:
        """Episodes that have their place in a saga, also if they lost words."""
        return self._copying.episodes | self._copying.redacted

    async def _held(self, saga: Saga) -> Saga | None:
        target = self._copying.target
        if saga.name != FORGOTTEN:
            return await find_saga(self._graph, target, saga.name)
        copy = self._copying.copy_of(saga.uuid)
        return next((one for one in await self._graph.sagas.find_sagas(target, copy, "") if one.uuid == copy), None)

    async def _with_ends(self, saga: Saga, came: Sequence[str]) -> Saga:
        """The saga here with the first and last in time of what it holds and what comes, which is in order."""
        ends = [saga.first_episode_uuid, *came[:1], *came[-1:], saga.last_episode_uuid]
        known = list(dict.fromkeys(one for one in ends if one is not None))
        places = (await self._graph.episodes.episode_places(known, [self._copying.target])).values()
        ordered = [one.uuid for one in sorted(places, key=lambda one: (one.valid_at, known.index(one.uuid)))]
        first, last = (ordered[0], ordered[-1]) if ordered else (None, None)
        return saga.model_copy(update={"first_episode_uuid": first, "last_episode_uuid": last})

    def _new_saga(self, saga: Saga, *, is_whole: bool) -> Saga:
        """A summary tells of all episodes, so it comes only with all of them, and is written again from these."""
        target, is_named = self._copying.target, saga.name != FORGOTTEN
        return saga.model_copy(
            update={
                "uuid": saga_uuid(target, saga.name) if is_named else self._copying.copy_of(saga.uuid),
                "group_id": target,
                "summary": saga.summary if is_whole else "",
                "first_episode_uuid": None,
                "last_episode_uuid": None,
                "last_summarized_at": None,
                "last_summarized_episode_valid_at": None,
            }
        )

    async def _members(self, saga: str) -> list[str]:
        """The episodes of a saga in the order of time. They are read as they were recorded, many of them at once."""
        found: dict[str, tuple[datetime, datetime, str]] = {}
        after, limit = None, _PAGE
        while True:
            page = await self._graph.sagas.episodes_of_saga(saga, after, limit)
            is_last = len(page) < limit
            whole = [one for one in page if is_last or one.created_at != page[-1].created_at]
            found |= {one.uuid: one.order for one in whole}
            if is_last:
                return sorted(found, key=found.__getitem__)
            if whole:
                after = whole[-1].created_at
            else:
                limit *= 2

    async def _links(self, members: Sequence[str]) -> list[tuple[str, str]]:
        """Which of the copies follows which; episodes that stay away are passed over."""
        own = self._placed()
        links: dict[tuple[str, str], None] = {}
        for start in range(0, len(members), _PAGE):
            links |= dict.fromkeys(await self._graph.sagas.links_around(members[start : start + _PAGE]))
        within = [pair for pair in links if set(members).issuperset(pair)]
        away = [one for one in members if one not in own]
        joined = [*(pair for pair in within if own.keys() >= set(pair)), *closing_links(within, away)]
        return list(dict.fromkeys((own[one], own[other]) for one, other in joined))

    # Documents

    async def _copy_document(self, document: Document, *, is_last: bool) -> None:
        """A version, whole or not at all: its text is that of its sections, and its offsets count them."""
        copying, documents = self._copying, self._graph.documents
        sections = await documents.sections(document.uuid, copying.source, _SECTIONS)
        if not all(one.episode_uuid in copying.episodes for one in sections):
            self._count("left", "documents")
            return
        uuid = copying.counterparts.new(document.uuid)
        held = await documents.documents([copying.copy_of(document.uuid), uuid], [copying.target])
        present = self._present.get(document.name) or await documents.present(copying.target, document.name)
        if held:
            self._documents[document.uuid] = held[0].uuid
            self._last[document.name] = max(held[0].version, self._last.get(document.name, 0))
        if held or await self._is_known(document, present, is_last=is_last):
            self._count("known", "documents")
            return
        self._documents[document.uuid] = uuid
        self._count("copied", "documents")
        intent = await copying.intent([Copied(uuid=uuid, origin_uuid=document.uuid)])
        copy = document.model_copy(
            update={
                "uuid": uuid,
                "group_id": copying.target,
                "version": (present.version if present else 0) + 1,
                "created_at": intent.recorded_at,
            }
        )
        self._present[copy.name] = copy
        self._last[copy.name] = copy.version
        placed = tuple(
            one.model_copy(update={"document_uuid": uuid, "episode_uuid": copying.episodes[one.episode_uuid]})
            for one in sections
        )
        await copying.commit(intent.model_copy(update={"documents": (copy,), "sections": placed}))
        if copying.writes:
            here = await documents.sections(uuid, copying.target, _SECTIONS)
            if [(one.place, one.start) for one in here] != [(one.place, one.start) for one in sections]:
                raise _differs()

    async def _is_known(self, document: Document, present: Document | None, *, is_last: bool) -> bool:
        """Whether the target has the text of a version by itself.

        A text that was given up there and taken up again is a version of its own, and so is the last one there if it
        was told after what is present here.
        """
        if present is None or not document.digest:
            return False
        if present.digest == document.digest:
            return True
        same = await self._graph.documents.with_digest(self._copying.target, document.digest)
        if same is None or same.name != document.name or same.version <= self._last.get(document.name, 0):
            return False
        return not is_last or document.created_at <= present.created_at

    # Evidence

    async def _may_have_evidence(self) -> bool:
        """Whether a quote was ever written to the source, so that entities need not be asked one by one."""
        journal, source = self._context.journal, self._copying.source
        for kind in (WriteKind.ADD_EVIDENCE, WriteKind.MIGRATE):
            if await journal.last_write(source, kind) is not None:
                return True
        return False

    async def _copy_evidence(self, entity: str) -> None:
        """The quotes about an entity from documents that are here."""
        there = await self._instances(entity, self._copying.source)
        if not there:
            return
        copying = self._copying
        here = await self._instances(copying.entities[entity], copying.target)
        places = set(map(_place, here.values()))
        new: list[tuple[Instance, Instance]] = []
        for one in there.values():
            copy = await self._instance(one)
            if one.uuid in here or copying.copy_of(one.uuid) in here or (copy is not None and _place(copy) in places):
                self._count("known", "quotes")
            elif copy is not None:
                self._count("copied", "quotes")
                new.append((one, copy))
            else:
                self._count("left", "quotes")
        for start in range(0, len(new), _PAGE):
            some = new[start : start + _PAGE]
            intent = await copying.intent([Copied(uuid=copy.uuid, origin_uuid=one.uuid) for one, copy in some])
            made = tuple(copy.model_copy(update={"created_at": intent.recorded_at}) for _, copy in some)
            await copying.commit(intent.model_copy(update={"instances": made}))
        if new and copying.writes:
            here = await self._instances(copying.entities[entity], copying.target)
            if not here.keys() >= {copy.uuid for _, copy in new}:
                raise _differs()

    async def _instance(self, one: Instance) -> Instance | None:
        """The quote as it will be here; None if its document or its words are not here."""
        copying = self._copying
        document, episode = self._documents.get(one.document_uuid), copying.episodes.get(one.episode_uuid)
        passages = await self._passages(one) if document and episode else ()
        if document is None or episode is None or len(passages) < len(one.passages):
            return None
        fields = {
            "uuid": copying.counterparts.new(one.uuid),
            "group_id": copying.target,
            "entity_uuid": copying.entities[one.entity_uuid],
            "document_uuid": document,
            "episode_uuid": episode,
            "passages": passages,
        }
        return one.model_copy(update=fields)

    async def _passages(self, one: Instance) -> tuple[str, ...]:
        """Those of its passages that are here: of an episode that is no copy, by where they begin."""
        copying, episode = self._copying, self._copying.episodes[one.episode_uuid]
        if episode in copying.made or copying.counterparts.is_made(episode, one.episode_uuid):
            return tuple(map(copying.counterparts.new, one.passages))
        there, here = [
            await self._graph.episodes.passages(uuid, without_vector=False, limit=PASSAGES)
            for uuid in (one.episode_uuid, episode)
        ]
        starts = {passage.uuid: (passage.start, passage.end) for passage in there}
        own = {(passage.start, passage.end): passage.uuid for passage in here}
        return tuple(own[starts[uuid]] for uuid in one.passages if starts.get(uuid) in own)

    async def _instances(self, entity: str, group: str) -> Mapping[str, Instance]:
        found: dict[str, Instance] = {}
        after = None
        while True:
            page = await self._graph.documents.instances(entity, [group], Window(limit=_PAGE, after=after))
            found |= {row.instance.uuid: row.instance for row in page.rows}
            if len(page.rows) < _PAGE:
                return found
            after = page.keys[-1]

    def _count(self, state: str, kind: str) -> None:
        self._counts[state][kind] += 1


def _place(one: Instance) -> tuple[object, ...]:
    """Where a quote stands: there is one of an entity at a place."""
    return one.episode_uuid, one.passages, one.first, one.last


def _differs() -> DamagedStore:
    return DamagedStore("After the copy, a saga, a document or its quotes are not in the target as in the source.")
