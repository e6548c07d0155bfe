"""What the tools of this capability answer."""

from graphiti_pkm.core.model.answers import Answer, Page


class EvidenceView(Answer):
    """A quote from a document. Offsets are half-open, in code points of the whole document."""

    evidence_uuid: str
    quote: str
    """Word for word as it stands there."""
    source_id: str
    """Name of the document and number of the paragraph, as guide_p42."""
    document: str
    version: int
    superseded: bool | None = None
    """True: the present version of the document has no such section."""
    path: str
    section: str | None = None
    """The headings above it."""
    paragraph: int
    """From 1; a heading, list or table counts as one."""
    sentence: int
    """From 0, in the paragraph."""
    start: int
    end: int
    context: str | None = None
    """The paragraph or section around it."""
    context_start: int | None = None
    context_end: int | None = None
    cut: bool | None = None
    """True: the paragraph or section goes on around the context."""
    redacted: bool | None = None
    """True: words of the section were forgotten, so offsets differ from those of the file."""
    episode_uuid: str
    """The section, which get_episodes shows."""


class EvidenceResponse(EvidenceView):
    message: str
    changed: bool
    """False: the same quote was evidence of the entity already."""
    entity: str
    entity_uuid: str
    group_id: str


class DocumentText(Answer):
    """A part of the present version of a document, as it stands there."""

    document: str
    version: int
    path: str
    paragraph: int
    """The first one of which this page has words; 0 is front matter."""
    end_paragraph: int
    """The last one."""
    start: int
    end: int
    """Of the text, half-open, in code points of the whole document."""
    text: str
    redacted: bool | None = None
    """True: words of it were forgotten, so offsets differ from those of the file."""


class EntitySourcesResponse(Page):
    entity: str | None = None
    entity_uuid: str | None = None
    sources: list[EvidenceView]
    text: DocumentText | None = None
    """What ``source_id`` asked for; total and returned count its characters."""
