"""What the tools of curation answer."""

from graphiti_pkm.core.model.answers import Answer, Page
from graphiti_pkm.core.model.records import SourceType


class QualityView(Answer):
    """An entity with what librarians said of it."""

    entity_uuid: str
    name: str
    type: str | None = None
    created_by: str | None = None
    """The principal whose call made it, whoever mentions it later; None: an older version or another program did."""
    source_type: SourceType | None = None
    flagged: bool
    reason: str | None = None
    """Of the flag."""
    flagged_at: str | None = None
    flagged_by: str | None = None
    """A principal, as ``cleared_by`` and ``confidence_by``."""
    similar_to: list[str] | None = None
    """Names and uuids of entities that it may be the same as."""
    note: str | None = None
    """What came of the last review."""
    cleared_at: str | None = None
    cleared_by: str | None = None
    confidence: float | None = None
    confidence_reason: str | None = None
    confidence_at: str | None = None
    confidence_by: str | None = None
    group_id: str


class QualityResponse(QualityView):
    message: str
    changed: bool


class FlaggedResponse(Page):
    flagged: list[QualityView]
