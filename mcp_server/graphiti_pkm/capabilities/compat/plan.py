"""Plans the write of one call: entities, observations, relations, and the episode of what they say. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from graphiti_pkm.core.facts.observations import OBSERVATION, POSITION, TYPE
from graphiti_pkm.core.facts.parsed_facts import ParsedEntity, relation_words
from graphiti_pkm.core.facts.resolution import Resolution, Resolved
from graphiti_pkm.core.facts.statuses import is_status_relation
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.names import name_key, normalise_name, relation_name
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Name, Passage
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.model.times import show_time

COMPAT = "compat"
"""The ``source_description`` of the episodes that these tools leave."""
RELATION_TYPE = "relation_type"
"""The attribute of a relation that holds its type as it was sent, where it differs from the stored relation."""


@dataclass(frozen=True)
class NewEntity:
    """An entity as it was sent."""

    name: str
    type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation as it was sent."""

    source: str
    target: str
    type: str

    @property
    def stored(self) -> str:
        """The relation as facts have it."""
        return relation_name(self.type)


@dataclass(frozen=True)
class Observed:
    """Sentences about one entity."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Moment:
    """Where and when a call is written."""

    group_id: str
    person: str
    recorded_at: datetime
    zone: tzinfo


@dataclass(frozen=True)
class Held:
    """What the group holds of what a call names."""

    names: Mapping[str, Name]
    entities: Mapping[str, Entity]
    observed: frozenset[tuple[str, str]] = frozenset()
    """Known observations: entity and text."""
    observation_counts: Mapping[str, int] = field(default_factory=dict)
    """How many current observations each entity has."""
    facts: Sequence[Fact] = ()
    """Facts between the ends of the relations, and statuses of their sources."""

    def exactly(self, group_id: str, name: str, person: str) -> Entity | None:
        """The entity of exactly this name, alias or spelling."""
        held = self.names.get(name_key(group_id, ME if is_person(name, person) else name))
        entity = self.entities.get(held.entity_uuid) if held else None
        if held is None or entity is None:
            return None
        spelt = name in {entity.name, held.text, *held.spellings}
        return entity if spelt or is_person(name, person) else None


def is_person(name: str, person: str) -> bool:
    """Whether a name is that of the group's person; other words for oneself may be names of entities here."""
    return normalise_name(name) in {ME, normalise_name(person)}


@dataclass
class Planned:
    """What one call stores."""

    episode: Episode | None = None
    resolved: list[Resolved] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    known_as: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    added: list[Observed] = field(default_factory=list)
    related: list[tuple[Relation, Fact]] = field(default_factory=list)
    """The relations of the call with their facts, new or known."""
    failed: list[tuple[Relation, tuple[str, ...]]] = field(default_factory=list)
    """Relations of which an end is unknown, with its name in the call."""
    not_found: list[str] = field(default_factory=list)
    other_statuses: list[tuple[Fact, Fact]] = field(default_factory=list)
    """A new status and another current one of the same entity, which stays."""

    @property
    def ends(self) -> list[str]:
        """Uuids of all entities that the sentences are about."""
        named = [one.entity.uuid for one in self.resolved]
        return list(
            dict.fromkeys((*named, *(uuid for one in self.facts for uuid in (one.source_uuid, one.target_uuid))))
        )


