"""Types that a model is asked for when it reads an episode: of entities, and of facts between them."""

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"


class EntityTypeSetting(BaseModel):
    """A type of entity by name, and what belongs to it in words that a model reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    description: str = ""


class EdgeTypeSetting(BaseModel):
    """A type of fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    description: str = ""
    between: tuple[tuple[str, str], ...] = ()
    """Pairs of entity types, source first, that it may connect, ``Entity`` being any; empty: any two."""
