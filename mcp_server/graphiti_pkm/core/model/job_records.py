"""Records of the work that a write leaves to the background, and of what a model is asked."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.record import Record


class BackLinkJob(Record):
    """Link an entity to earlier episodes that name it; ``after`` is where the last batch stopped."""

    kind: Literal["back_link"] = "back_link"
    entity_uuid: str
    names: tuple[str, ...]
    before: datetime
    """Only episodes recorded before this instant; later ones are linked when they are written."""
    after: str | None = None
    """Uuid of the last episode examined, in uuid order; None at the start."""


class EmbedPassagesJob(Record):
    """Embed the passages of a very long episode that were stored without a vector."""

    kind: Literal["embed_passages"] = "embed_passages"
    episode_uuid: str


class EmbedMissingJob(Record):
    """Embed everything in the group that was stored without a vector; one waiting job of this kind is enough."""

    kind: Literal["embed_missing"] = "embed_missing"


class EraseJob(Record):
    """Rewrite the files of the data directory without what a write has forgotten."""

    kind: Literal["erase"] = "erase"


Job: TypeAlias = Annotated[BackLinkJob | EmbedPassagesJob | EmbedMissingJob | EraseJob, Field(discriminator="kind")]


ExtractTask = Literal["episode", "saga", "communities"]


class ExtractJob(Record):
    """Let a model read an episode, a saga or a group's entities; the result is a write with the uuid of this job."""

    uuid: str
    task: ExtractTask = "episode"
    episode_uuid: str
    """The episode; for a saga or a group's communities the uuid by which that job is found."""
    excluded_entity_types: tuple[str, ...] = ()
    instructions: str = ""
    previous_episode_uuids: tuple[str, ...] | None = None
    update_communities: bool = False
    person: str | None = None
    """The caller's name, if known; the local user has the name in the settings."""