class Planner:
    """Collects sentences with what they say; ``finished`` makes the episode of them."""

    def __init__(self, at: Moment, held: Held, new_uuid: Callable[[], str]) -> None:
        self._at = at
        self._held = held
        self._new_uuid = new_uuid
        self._resolution = Resolution(at.group_id, at.person, at.recorded_at, held.names, held.entities, new_uuid)
        self._episode_uuid = new_uuid()
        self._lines: list[str] = []
        self._places: dict[str, int] = {}
        self._observed = set(held.observed)
        self._planned = Planned()

    def entities(self, sent: Iterable[NewEntity], *, skip_known: bool) -> None:
        """Add entities; a known name is merged, or skipped."""
        for one in sent:
            name = ME if is_person(one.name, self._at.person) else one.name
            is_known = self._resolution.known(name) is not None
            if is_known and skip_known:
                self._planned.skipped.append(one.name)
                self._tell_spelling(one.name, self._held.entities.get(self._resolution.known(name) or ""))
                continue
            self._resolution.declare([ParsedEntity(name, as_label(one.type), None, ())])
            resolved = self._resolution.resolve(name)
            had_type = is_known and (self._held.entities[resolved.entity.uuid].label is not None)
            if not had_type and TYPE not in resolved.entity.attributes:
                typed = {**resolved.entity.attributes, TYPE: one.type}
                resolved.entity = resolved.entity.model_copy(update={"attributes": typed})
                resolved.is_changed |= not resolved.is_new
            if not is_known:
                self._lines.append(type_line(resolved.entity.name, one.type))
            self._tell_spelling(one.name, resolved.entity)
            self._observe(resolved.entity, one.observations)

    def observations(self, sent: Iterable[Observed]) -> None:
        """Add sentences about known entities."""
        for one in sent:
            entity = self._exactly(one.name)
            if entity is None:
                self._planned.not_found.append(one.name)
            else:
                self._planned.added.append(Observed(one.name, tuple(self._observe(entity, one.texts))))

    def relations(self, sent: Iterable[Relation]) -> None:
        """Add relations between known entities."""
        known = {(one.source_uuid, one.target_uuid, normalise_name(one.relation)): one for one in self._open_facts()}
        for relation in sent:
            source, target = self._exactly(relation.source), self._exactly(relation.target)
            if source is None or target is None:
                ends = (("source", source), ("target", target))
                self._planned.failed.append((relation, tuple(end for end, entity in ends if entity is None)))
                continue
            key = (source.uuid, target.uuid, normalise_name(relation.stored))
            if key not in known:
                known[key] = self._relate(relation, source, target)
            self._planned.related.append((relation, known[key]))

    def finished(self) -> Planned:
        """All of it, with the episode of its sentences, if it says anything new."""
        planned, at = self._planned, self._at
        planned.resolved = self._resolution.all
        if not self._lines:
            return planned
        observed = sum(fact.relation == OBSERVATION for fact in planned.facts)
        kinds = {
            "new entities": sum(one.is_new for one in planned.resolved),
            "observations": observed,
            "relations": len(planned.facts) - observed,
        }
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        planned.episode = Episode(
            uuid=self._episode_uuid,
            group_id=at.group_id,
            name=f"{show_time(at.recorded_at, at.zone)[:10]} {COMPAT}: {counts}",
            content="\n".join(self._lines),
            source_description=COMPAT,
            valid_at=at.recorded_at,
            created_at=at.recorded_at,
        )
        planned.passages = [
            Passage(uuid=self._new_uuid(), episode_uuid=self._episode_uuid, **span) for span in line_spans(self._lines)
        ]
        return planned

    def _exactly(self, name: str) -> Entity | None:
        return self._held.exactly(self._at.group_id, name, self._at.person)

    def _open_facts(self) -> list[Fact]:
        """Relations that a new one may repeat."""
        return [fact for fact in self._held.facts if fact.is_open and fact.kind == "state" and fact.invalid_at is None]

    def _tell_spelling(self, name: str, entity: Entity | None) -> None:
        if entity is not None and name != entity.name:
            self._planned.known_as[name] = entity.name

    def _observe(self, entity: Entity, texts: Iterable[str]) -> list[str]:
        added = []
        for text in texts:
            if (entity.uuid, text) in self._observed:
                continue
            self._observed.add((entity.uuid, text))
            place = self._places.get(entity.uuid, self._held.observation_counts.get(entity.uuid, 0))
            self._places[entity.uuid] = place + 1
            self._say(entity, entity, OBSERVATION, text, f"{entity.name}: ", {POSITION: place})
            added.append(text)
        return added

    def _relate(self, relation: Relation, source: Entity, target: Entity) -> Fact:
        text = relation_line(source.name, relation.type, target.name)
        sent: dict[str, object] = {} if relation.type == relation.stored else {RELATION_TYPE: relation.type}
        fact = self._say(source, target, relation.stored, text, "", sent)
        if is_status_relation(relation.stored):
            others = [one for one in self._open_facts() if one.source_uuid == source.uuid]
            self._planned.other_statuses += [
                (fact, one) for one in others if is_status_relation(one.relation) and one.target_uuid != target.uuid
            ]
        return fact

    def _say(
        self, source: Entity, target: Entity, relation: str, text: str, before: str, attributes: dict[str, object]
    ) -> Fact:
        """A line of the episode, and the fact that quotes it."""
        start = sum(map(len, self._lines)) + len(self._lines) + len(before)
        self._lines.append(f"{before}{text}")
        fact = Fact(
            uuid=self._new_uuid(),
            group_id=self._at.group_id,
            source_uuid=source.uuid,
            target_uuid=target.uuid,
            source_name=source.name,
            target_name=target.name,
            relation=relation,
            text=text,
            quote=text,
            quote_start=start,
            quote_end=start + len(text),
            quote_episode_uuid=self._episode_uuid,
            reference_time=self._at.recorded_at,
            created_at=self._at.recorded_at,
            episodes=(self._episode_uuid,),
            attributes=attributes,
        )
        self._planned.facts.append(fact)
        return fact


def type_line(name: str, kind: str) -> str:
    """What is said of an entity that is new."""
    return f"{name} ({kind})"


def relation_line(source: str, kind: str, target: str) -> str:
    """What a relation says."""
    return f"{source} {relation_words(relation_name(kind))} {target}"


def line_spans(lines: Sequence[str]) -> list[dict[str, int]]:
    """The passages of an episode of lines: each line is one sentence, however many it holds, so that it goes as one."""
    spans, start = [], 0
    for number, line in enumerate(lines):
        spans += [
            {"paragraph": number, "sentence": 0, "start": start + one.start, "end": start + one.end}
            for one in split_passages(line)
        ]
        start += len(line) + 1
    return spans
