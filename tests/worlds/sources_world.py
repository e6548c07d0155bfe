"""A memory with documents, over fakes; files are in a directory of their own."""

from pathlib import Path
from typing import Any

from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.sources.evidence import Evidence
from graphiti_pkm.capabilities.sources.ingesting import Given, Ingested, Ingesting
from graphiti_pkm.capabilities.sources.models import EntitySourcesResponse, EvidenceResponse
from graphiti_pkm.capabilities.sources.reading import DocumentReading
from graphiti_pkm.capabilities.sources.requests import AddEvidence, GetEntitySources
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import Fact, WriteIntent, WriteKind
from graphiti_pkm.storage.commit import Committer


class SourcesWorld(CurationWorld):
    """Texts are given by the names of their files."""

    def __init__(self, root: Path, **settings: Any) -> None:
        super().__init__(**settings)
        self.root = root
        groups, committer = Groups(self.graph, self.context.settings), Committer(self.context)
        self.ingesting = Ingesting(self.context, groups, committer)
        self.evidence = Evidence(self.context, groups, committer)
        self.reading = DocumentReading(self.context, groups)

    async def ingest(self, caller: Caller = LOCAL, group: str | None = None, **texts: str) -> list[Ingested]:
        """Write NAME.md for each and ingest it as NAME; in the order of the answer."""
        self.clock.advance(seconds=1)
        for name, text in texts.items():
            (self.root / f"{name}.md").write_bytes(text.encode())
        given = [Given(self.root / f"{name}.md", name) for name in texts]
        return [one async for one in self.ingesting.ingest(caller, given, self.root, group)]

    async def add(
        self, name: str, quote: str, paragraph: int | None = None, document: str = "guide", caller: Caller = LOCAL
    ) -> EvidenceResponse:
        self.clock.advance(seconds=1)
        request = AddEvidence(entity_uuid=self._uuid(name), quote=quote, document=document, paragraph=paragraph)
        return await self.evidence.add_evidence(caller, request)

    async def sources(self, name: str, caller: Caller = LOCAL, **fields: Any) -> EntitySourcesResponse:
        request = GetEntitySources(entity_uuid=self._uuid(name), **fields)
        return await self.evidence.get_entity_sources(caller, request)

    async def read(self, name: str, source_id: str, caller: Caller = LOCAL, **fields: Any) -> EntitySourcesResponse:
        request = GetEntitySources(entity_uuid=self._uuid(name), source_id=source_id, **fields)
        return await self.reading.read(caller, request)

    async def text(self, name: str = "guide", group: str = "default") -> str:
        """The present version of a document, as the memory has it."""
        document = await self.graph.documents.present(group, name)
        assert document is not None
        sections = await self.graph.documents.sections(document.uuid, group, 9_999)
        episodes = self.graph.tables.episodes
        return document.front + "".join(episodes[one.episode_uuid].content for one in sections)

    def fact_of(self, known: Fact) -> Fact:
        """A fact as it is now."""
        return self.graph.tables.facts[known.uuid]

    @property
    def ingested(self) -> list[WriteIntent]:
        """The writes of documents in the journal, in order."""
        return [row.intent for row in self.journal.table.values() if row.intent.kind is WriteKind.INGEST]
