"""Records of the stores: with stored group ids, aware UTC datetimes and full uuids.

Graph and journal exchange records with the services. What callers see is defined in ``answers``.
"""

from array import array
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.change_kinds import REVIEW_CHANGES, ChangeKind
from graphiti_pkm.core.model.document_records import Document, DocumentTexts, Instance, Section
from graphiti_pkm.core.model.job_records import ExtractJob, Job
from graphiti_pkm.core.model.merges import Moved
from graphiti_pkm.core.model.name_records import Name as Name  # noqa: PLC0414 all records are found here
from graphiti_pkm.core.model.name_records import Names
from graphiti_pkm.core.model.record import Record as Record  # noqa: PLC0414 all others are its children
from graphiti_pkm.core.model.saga_records import Community, EpisodeLink, Saga, SagaStep

Vector: TypeAlias = "array[float]"
"""A unit-length float32 embedding, typecode ``f``; its length is the model's dimension."""

Vectors: TypeAlias = "dict[str, array[float]]"
"""Embeddings by the uuid of the entity, fact or passage they belong to."""

FactKind = Literal["state", "event", "plan", "reading"]
Change = Literal["changed", "corrected"]
EpisodeSource = Literal["text", "message", "json", "fact_triple"]


SourceType = Literal["document", "conversation", "inference"]


class Origin(Record):
    """Who made a write, as the transport knows it; never what a caller says of itself."""

    created_by: str
    """The principal."""
    token: str | None = None
    """The id of the token; None: the local user without one."""
    source_type: SourceType = "conversation"
    """A document that was ingested, what a caller said, or what a model or a scratch graph derived from it."""


class Episode(Record):
    """A recorded text; its content never changes."""

    uuid: str
    group_id: str
    name: str
    content: str
    source: EpisodeSource = "text"
    source_description: str = ""
    valid_at: datetime
    created_at: datetime
    corrected: bool = False
    """True once a fact that this episode supported was corrected; stored beside the Graphiti node."""
    confidential: bool = False
    """Not public, as the caller said; stored likewise."""

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """Sort key of lists, as ``Place.order``."""
        return self.valid_at, self.created_at, self.uuid


class Entity(Record):
    """A person, place, project or thing.

    ``label`` is its type beside Graphiti's ``Entity``: a word of at most 64 ASCII letters, digits and ``_`` that
    starts with a letter; the graph refuses others.
    """

    uuid: str
    group_id: str
    name: str
    label: str | None = None
    summary: str = ""
    summary_by_model: bool = False
    """Whether a model wrote the summary, so that it may be generated again; a caller's summary is kept."""
    created_at: datetime
    attributes: dict[str, object] = Field(default_factory=dict)


CONFIDENTIAL = "confidential"
"""The attribute of a fact that is not public. It is set when a note says so, and stays whatever becomes of the note."""
STATUS_WORD = "word"
"""The attribute of a fact in which earlier versions kept the user's word for a status; its value was one of six."""


HAS_GOAL = "HAS_GOAL"
"""The relation to something that is wanted; the value of such a state is the deadline as it was told."""
DUE = "due"
"""The attribute of a goal that holds the first instant of its deadline, in seconds since 1970."""
GOAL_OUTCOME = "goal_outcome"
"""The attribute of an ended goal or plan of which a note or a reason says what became of it."""

PlanOutcome = Literal["fulfilled", "dropped", "replaced"]
Outcome = Literal[PlanOutcome, "reached"]
"""What became of a plan or a goal."""
BECAUSE_OF = "because_of"
"""The attribute of a fact that holds the uuid of the entity or fact that it follows from."""


