"""What a caller asks to be stored. Field descriptions are prompt text: they go into tool schemas."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from graphiti_pkm.domain.records import FactKind


class Request(BaseModel):
    """Base of what a caller sends: closed, so that a misspelt field is an error and not lost."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EntityInput(Request):
    """A person, place, project or thing named in the body."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    type: Annotated[str | None, Field(description="Person, Project, Decision, ...")] = None
    summary: Annotated[str | None, Field(max_length=2000)] = None
    aliases: Annotated[
        list[str] | None, Field(description="other names, a first name too; also a new one of a known entity")
    ] = None


class FactInput(Request):
    """One relation. ``me`` stands for the user."""

    source: Annotated[str, Field(description="entity name, or me")]
    relation: Annotated[str, Field(description="UPPER_SNAKE, e.g. WORKS_AT")]
    target: Annotated[str | None, Field(description="entity name; may be left out for a reading or a state")] = None
    fact: Annotated[str | None, Field(max_length=2000, description="one sentence with both names")] = None
    kind: FactKind = "state"
    measure: Annotated[str | None, Field(description="of a reading, e.g. sleep")] = None
    value: Annotated[str | float | None, Field(description='6.5, "4-5", "6/10", a date, an amount')] = None
    unit: str | None = None
    valid_at: Annotated[str | None, Field(description="ISO date; a month or year means its first day")] = None
    invalid_at: Annotated[str | None, Field(description="when it ended; restate a known fact with it to end it")] = None
    replaces: Annotated[
        str | list[str] | None,
        Field(description="what it ends: old target name, value, fact uuid, or current"),
    ] = None
    change: Literal["changed", "corrected"] = "changed"
    quote: Annotated[str | None, Field(description="exact words of the body")] = None


class AddMemory(Request):
    """One add_memory call as the services see it; dates are still text."""

    name: str | None = None
    episode_body: str
    group_id: str | None = None
    source: str = "text"
    source_description: str = ""
    uuid: str | None = None
    reference_time: str | None = None
    entities: tuple[EntityInput, ...] = ()
    facts: tuple[FactInput, ...] = ()
    steering: dict[str, object] = Field(default_factory=dict)
    """excluded_entity_types, custom_extraction_instructions, … as given, without the ones left out."""
