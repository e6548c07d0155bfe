"""What a caller sees: public group names, ISO-8601 datetimes with offset, never an embedding.

Every list answer carries ``total``, ``returned``, ``truncated``, ``next_cursor`` and the ``scope`` searched.
Field order is reading order: the text form prints it compactly, without nulls.
"""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

TextForm = Literal["lean", "plain", "indented"]
"""How an answer is written as text: shortened for models, as its structured content, or that with indentation."""


class Answer(BaseModel):
    """Base of all answers: closed and immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # start-up pays for what is offered only

    must_not_be_cut: ClassVar[bool] = False
    """Whether the text form must hold everything, however long: part of a file is useless."""
    text_form: ClassVar[TextForm] = "lean"
    """All but "lean" is for callers that expect the answers of another server."""


class Scope(Answer):
    """Which groups were searched and, on an empty answer, what they hold."""

    group_ids: list[str]
    holds: dict[str, str] | None = None
    """Group name to e.g. "412 episodes, 90 entities, 133 facts"; only on an empty answer."""
    other_groups: list[str] | None = None
    """On an empty answer: other groups of the caller that hold something (at most 10)."""
    note: str | None = None
    """E.g. that search ran on full text alone."""


class FactView(Answer):
    """One fact, in upstream's format plus names, direction and kind."""

    uuid: str
    group_id: str
    fact: str
    name: str
    """The relation."""
    source_node_uuid: str
    source_node_name: str
    target_node_uuid: str
    target_node_name: str
    direction: Literal["out", "in"] | None = None
    status: Literal["current", "possible", "ended", "voided", "planned", "event", "reading", "future"]
    """What it is at the moment asked about; ``possible``: as_of lies before its first knowledge."""
    outcome: Literal["fulfilled", "dropped", "replaced", "reached"] | None = None
    """Of an ended plan or goal."""
    past: bool | None = None  # of an open plan or goal: its day is over
    proposed_end: bool | None = None
    """A model proposed that it ends: retire_fact accepts that, restore_fact rejects it. Only with status="open"."""
    confidential: bool | None = None  # it is not public
    kind: str = "state"
    measure: str | None = None
    value: str | None = None
    unit: str | None = None
    quote: str | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    told_start: str | None = None
    """The start as it was told, if less precisely than a day: "autumn 2026"; in the text form it is valid_at."""
    told_end: str | None = None
    replaced_by: str | None = None
    """Uuid of the fact that took its place when it ended."""
    replacement: str | None = None
    """That fact with its dates, unless it is listed in the same answer."""
    replacement_quote: str | None = None
    """The words behind that fact."""
    because_of: str | None = None
    """What it follows from: the name of an entity, or the sentence of a fact."""
    because_of_uuid: str | None = None
    reference_time: str | None = None
    created_at: str
    expired_at: str | None = None
    episodes: list[str] = Field(default_factory=list)
    episodes_total: int | None = None
    """Only if more episodes support it than are listed."""
    attributes: dict[str, object] = Field(default_factory=dict)
    score: float | None = None
    why: dict[str, float] | None = None
    """What adds up to the score; not in the text form."""


class NeighbourView(Answer):
    """Facts shared with one neighbour."""

    uuid: str
    name: str
    facts: int


class NearbyEpisode(Answer):
    """The episode before or after a hit, with the beginning of its content."""

    uuid: str
    valid_at: str
    content: str
    confidential: bool | None = None


class EpisodeView(Answer):
    """One episode; ``content_truncated`` says that more text can be read on with get_episodes."""

    uuid: str
    group_id: str
    name: str
    content: str | None = None
    content_truncated: bool | None = None
    content_chars: int | None = None
    """Length of the whole content; only when truncated."""
    match: str | None = None
    """The sentence that fits a search best, verbatim."""
    match_at: list[int] | None = None
    """Where in the whole content it begins and ends, in characters."""
    previous: NearbyEpisode | None = None
    """The one before in the same saga, or from a day before on; only on request."""
    next: NearbyEpisode | None = None
    valid_at: str | None = None
    created_at: str | None = None
    source: str | None = None
    source_description: str | None = None
    told_by: str | None = None
    """Who told it, in a shared memory."""
    confidential: bool | None = None
    """It is not public."""
    corrected: bool | None = None
    superseded: bool | None = None
    """True: it is a section of a document that the present version no longer has."""
    corrected_facts: list[str] | None = None
    """What was wrong in it: at most three of its facts that were corrected."""
    score: float | None = None
    why: dict[str, float] | None = None
    """What adds up to the score; not in the text form."""


