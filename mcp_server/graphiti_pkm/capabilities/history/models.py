"""What a caller sees of changes: what became of facts, and a fact after it was ended or restored."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer, FactView, NodeView, Page
from graphiti_pkm.core.model.change_kinds import ChangeKind


class ChangedFactResponse(Answer):
    message: str
    fact: FactView | None = None
    node: NodeView | None = None
    """The entity, if an update of it was undone."""
    changed: bool
    """False: it was so already, and nothing was stored."""
    still_rests: list[str] | None = None
    """Current facts and open plans that follow from a fact that was retired, at most five."""


class UpdatedEntityResponse(Answer):
    message: str
    node: NodeView
    changed: bool
    """False: it was so already, and nothing was stored."""


class EntityStateView(Answer):
    """What an update changed about an entity, as it was or as it became."""

    name: str | None = None
    type: str | None = None
    summary: str | None = None
    aliases: list[str] | None = None
    not_same_as: list[str] | None = None
    linked: list[str] | None = None
    unlinked: list[str] | None = None


class ChangeView(Answer):
    """What became of one fact, or of one entity (``entity_uuid``)."""

    change: Literal[ChangeKind, "moved"]
    """``moved``: a retirement that gave the fact a later end than it had; it goes on until then."""
    at: str
    """When it was recorded."""
    told_at: str | None = None
    """The date of the note that caused it, or that told what took its place; what told_since and until compare."""
    fact_uuid: str | None = None
    entity_uuid: str | None = None
    entity: str | None = None
    """Its present name."""
    before: EntityStateView | None = None
    after: EntityStateView | None = None
    with_uuid: str | None = None
    """Of a merge, its undoing or a split: the entity that went into this one, or came out of it."""
    group_id: str
    fact: str | None = None
    """Null once the fact is deleted."""
    invalid_at: str | None = None
    """The end that it gave the fact, or would give it."""
    former_invalid_at: str | None = None
    """The end that the fact had before it was given this one."""
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
    feed_cursor: str | None = None
    """On the last page: the same call with it as cursor gives what came since, nothing twice."""
    changes: list[ChangeView]