class Fact(Record):
    """A relation between two entities with validity in the world and in the record.

    ``valid_at`` None is an unknown start; ``[valid_at, invalid_at)`` is half-open. ``reference_time`` is the time of
    the episode that recorded it: from then on the fact is known to be true. ``voided`` facts were corrected: they never
    held.
    """

    uuid: str
    group_id: str
    source_uuid: str
    target_uuid: str
    source_name: str = ""
    target_name: str = ""
    relation: str
    text: str
    kind: FactKind = "state"
    measure: str | None = None
    value: str | None = None
    unit: str | None = None
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    quote_episode_uuid: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    reference_time: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    voided: bool = False
    episodes: tuple[str, ...] = ()
    attributes: dict[str, object] = Field(default_factory=dict)
    """Other properties of the edge, for instance attributes written by Graphiti's own pipeline."""
    cause: str = Field(default="", exclude=True)
    """What ``BECAUSE_OF`` names now: a name or a sentence, read with the fact and never stored with it."""
    is_cause_confidential: bool = Field(default=False, exclude=True)
    """Whether the cause is a fact that is not public, read with it."""
    outcome: PlanOutcome | None = Field(default=None, exclude=True)
    """Of a plan that has ended, read with it: what became of it by what took its place."""

    @property
    def is_open(self) -> bool:
        """Neither corrected nor retired in the record."""
        return not self.voided and self.expired_at is None

    @property
    def cause_uuid(self) -> str | None:
        """The entity or fact that it follows from, also if that is gone."""
        uuid = self.attributes.get(BECAUSE_OF)
        return uuid if isinstance(uuid, str) else None


class FactUpdate(Record):
    """New values of an existing fact; each field is the full new value, so applying twice changes nothing.

    A quote is set on a fact that had none, an earlier ``reference_time`` if an older episode records it too; None, as
    in updates of older versions, leaves the value unchanged. ``attributes`` holds those that change: None removes one.
    """

    uuid: str
    episodes: tuple[str, ...]
    valid_at: datetime | None
    invalid_at: datetime | None
    expired_at: datetime | None
    voided: bool = False
    reference_time: datetime | None = None
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    quote_episode_uuid: str | None = None
    attributes: dict[str, object] = Field(default_factory=dict)


EntryType = Literal["journal", "code_comment", "meeting", "task"]


class Project(Record):
    """What an entity of type Project has besides: its name, description and status are those of the entity."""

    uuid: str
    """The entity's."""
    group_id: str
    metadata: str = "{}"
    """A JSON object, as the caller gave it."""
    pins: tuple[str, ...] = ()
    """Entities that a caller said to matter to it."""
    created_at: datetime


class Entry(Record):
    """What an episode that was written into a project, or as a text of some type, has besides."""

    uuid: str
    """The episode's."""
    group_id: str
    type: EntryType = "journal"
    project_uuid: str | None = None
    metadata: str = "{}"
    """A JSON object, as the caller gave it."""
    links_names: bool = True
    """Whether names in its text are linked to entities, also to those that become known later."""


class Quality(Record):
    """What librarians say of an entity: whether somebody should look at it, how sure it is, how far up it belongs."""

    uuid: str
    """The entity's."""
    group_id: str
    flag_reason: str | None = None
    flagged_at: datetime | None = None
    """None: it is not flagged."""
    flagged_by: str | None = None
    """The principal; as ``cleared_by`` and ``confidence_by``."""
    similar_to: tuple[str, ...] = ()
    """Entities that it may be the same as, of a flag for that reason."""
    note: str | None = None
    """What was said when the last flag was cleared."""
    cleared_at: datetime | None = None
    cleared_by: str | None = None
    confidence: float | None = None
    """From 0 to 1; None: nobody has said."""
    confidence_reason: str | None = None
    confidence_at: datetime | None = None
    confidence_by: str | None = None
    bias: float | None = None
    """From -1 to 1, what a curator adds to its fitness; None: nobody has set one."""
    bias_reason: str | None = None
    bias_at: datetime | None = None
    bias_by: str | None = None
    checks: tuple[str, ...] = ()
    """Names of checks that flagged it: once a person cleared such a flag, the check does not set it again."""
    found_with: tuple[str, ...] = ()
    """Entities with which a check took it for a duplicate, and plans for which one flagged it; likewise."""
    approved_at: datetime | None = None
    """When checks of a staging group found nothing to say against it; None: they did not, or it was flagged since."""

    @property
    def is_flagged(self) -> bool:
        return self.flagged_at is not None


