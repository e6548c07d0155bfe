"""A memory into which a model's findings are written, and a short way to say what it found."""

from datetime import datetime
from typing import Any

from tests.builders import new_uuid
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.extraction.writing import ExtractionWriting, FoundInEpisode
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Entity, Fact, WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import ExtractedEnding, ExtractedEntity, ExtractedFact, Extraction
from graphiti_pkm.storage.commit import Committer

MODEL = "scripted-1"


class Findings:
    """What a model found, entity by entity and fact by fact."""

    def __init__(self) -> None:
        self._entities: dict[str, ExtractedEntity] = {}
        self._facts: list[ExtractedFact] = []
        self._endings: list[ExtractedEnding] = []
        self.left_out = 0

    def entity(self, name: str, known: Entity | None = None, **fields: Any) -> str:
        """An entity as the model spells it; ``known``: the one that it was recognised as."""
        uuid = known.uuid if known else new_uuid()
        shown = {"summary_before": known.summary} if known else {}
        values = {"uuid": uuid, "name": name, "is_known": known is not None, **shown, **fields}
        self._entities[uuid] = ExtractedEntity(**values)
        return uuid

    def fact(self, source: str, relation: str, target: str, text: str, **fields: Any) -> str:
        """A fact between entities, by their names, which are new unless ``entity`` said otherwise."""
        values = {
            "uuid": new_uuid(),
            "source_uuid": self._named(source),
            "target_uuid": self._named(target),
            "relation": relation,
            "text": text,
            "is_known": False,
            **fields,
        }
        fact = ExtractedFact(**values)
        self._facts.append(fact)
        return fact.uuid

    def known_fact(self, fact: Fact, **fields: Any) -> str:
        """A fact of the graph, told again."""
        return self.fact(
            fact.source_name, fact.relation, fact.target_name, fact.text, uuid=fact.uuid, is_known=True, **fields
        )

    def ending(self, old: Fact, by: str, at: datetime) -> None:
        """A fact of the graph that the model takes to be contradicted by one it found."""
        self.ending_of(old.uuid, by, at)

    def ending_of(self, old_uuid: str, by: str, at: datetime) -> None:
        """Likewise, of a fact by its uuid here or there."""
        self._endings.append(ExtractedEnding(fact_uuid=old_uuid, by_uuid=by, invalid_at=at))

    @property
    def extraction(self) -> Extraction:
        return Extraction(
            entities=tuple(self._entities.values()),
            facts=tuple(self._facts),
            endings=tuple(self._endings),
            left_out=self.left_out,
        )

    def _named(self, name: str) -> str:
        found = [one.uuid for one in self._entities.values() if one.name == name]
        return found[0] if found else self.entity(name)


class ExtractionWorld(WritingWorld):
    """One server over fakes; ``found`` writes what a model found in a stored episode."""

    def __init__(self, now: datetime | None = None, **settings: Any) -> None:
        super().__init__(now, **settings)
        groups = Groups(self.graph, self.context.settings)
        self.extractions = ExtractionWriting(self.context, groups, Committer(self.context))

    async def found(
        self, episode_uuid: str, findings: Findings, former: ExtractionAnswer | None = None, **job: Any
    ) -> ExtractionAnswer:
        """Store what was found, whatever else is written at the same time."""
        episode = await self.extractions.episode(self.group, episode_uuid)
        assert episode is not None
        extract = ExtractJob(**{"uuid": new_uuid(), "episode_uuid": episode_uuid, **job})
        given = FoundInEpisode(extract, episode, findings.extraction, MODEL, former)
        answer = await self.extractions.store(given, _yes)
        assert answer is not None
        return answer

    async def note(self, body: str = "A note.", *facts: dict[str, Any], **fields: Any) -> str:
        """One add_memory; returns its episode's uuid."""
        return (await self.tell(body, *facts, **fields)).episode_uuid

    @property
    def extracted(self) -> list[WriteIntent]:
        """The writes of extractions."""
        return [row.intent for row in self.journal.table.values() if row.intent.kind is WriteKind.EXTRACT]


async def _yes() -> bool:
    return True