class NodeView(Answer):
    """One entity with its newest current facts."""

    uuid: str
    name: str
    labels: list[str]
    created_at: str
    summary: str
    past_summary: str | None = None
    """The summary, if what it says has ended."""
    group_id: str
    aliases: list[str] | None = None
    attributes: dict[str, object] = Field(default_factory=dict)
    facts: list[str] | None = None
    """Its three newest current facts as sentences with dates, then two open plans; of a measure its newest readings."""
    ended_facts: int | None = None
    """How many of its facts have ended (20: or more), if none is current."""
    flagged: str | None = None
    """Why somebody should review it; in search_nodes, for librarians."""
    score: float | None = None
    boosted_score: float | None = None
    """The score by which it is ranked, if fitness boosts it."""
    query_count: int | None = None
    """How many searches returned it, likewise."""
    why: dict[str, float] | None = None
    """What adds up to the score; not in the text form."""


class Page(Answer):
    """What every list answer has."""

    message: str
    total: int | None  # none where nobody knows: a query ranks whatever is near in meaning
    returned: int
    truncated: bool
    next_cursor: str | None = None
    weaker: int | None = None
    """How many hits with clearly lower scores follow on the next pages of a ranked list."""
    now: str | None = None
    """The day of page one, in the configured zone: what status and past count from, unless a time was asked for."""
    scope: Scope


class NodeSearchResponse(Page):
    nodes: list[NodeView]
    ambiguous: dict[str, list[str]] | None = None
    """Those of ``names`` that several people have as a name or first name, with what tells them apart."""
    roles: dict[str, list[str]] | None = None
    """Those of ``names`` that are a role towards the user ("my coach"): who holds it now, and who did before."""
    not_found: list[str] | None = None
    """Those of ``names`` that fit no entity."""
    similar: dict[str, list[str]] | None = None
    """Of those, entities that have it as a part of a name, or are spelt alike."""


class SeriesView(Answer):
    """Readings of one source, measure and unit, over all of them, not over the page; values as told, with dates.

    All times are one unit. Readings of a series in other units, or without one, are beside it.
    """

    source: str
    measure: str
    unit: str | None = None
    """Of the means."""
    readings: int
    first: str
    last: str
    least: str | None = None
    most: str | None = None
    mean: dict[str, float] | None = None
    """By month, oldest first."""
    without_number: int | None = None


class FactSearchResponse(Page):
    as_of: str | None = None
    """What status and past count from, if it was asked for; else known_at, else now."""
    known_at: str | None = None
    series: list[SeriesView] | None = None
    """Of a list of readings, on page one: at most five."""
    facts: list[FactView]


class KnownEntityView(Answer):
    """An entity as the record knew it at ``known_at``, if it was updated since."""

    name: str
    type: str | None = None
    summary: str


class FollowingView(Answer):
    """Current facts and open plans that follow from an entity (because_of)."""

    total: int
    facts: list[str]
    """Five at most, as sentences with dates."""


class ConnectionsResponse(FactSearchResponse):
    entity: str | None = None
    """Name of the asked entity; None if there is no such entity."""
    known_as: KnownEntityView | None = None
    following: FollowingView | None = None
    """What follows from the entity; on page one only, and only if there is any."""
    neighbours: list[NeighbourView] | None = None
    """Counts per neighbour, most first; on page one only."""
    neighbours_total: int | None = None
    neighbours_others: int | None = None
    """Facts shared with neighbours that are not listed; with the listed ones they sum to ``total``."""
    kinds: dict[str, dict[str, int]] | None = None
    """Facts by kind and relation, readings by measure, most first; on page one of several."""
    kinds_others: int | None = None
    """Facts under relations that are not listed; with the listed ones they sum to ``total``."""