QUALITY_TEXTS = ("flag_reason", "note", "confidence_reason", "bias_reason")
"""The fields of ``Quality`` that hold words of a caller."""


class Mention(Record):
    """Episode mentions entity (Graphiti's MENTIONS); at most one edge a pair."""

    uuid: str
    episode_uuid: str
    entity_uuid: str
    created_at: datetime


class Passage(Record):
    """A sentence of an episode: half-open code-point offsets into its content."""

    uuid: str
    episode_uuid: str
    paragraph: int
    sentence: int
    start: int
    end: int


def in_order(uuid: str, other: str) -> tuple[str, str]:
    """A pair of entities as it is kept."""
    return (uuid, other) if uuid < other else (other, uuid)


class EntityState(Record):
    """An entity before or after an update: name, type and summary, and whatever else the update concerns."""

    name: str
    label: str | None = None
    summary: str = ""
    summary_by_model: bool = False
    names: Names = ()
    """Of the names that differ in the other state, those that it has in this one."""
    not_same_as: tuple[str, ...] = ()
    """Of the entities concerned, those that a caller said to be others."""
    linked: tuple[str, ...] = ()
    """Of the episodes concerned, those that mention it."""
    unlinked: tuple[str, ...] = ()
    """Of the episodes concerned, those that never mention it, whatever their text says."""

    def apart(self, uuid: str) -> tuple[tuple[str, str], ...]:
        """Pairs that are kept apart: two entities in the order of their uuids, or an episode and the entity."""
        entities = (in_order(uuid, other) for other in self.not_same_as)
        return (*entities, *((episode, uuid) for episode in self.unlinked))


class FactChange(Record):
    """A change of a fact, as an event: who did it, when, why, and what replaced the fact.

    An event with ``entity_before`` and ``entity_after`` is one of the entity that ``fact_uuid`` then names; applying it
    gives the entity the names, mentions and differences of ``entity_after``.

    ``previous_…`` are the values just before it, whatever its kind: the record as known at an instant is derived from
    them, and restoring brings them back. Fields with a default are missing in what older versions wrote.
    """

    uuid: str
    fact_uuid: str
    kind: ChangeKind
    episode_uuid: str | None = None
    """The episode that caused it; None if a call about the fact itself did."""
    replaced_by: str | None = None
    """The fact that replaced it, or would replace it."""
    recorded_at: datetime
    invalid_at: datetime | None = None
    """The end set by a retirement, or suggested by a proposal."""
    reason: str | None = None
    caller: str | None = None
    """The principal of the call; missing in what older versions wrote."""
    previous_valid_at: datetime | None = None
    previous_invalid_at: datetime | None = None
    previous_expired_at: datetime | None = None
    previous_voided: bool = False
    previous_told_at: datetime | None = None
    """The previous ``reference_time``; None leaves it unchanged."""
    previous_start_words: str | None = None
    previous_end_words: str | None = None
    """In which words the dates were told, "" if in none; None leaves them unchanged."""
    entity_before: EntityState | None = None
    entity_after: EntityState | None = None

    @property
    def is_of_entity(self) -> bool:
        """Whether ``fact_uuid`` names an entity that is still there, whose changes include this one."""
        return self.entity_after is not None or self.kind in ("migrated", *REVIEW_CHANGES)


class RecordedChange(FactChange):
    """A change as the graph returns it."""

    group_id: str


class Archive(Record):
    """What a part of a merge takes out of the graph or changes, as it was; undoing writes it again.

    Counters of the removed entity belong here as well, and their sum to the entity that stays.
    """

    entities: tuple[Entity, ...] = ()
    projects: tuple[Project, ...] = ()
    qualities: tuple[Quality, ...] = ()
    names: Names = ()
    facts: tuple[Fact, ...] = ()
    mentions: tuple[Mention, ...] = ()


