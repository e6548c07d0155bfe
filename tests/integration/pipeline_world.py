"""A store with known entities and facts, a scripted model, and the extractor between them."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from tests.builders import GROUP, a_fact, a_name, a_write, an_entity, an_episode, at
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.extractions import FakeExtractionQueue
from tests.scripted_model import ScriptedModel

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Record, Vectors
from graphiti_pkm.core.ports.extraction import (
    Budget,
    ExtractedEntity,
    ExtractedFact,
    Extraction,
    ExtractionTask,
    ModelLedger,
)
from graphiti_pkm.graphiti_adapter.llm_client import LanguageModel, llm_client
from graphiti_pkm.graphiti_adapter.pipeline import GraphitiExtractor
from graphiti_pkm.graphiti_adapter.pipeline_types import read_types
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

PERSON, COMPANY = (EntityTypeSetting(name=name, description=f"A {name}") for name in ("Person", "Company"))
WORKS_AT = EdgeTypeSetting(name="WorksAt", description="Employment", between=(("Person", "Company"),))
ANNA, ACME = an_entity("Anna Berg", summary="An engineer."), an_entity("Acme")


def works_at_acme(**fields: Any) -> Fact:
    """What the graph knows of them."""
    given = {"text": "Anna Berg WORKS_AT Acme.", "valid_at": at(2024), "reference_time": at(2024), **fields}
    return a_fact(ANNA, ACME, "WORKS_AT", **given)


@asynccontextmanager
async def opened(store: SqliteGraph, model: ScriptedModel) -> AsyncIterator["PipelineWorld"]:
    made = PipelineWorld(store, model)
    await store.embeddings.record_embedding(made.embedder.model, made.embedder.dimension)
    yield made
    await made.close()


async def a_ledger() -> ModelLedger:
    """Of one job, which keeps and allows everything."""
    queue = FakeExtractionQueue(FakeClock(at(2026)))
    queue.add(GROUP, [ExtractJob(uuid="job", episode_uuid="episode")])
    claimed = await queue.claim("test", 30)
    assert claimed is not None
    return queue.ledger(claimed.id, Budget(), "2026-01-01")


class PipelineWorld:
    """What a test tells and asks."""

    def __init__(self, store: SqliteGraph, model: ScriptedModel) -> None:
        self.store = store
        self.model = model
        self.embedder = FakeEmbedder()
        self._opened: list[LanguageModel] = []
        self._looking: sqlite3.Connection | None = None

    async def keep(self, *records: Record) -> None:
        """Write records with their vectors and, of entities, their names."""
        texts = {one.uuid: one.name for one in records if isinstance(one, Entity)}
        texts |= {one.uuid: one.text for one in records if isinstance(one, Fact)}
        vectors: Vectors = dict(zip(texts, await self.embedder.embed(list(texts.values())), strict=True))
        names = [a_name(one) for one in records if isinstance(one, Entity)]
        await self.store.writer.apply(a_write(*records, *names), vectors)

    async def told(self, content: str, when: datetime | None = None, **fields: Any) -> Episode:
        """An episode that is stored and not read yet."""
        episode = an_episode(content, valid_at=when or at(2025), **fields)
        await self.keep(episode)
        return episode

    def extractor(self, entity_types: Any = (), edge_types: Any = (), **options: Any) -> GraphitiExtractor:
        settings = Settings(
            llm_model="m", llm_api_key="k", llm_base_url=self.model.url, llm_structured_output="json_schema"
        )
        self._opened.append(llm_client(settings))
        types = read_types(entity_types, edge_types, options.pop("excluded", ()))
        return GraphitiExtractor(self.store, self.embedder, self._opened[-1], types, **options)

    async def close(self) -> None:
        for model in self._opened:
            await model.close()
        if self._looking is not None:
            self._looking.close()

    async def extract(
        self,
        episode: Episode,
        extractor: GraphitiExtractor | None = None,
        ledger: ModelLedger | None = None,
        **task: Any,
    ) -> Extraction:
        asked = ExtractionTask(group_id=episode.group_id, episode_uuid=episode.uuid, **task)
        return await (extractor or self.extractor()).extract(asked, ledger or await a_ledger())

    def asked(self, schema: str) -> list[str]:
        """Whole prompts that asked for an answer in that form."""
        return [request.prompt for request in self.model.requests if request.schema_name == schema]

    def calls(self) -> dict[str, int]:
        return {name: tally.calls for name, tally in self.model.stats.by_schema.items()}

    def graph(self) -> tuple[list[str], int]:
        """Everything in the file, and a number that another one takes with whatever is written by somebody else."""
        self._looking = looking = self._looking or sqlite3.connect(self.store._opened.file._file.path)
        (version,) = looking.execute("PRAGMA data_version").fetchone()
        return list(looking.iterdump()), version


def entities_of(extraction: Extraction) -> dict[str, ExtractedEntity]:
    """By name."""
    return {one.name: one for one in extraction.entities}


def facts_of(extraction: Extraction) -> dict[str, ExtractedFact]:
    """By text."""
    return {one.text: one for one in extraction.facts}
