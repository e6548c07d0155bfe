"""What the stores hold: records with stored group ids, aware UTC datetimes and whole uuids.

Records are what the graph and the journal exchange with the services. What a caller sees is in ``answers``.
"""

from array import array
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.record import Record as Record  # noqa: PLC0414 all others are its children
from graphiti_pkm.core.model.saga_records import Community, EpisodeLink, Saga, SagaStep

Vector: TypeAlias = "array[float]"
"""A unit-length float32 embedding, typecode ``f``; its length is the model's dimension."""

Vectors: TypeAlias = "dict[str, array[float]]"
"""Embeddings by the uuid of the entity, fact or passage they belong to."""

FactKind = Literal["state", "event", "plan", "reading"]
Change = Literal["changed", "corrected"]
ChangeKind = Literal["added", "retired", "voided", "restored", "dated", "deleted", "proposed", "rejected"]
"""What became of a fact. ``added`` is told by the fact itself and never stored as an event; ``dated``: an unknown start
became known, or that it held earlier."""
EpisodeSource = Literal["text", "message", "json", "fact_triple"]


class Episode(Record):
    """What was said; its content never changes."""

    uuid: str
    group_id: str
    name: str
    content: str
    source: EpisodeSource = "text"
    source_description: str = ""
    valid_at: datetime
    created_at: datetime
    corrected: bool = False
    """True once a fact this episode supported was corrected; kept beside the Graphiti node."""


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
    """Whether a model wrote the summary, so that it may write it anew; what a caller gave stands."""
    created_at: datetime
    attributes: dict[str, object] = Field(default_factory=dict)


class Name(Record):
    """One name or alias of one entity; ``key`` is unique in the database.

    ``key`` is the stored group and the normalised name (``names.name_key``), so that a MERGE on it gives
    one entity however many writers race for it.
    """

    key: str
    group_id: str
    text: str
    """As it was first spelt."""
    spellings: tuple[str, ...] = ()
    """Other spellings that callers gave: a text is compared with each, as capitals and spaces in them count."""
    entity_uuid: str
    is_alias: bool = False
    is_linkable: bool = True
    """False for the group's one person, who is never linked by mention."""


class Fact(Record):
    """A relation between two entities with validity in the world and in the record.

    ``valid_at`` None is an unknown start; ``[valid_at, invalid_at)`` is half-open. ``reference_time`` is the
    time of the episode that told it: the fact is known true from then on. ``voided`` facts were corrected:
    they never held.
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
    """Whatever else stands on the edge, for instance attributes written by Graphiti's own pipeline."""


class FactUpdate(Record):
    """New values of an existing fact; every field is the full new value, so applying twice is harmless.

    A quote is given to a fact that had none, an earlier ``reference_time`` to one that an older note tells as well;
    None, as in updates of older versions, leaves what is there.
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


class FactChange(Record):
    """What became of a fact, as an event: who or what did it, when, why, and what took its place.

    ``previous_…`` are the values just before it, whatever its kind: the record as it was known at an instant is read
    from them, and restoring brings them back. Fields with a default are missing in what older versions wrote.
    """

    uuid: str
    fact_uuid: str
    kind: ChangeKind
    episode_uuid: str | None = None
    """The episode that told it; None when a call about the fact itself did it."""
    replaced_by: str | None = None
    """The fact that took, or would take, its place."""
    recorded_at: datetime
    invalid_at: datetime | None = None
    """The end that a retirement gave, or that a proposal would give."""
    reason: str | None = None
    caller: str | None = None
    """The principal who called; None in what older versions wrote."""
    previous_valid_at: datetime | None = None
    previous_invalid_at: datetime | None = None
    previous_expired_at: datetime | None = None
    previous_voided: bool = False
    previous_told_at: datetime | None = None
    """Its ``reference_time`` before; None leaves it as it is."""


class RecordedChange(FactChange):
    """A change as the graph gives it back."""

    group_id: str


class Deletions(Record):
    """Uuids that a write removes, with whatever of ours hangs on them (names, passages, search texts)."""

    episodes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Stored ids of groups of which nothing stays, whoever wrote it."""
    sagas: tuple[str, ...] = ()


class EpisodeText(Record):
    """What is left of an episode's texts when parts of it were forgotten."""

    uuid: str
    name: str
    content: str
    source_description: str = ""


class RemainingNames(Record):
    """All names that an entity keeps when one of them is forgotten: those that stay, never the one that goes."""

    entity_uuid: str
    names: tuple[Name, ...] = ()


