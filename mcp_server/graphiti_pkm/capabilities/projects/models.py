"""What the tools over projects and entries answer."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer, Attention, EntityResult, Page, RetiredFact
from graphiti_pkm.core.model.records import EntryType

ReadingStatus = Literal["queued", "processed", "failed"]


class ProjectView(Answer):
    project_id: str
    name: str
    description: str
    status: str
    """active, archived or completed; a word of their own if a note gave it another status."""
    created: str
    metadata: dict[str, object]
    entries: int
    last_entry: str | None = None
    pinned: list[str] | None = None
    group_id: str


class ProjectResponse(ProjectView):
    message: str
    created_new: bool
    """False: the project was there already and stays as it is. True also if a known entity became the project."""
    needs_attention: list[Attention]


class ProjectListResponse(Page):
    projects: list[ProjectView]


class EntryResponse(Answer):
    message: str
    entry_id: str
    status: ReadingStatus
    """Of a configured model's reading; processed where none reads it."""
    project_id: str | None = None
    timestamp: str
    entities: list[EntityResult]
    retired: list[RetiredFact]
    """Facts that the entry ended or corrected, as in the answer of add_memory."""
    needs_attention: list[Attention]


class EntryView(Answer):
    entry_id: str
    similarity: float | None = None
    type: EntryType
    timestamp: str
    content: str | None = None
    content_truncated: bool | None = None
    content_chars: int | None = None
    match: str | None = None
    """The sentence that is nearest to the query."""
    project_id: str | None = None
    metadata: dict[str, object]
    entities: list[str] | None = None
    confidential: bool | None = None
    corrected: bool | None = None
    """True: a fact of it turned out to be wrong."""
    superseded: list[str] | None = None
    """What it tells of that was superseded after it, for example a decision, with dates."""


class EntryContextResponse(Page):
    entity: str | None = None
    entity_uuid: str | None = None
    candidates: list[str] | None = None
    """Entities that may be meant, where none has exactly this name, or several have."""
    entries: list[EntryView]


class NearEntry(Answer):
    """An entry below the threshold."""

    entry_id: str
    similarity: float
    timestamp: str
    match: str
    superseded: list[str] | None = None


class EntrySearchResponse(Page):
    mode: Literal["vector", "text"]
    """text: by words, without similarity, because no embedding model is available."""
    entries: list[EntryView]
    below: list[NearEntry] | None = None
    """The nearest that the threshold leaves out, where fewer than limit reach it."""


class RelevanceTerms(Answer):
    """From 0 to 1; relevance = 0.4 mentions + 0.3 connections + 0.2 activity + 0.1 pin."""

    mentions: float
    connections: float
    activity: float
    pin: float


class MemoryView(Answer):
    uuid: str
    name: str
    type: str | None = None
    relevance: float
    terms: RelevanceTerms
    mentions: int
    """Entries of the project that mention it."""
    last_seen: str | None = None
    """The last of them, or the last fact that connects it with the project."""
    projects: list[str] | None = None


class ProjectMemoriesResponse(Page):
    project_id: str
    project: str
    status: str
    primary: list[MemoryView]
    """What entries of the project mention."""
    primary_total: int
    secondary: list[MemoryView]
    """What they do not, but what is connected with that, or pinned."""
    secondary_total: int
    below_threshold: int
    nearest: list[str] | None = None
    """If nothing reaches the threshold: the most relevant entities, each with its relevance."""
