"""What a caller sees of changes: what became of facts, and a fact after it was ended or restored."""

from graphiti_pkm.core.model.answers import Answer, FactResponse, Page
from graphiti_pkm.core.model.records import ChangeKind


class ChangedFactResponse(FactResponse):
    changed: bool
    """False: it was so already, and nothing was stored."""


class ChangeView(Answer):
    """What became of one fact."""

    change: ChangeKind
    at: str
    """When it was recorded."""
    told_at: str | None = None
    """The date of the note that caused it."""
    fact_uuid: str
    group_id: str
    fact: str | None = None
    """Null once the fact is deleted."""
    invalid_at: str | None = None
    """The end that it gave the fact, or would give it."""
    replaced_by: str | None = None
    replacement: str | None = None
    open: bool | None = None
    """Of a proposal: whether it still waits to be accepted or rejected."""
    reason: str | None = None
    words: str | None = None
    """What caused it: the quote of the new fact, or the first sentence of the episode."""
    episode_uuid: str | None = None
    by: str | None = None
    """Who called, if another than the one who asks."""


class ChangesResponse(Page):
    changes: list[ChangeView]