class Forgetting(Record):
    """What a write takes out of the graph and out of every earlier write in the journal.

    It holds uuids and the texts that stay, never the words that go. Entities and facts that stay with other words are
    records of the same write, as are passages that moved.
    """

    episodes: tuple[EpisodeText, ...] = ()
    facts: tuple[str, ...] = ()
    """Facts that go with all that became of them; ``Deletions.facts`` leaves that in the record, without words."""
    passages: tuple[str, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    """Episode and entity."""
    reasons: tuple[str, ...] = ()
    """Changes whose reason goes."""
    names: tuple[RemainingNames, ...] = ()
    answers: tuple[str, ...] = ()
    """Earlier writes of which the answer goes, though what they wrote stays."""
    saved_graphs: tuple[str, ...] = ()
    """Saved scratch graphs that go as a whole."""
    members: tuple[str, ...] = ()
    """Entities whose communities go: a model wrote what they say from the summaries of all members."""


class EmbeddedFact(Record):
    """A fact that gets a vector, with what decides whether a later forgetting takes it."""

    uuid: str
    source_uuid: str
    target_uuid: str
    episodes: tuple[str, ...] = ()


class NewVectors(Record):
    """Records, told by earlier writes, that had no vector and get one; the vectors travel beside, as all do."""

    entities: tuple[str, ...] = ()
    facts: tuple[EmbeddedFact, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()
    """Episode and passage."""

    @property
    def uuids(self) -> tuple[str, ...]:
        """Of all of them."""
        return (*self.entities, *(fact.uuid for fact in self.facts), *(uuid for _, uuid in self.passages))


class BackLinkJob(Record):
    """Link an entity to the earlier episodes that name it; ``after`` is where the last batch stopped."""

    kind: Literal["back_link"] = "back_link"
    entity_uuid: str
    names: tuple[str, ...]
    before: datetime
    """Only episodes recorded before this instant: later ones are linked when they are written."""
    after: str | None = None
    """Uuid of the last episode examined, in uuid order; None at the start."""


class EmbedPassagesJob(Record):
    """Embed the passages of a very long episode that were stored without a vector."""

    kind: Literal["embed_passages"] = "embed_passages"
    episode_uuid: str


class EmbedMissingJob(Record):
    """Embed whatever of the group was stored without a vector; another one that waits already does the same."""

    kind: Literal["embed_missing"] = "embed_missing"


class EraseJob(Record):
    """Make the files of the data directory anew, without what a write has forgotten."""

    kind: Literal["erase"] = "erase"


Job: TypeAlias = Annotated[BackLinkJob | EmbedPassagesJob | EmbedMissingJob | EraseJob, Field(discriminator="kind")]


ExtractTask = Literal["episode", "saga", "communities"]


class ExtractJob(Record):
    """Let a model read an episode, a saga or a group's entities; its result is a write with the uuid of this job."""

    uuid: str
    task: ExtractTask = "episode"
    episode_uuid: str
    """Of the saga, or what stands for the group's communities, if it reads those: by it the job is found."""
    excluded_entity_types: tuple[str, ...] = ()
    instructions: str = ""
    previous_episode_uuids: tuple[str, ...] | None = None
    update_communities: bool = False
    person: str | None = None
    """As the one who told it is known, if that is a name; the local one goes by the setting."""


class WriteKind(StrEnum):
    """What a journal row was for."""

    ADD_MEMORY = "add_memory"
    DELETE_EPISODE = "delete_episode"
    DELETE_FACT = "delete_fact"
    RETIRE_FACT = "retire_fact"
    RESTORE_FACT = "restore_fact"
    CLEAR_GROUP = "clear_group"
    FORGET = "forget"
    EXTRACT = "extract"
    SUMMARIZE_SAGA = "summarize_saga"
    BUILD_COMMUNITIES = "build_communities"
    JOB = "job"


class WriteIntent(Record):
    """The whole meaning of one write, decided before anything is stored.

    Applying it twice gives the same graph: every record carries its uuid and full new values. Order inside a
    write: episodes, entities, names, facts, fact updates, mentions, passages, new vectors, sagas with their steps and
    links, communities, changes, deletions.
    ``vectors`` travel beside it (``Vectors``), keyed by uuid, so that a replay needs no model.
    """

    uuid: str
    group_id: str
    kind: WriteKind
    recorded_at: datetime
    episodes: tuple[Episode, ...] = ()
    entities: tuple[Entity, ...] = ()
    """Created, or given a new summary or label: full new values."""
    names: tuple[Name, ...] = ()
    facts: tuple[Fact, ...] = ()
    fact_updates: tuple[FactUpdate, ...] = ()
    mentions: tuple[Mention, ...] = ()
    passages: tuple[Passage, ...] = ()
    sagas: tuple[Saga, ...] = ()
    saga_steps: tuple[SagaStep, ...] = ()
    episode_links: tuple[EpisodeLink, ...] = ()
    communities: tuple[Community, ...] | None = None
    """All that the group has from now on; None leaves them as they are."""
    changes: tuple[FactChange, ...] = ()
    corrected_episodes: tuple[str, ...] = ()
    uncorrected_episodes: tuple[str, ...] = ()
    """No longer marked: the last fact of theirs that had been corrected was restored."""
    deletions: Deletions = Deletions()
    new_vectors: NewVectors | None = None
    forgets: Forgetting | None = None
    """Given: journalling it takes the same out of the group's earlier rows, in one transaction."""
    jobs: tuple[Job, ...] = ()
    """Journalled with the write and enqueued in the same commit."""
    extractions: tuple[ExtractJob, ...] = ()
    """Likewise, for the queue of a model that reads episodes (``domain.extraction``)."""
    steering: dict[str, object] = Field(default_factory=dict)
    """Parameters that steer a model, kept for a later extraction; unused without one."""
