"""Types of entities and facts that a model extracts."""

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"


class EntityTypeSetting(BaseModel):
    """A type of entity: its name and a description for the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    description: str = ""


class EdgeTypeSetting(BaseModel):
    """A type of fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    description: str = ""
    between: tuple[tuple[str, str], ...] = ()
    """Pairs of entity types that it may connect, source first; ``Entity`` means any type, an empty list any pair."""