class Merge(Record):
    """One bounded part of a merge, or of its undoing.

    The first part gives the names and the words of the removed entity to the one that stays, every part moves records,
    and the last takes the removed entity out: from then on its uuid means the one that stays.
    """

    uuid: str
    """Of the merge, the same in all its parts."""
    place: int
    kept_uuid: str
    removed_uuid: str
    is_last: bool
    moved: Moved = Moved()
    facts: tuple[str, ...] = ()
    """Facts that go: those of the pair, and those that the kept entity has as well."""
    mentions: tuple[str, ...] = ()
    """Episodes that mention both, or never the one that stays."""
    apart: tuple[tuple[str, str], ...] = ()
    """Pairs with the removed entity that are kept apart (``EntityState.apart``)."""
    former: tuple[str, ...] = ()
    """Uuids of entities that were merged into the removed one before."""
    archive: Archive = Archive()
    undoes: bool = False
    """Whether this undoes the part; then there is no archive."""


class Deletions(Record):
    """Uuids that a write removes, with everything of ours linked to them (names, passages, search texts)."""

    episodes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Stored ids of groups that are removed completely, whoever wrote them."""
    sagas: tuple[str, ...] = ()


class EpisodeText(Record):
    """The remaining texts of an episode after parts were forgotten."""

    uuid: str
    name: str
    content: str
    source_description: str = ""


class RemainingNames(Record):
    """All names that an entity keeps when one of them is forgotten, without the forgotten one."""

    entity_uuid: str
    names: Names = ()


class Forgetting(Record):
    """What a write removes from the graph and from every earlier write in the journal.

    It contains uuids and the remaining texts, never the removed words. Entities, facts and passages that change are
    records of the same write.
    """

    episodes: tuple[EpisodeText, ...] = ()
    facts: tuple[str, ...] = ()
    """Facts removed with all their changes; ``Deletions.facts`` keeps the changes in the record, without words."""
    passages: tuple[str, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    """Episode and entity."""
    reasons: tuple[str, ...] = ()
    """Changes whose reason is removed."""
    names: tuple[RemainingNames, ...] = ()
    answers: tuple[str, ...] = ()
    """Earlier writes whose answer is removed, although what they wrote stays."""
    saved_graphs: tuple[str, ...] = ()
    """Saved scratch graphs that are removed completely."""
    members: tuple[str, ...] = ()
    """Entities whose communities are removed, because a model wrote their texts from all members' summaries."""
    metadata: tuple[str, ...] = ()
    """Projects and entries whose metadata is removed."""
    qualities: tuple[str, ...] = ()
    """Entities of whose quality only the numbers and times stay, without reasons and notes."""
    documents: tuple[DocumentTexts, ...] = ()
    """Documents that lose words, or a section."""


class EmbeddedFact(Record):
    """A fact that gets a vector, with what decides whether a later forgetting removes it."""

    uuid: str
    source_uuid: str
    target_uuid: str
    episodes: tuple[str, ...] = ()