class EpisodeSearchResponse(Page):
    episodes: list[EpisodeView]


class TimelineResponse(EpisodeSearchResponse):
    entity: str | None = None
    first_mention: str | None = None
    last_mention: str | None = None
    mentions_per_month: dict[str, int] | None = None
    """"2026-03" to count, in the configured time zone, oldest first; on page one only."""
    mentioned_with: dict[str, int] | None = None
    """Names most often in the same episodes, with how many of the newest ones; on page one only."""
    linking: str | None = None
    """Set while earlier episodes are still being linked."""


class EntityResult(Answer):
    uuid: str
    name: str
    outcome: Literal["created", "matched", "linked"]
    aliases: list[str] | None = None
    """Aliases and spellings that it gained by this call; left out where there are none."""

    @model_serializer(mode="wrap")
    def _lean(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = whole(self)
        return data if self.aliases else {name: value for name, value in data.items() if name != "aliases"}


class FactResult(Answer):
    uuid: str
    outcome: Literal["created", "duplicate", "updated"]
    interval: str | None = None
    """The resolved validity, e.g. "from 2026-03-01" or "since at least 2026-03-01, start unknown"."""
    fact: str | None = None
    series: list[str] | None = None
    """Of the last new reading of a series: the last three values of the series with dates, oldest first."""
    confidential: bool | None = None
    """True: not public without the call saying so, or a known fact that the call marked so."""


class RetiredFact(Answer):
    uuid: str
    fact: str
    invalid_at: str | None = None
    kind: Literal[
        "retired", "voided", "fulfilled", "moved"
    ]  # fulfilled: a plan that has come about; moved: a later end
    former_invalid_at: str | None = None
    replaced_by: str | None = None
    confidential: bool | None = None  # it is not public


class Attention(Answer):
    what: Literal[
        "similar_existing",
        "possible_conflict",
        "ambiguous_replacement",
        "undeclared_endpoint",
        "near_relation",
        "near_measure",
        "quote_not_found",
        "empty_interval",
        "alias_taken",
        "proposed_ending",
        "part_of_name",
        "shared_name",
        "same_text",
        "same_date",
        "unknown_cause",
        "still_rests",
    ]
    detail: str
    candidates: list[str]
    call: str
    """The call that settles it, ready to send; or that nothing is needed."""


class FoundFact(Answer):
    """One fact of the graph, as far as an extraction is concerned."""

    uuid: str
    outcome: Literal["created", "known", "proposed", "not_found"]
    """``proposed``: that it has ended; ``not_found``: by the extraction before, and not this time."""
    fact: str | None = None
    """None once something of its group was forgotten."""


class ExtractionReceipt(Answer):
    """How far a model has read one episode, or another task, what it found and what that cost; attempts that failed."""

    episode_uuid: str
    task: Literal["saga", "communities"] | None = None
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    reason: str | None = None
    remedy: str | None = None
    attempts: int | None = None
    next_attempt: str | None = None
    model: str | None = None
    facts: list[FoundFact] = Field(default_factory=list)
    facts_total: int | None = None
    """Only if there are more than are listed."""
    retired: list[RetiredFact] = Field(default_factory=list)
    proposed: list[FoundFact] = Field(default_factory=list)
    """Facts that may have ended: retire_fact or restore_fact settles it."""
    not_found: list[FoundFact] = Field(default_factory=list)
    """Found by the extraction before this one and not this time; they stay."""
    entities: list[EntityResult] = Field(default_factory=list)
    attention: dict[str, int] = Field(default_factory=dict)
    left_out: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None


class AddMemoryResponse(Answer):
    message: str
    episode_uuid: str
    status: Literal["stored", "already_stored"]
    group_id: str
    name: str
    valid_at: str
    entities: list[EntityResult]
    facts: list[FactResult]
    retired: list[RetiredFact]
    needs_attention: list[Attention]
    related: list[str]
    """At most five current facts between two of the entities named, as sentences."""
    linked: int
    """Earlier episodes linked to new entities or aliases at once."""
    linking: int
    """Entities whose earlier episodes are still being linked by a durable job."""
    next_steps: str | None = None
    unused: list[str] | None = None
    """Parameters kept but not used, because no model is configured."""
    extraction: ExtractionReceipt | None = None
    """Only where a model is configured and the call waited for it."""


class EpisodeEntitiesResponse(Page):
    entities: list[NodeView]
    unknown_episodes: list[str] | None = None


class FactResponse(Answer):
    message: str
    fact: FactView
    replacement: str | None = None
    """The fact that took its place, as a sentence."""


class DocumentPart(Answer):
    """Where a text stands in a document that was ingested; offsets in the whole of it."""

    document: str
    version: int
    superseded: bool | None = None
    """True: the present version has no such section."""
    path: str
    paragraph: int
    """From 1."""
    start: int
    end: int


class SourceView(Answer):
    """A part of an episode that says a fact: ``content[start:end]``, word for word."""

    text: str
    start: int
    """Half-open code-point offsets into the episode's content."""
    end: int
    is_quote: bool | None = None
    """True: it is, or holds, the quote kept with the fact."""
    cut: bool | None = None
    """True: the paragraph or episode goes on around it."""
    episode_uuid: str
    episode: str
    """Its name."""
    told_by: str | None = None
    """Who told it, in a shared memory."""
    valid_at: str | None = None
    confidential: bool | None = None
    corrected: bool | None = None
    """True if what it says of the fact was corrected; not what else its episode tells."""
    corrected_version: str | None = None
    """What the fact said before it was corrected, if these are the words behind that."""
    redacted: bool | None = None
    """True where words of the episode were forgotten."""
    document: DocumentPart | None = None
    """If the episode is a section of one."""
    score: float | None = None


class FactSourcesResponse(Page):
    fact: str
    sources: list[SourceView]


class PathView(Answer):
    """One way from an entity to another."""

    path: str
    """E.g. "Maria -WORKS_AT-> Acme <-WORKS_AT- Tom"."""
    fact_uuids: list[str]
    """Its facts in order, out of ``facts``."""


class PathResponse(Answer):
    message: str
    source: str | None = None
    """Names of both ends; None if there is no such entity."""
    target: str | None = None
    hops: int | None = None
    """Length of the paths; None without one."""
    paths: list[PathView]
    truncated: bool
    """True: more paths of this length than are listed."""
    scope: Scope
    facts: list[FactView]
    """Those of all paths, once each, without quote, attributes and episodes."""


class SubgraphNode(Answer):
    """An entity and how far it is from the one asked about."""

    uuid: str
    name: str
    labels: list[str]
    hops: int
    summary: str


class SubgraphResponse(Answer):
    message: str
    entity: str | None = None
    """Name of the asked entity; None if there is no such entity."""
    truncated: bool
    nodes_left_out: int | None = None
    """Entities of the ring at which it was cut, and of none beyond."""
    facts_total: int
    """Facts among the nodes found."""
    scope: Scope
    nodes: list[SubgraphNode]
    facts: list[FactView]


class TripletResponse(Answer):
    """In upstream's format, with the episode that keeps the sentence."""

    message: str
    episode_uuid: str
    nodes: list[NodeView]
    """Source and target."""
    edges: list[FactView]
    needs_attention: list[Attention]


class ClearResponse(Answer):
    message: str
    status: Literal["preview", "cleared", "empty"]
    groups: dict[str, str]
    """Public group name to what it holds, or held."""
    confirm: str | None = None
    """With a preview: what the call that clears has to send."""


class DeleteResponse(Answer):
    message: str
    removed: dict[str, int]
    """Counts by kind: episodes, facts, entities, mentions, passages."""
    removed_names: list[str]
    """Names of removed entities (at most 20)."""
    kept: dict[str, int]
    """What the episode shared with others and is still there: entities, facts."""
    kept_because: list[str]
    """E.g. "Sarah: 3 other mentions" (at most 20)."""