class NewVectors(Record):
    """Records of earlier writes that had no vector and get one; as always, vectors are passed separately."""

    entities: tuple[str, ...] = ()
    facts: tuple[EmbeddedFact, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()
    """Episode and passage."""

    @property
    def uuids(self) -> tuple[str, ...]:
        """The uuids of all of them."""
        return (*self.entities, *(fact.uuid for fact in self.facts), *(uuid for _, uuid in self.passages))


class WriteKind(StrEnum):
    """The purpose of a journal row."""

    ADD_MEMORY = "add_memory"
    DELETE_EPISODE = "delete_episode"
    DELETE_FACT = "delete_fact"
    RETIRE_FACT = "retire_fact"
    RESTORE_FACT = "restore_fact"
    UPDATE_ENTITY = "update_entity"
    UPDATE_PROJECT = "update_project"
    CURATE = "curate"
    MERGE = "merge"
    UNMERGE = "unmerge"
    SPLIT = "split"
    """What it has was another entity's before: facts, mentions and quotes, whole, as they are from then on."""
    INGEST = "ingest"
    ADD_EVIDENCE = "add_evidence"
    CLEAR_GROUP = "clear_group"
    FORGET = "forget"
    EXTRACT = "extract"
    RESTORE_SNAPSHOT = "restore_snapshot"
    MIGRATE = "migrate"
    SUMMARIZE_SAGA = "summarize_saga"
    BUILD_COMMUNITIES = "build_communities"
    JOB = "job"


ADDING = frozenset({WriteKind.ADD_MEMORY, WriteKind.INGEST, WriteKind.MIGRATE})
"""Kinds of writes whose episodes have receipts in the journal."""
FORGETTING = frozenset({WriteKind.FORGET, WriteKind.DELETE_EPISODE})
"""Kinds of writes whose records no way back brings again."""


class RestoreStep(Record):
    """The begin or the end of the writes by which a group gets the state of a snapshot.

    Its tag is not kept: that is a word of the user's, which ``forget`` would have to find here.
    """

    checksum: str
    is_end: bool = False


class Copied(Record):
    """A record that came from another group, or is the same as one there."""

    uuid: str
    """Here."""
    origin_uuid: str
    """There."""


class WriteIntent(Record):
    """Everything that one write does, decided before anything is stored.

    Applying it twice gives the same graph: every record carries its uuid and full new values. Order inside a
    write: episodes, entities, projects, entries, qualities, names, facts, fact updates, mentions, passages, documents
    with their sections, instances, new vectors, sagas with their steps and links, communities, changes, deletions.
    ``vectors`` travel beside it (``Vectors``), keyed by uuid, so that a replay needs no model.
    """

    uuid: str
    group_id: str
    kind: WriteKind
    recorded_at: datetime
    arrived_at: datetime | None = None
    """When a write came into this group that a snapshot brought back; None: when it was recorded."""
    restores: RestoreStep | None = None
    """Of the writes around those that a snapshot brings back: the first clears the group, the last only ends it."""
    copies: tuple[Copied, ...] = ()
    """Of a migration: what became of the records of the other group. It is kept in the journal alone."""
    origin: Origin | None = None
    """Of the records that it makes; None in writes of older versions and in those that make none."""
    episodes: tuple[Episode, ...] = ()
    entities: tuple[Entity, ...] = ()
    """Entities created, or with a new summary or label: full new values."""
    projects: tuple[Project, ...] = ()
    """Projects created or changed: full new values."""
    entries: tuple[Entry, ...] = ()
    qualities: tuple[Quality, ...] = ()
    """What is said of entities, full new values."""
    names: Names = ()
    facts: tuple[Fact, ...] = ()
    fact_updates: tuple[FactUpdate, ...] = ()
    mentions: tuple[Mention, ...] = ()
    passages: tuple[Passage, ...] = ()
    documents: tuple[Document, ...] = ()
    """Documents ingested, or found under another path: full new values."""
    sections: tuple[Section, ...] = ()
    instances: tuple[Instance, ...] = ()
    sagas: tuple[Saga, ...] = ()
    saga_steps: tuple[SagaStep, ...] = ()
    episode_links: tuple[EpisodeLink, ...] = ()
    communities: tuple[Community, ...] | None = None
    """All communities of the group from now on; None leaves them unchanged."""
    changes: tuple[FactChange, ...] = ()
    corrected_episodes: tuple[str, ...] = ()
    uncorrected_episodes: tuple[str, ...] = ()
    """Episodes no longer marked as corrected: their last corrected fact was restored."""
    deletions: Deletions = Deletions()
    new_vectors: NewVectors | None = None
    merge: Merge | None = None
    former: tuple[tuple[str, str], ...] = ()
    """Of a write that forgets or deletes: uuids of entities that were merged into those it concerns, each with the uuid
    that they have now. What it takes from these in earlier writes, it takes from those too."""
    forgets: Forgetting | None = None
    """If given, journalling the write removes the same from earlier rows of the group, in one transaction."""
    jobs: tuple[Job, ...] = ()
    """Jobs journalled with the write and enqueued in the same commit."""
    extractions: tuple[ExtractJob, ...] = ()
    """Jobs for the queue of a model that reads episodes (``core.ports.extraction``), enqueued likewise."""
    steering: dict[str, object] = Field(default_factory=dict)
    """Parameters for a model, kept for a later extraction; unused without a model."""

    @property
    def came_at(self) -> datetime:
        """When it came into its group; never decreases from one write of a group to the next."""
        return self.arrived_at or self.recorded_at
