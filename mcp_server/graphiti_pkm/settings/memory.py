"""Settings of the memory itself: where it lives, whose it is, how it weighs and decides."""

import re
from pathlib import Path
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, Field, field_validator

from graphiti_pkm.settings.weights import EpisodeWeights

APP = "graphiti-pkm"
RetirementPolicy: TypeAlias = Literal["guarded", "automatic", "propose"]


def _default_data_dir() -> Path:
    return Path(platformdirs.user_data_dir(APP))


def _default_cache_dir() -> Path:
    return Path(platformdirs.user_cache_dir(APP))


class MemorySettings(BaseModel):
    """The part of the settings that every command needs."""

    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Where the memory lives: journal and database."
    )
    cache_dir: Path = Field(default_factory=_default_cache_dir, description="Where fetched model weights are kept.")
    model_dir: Path | None = Field(default=None, description="Directory with the weights of all-MiniLM-L6-v2.")
    timezone: str = Field(
        default="UTC",
        description="IANA zone of dates without an offset, counts per month and phrases such as 'in March'.",
    )
    person: str = Field(default="me", min_length=1, max_length=200, description="Name of the person `me` stands for.")
    user_names: bool = Field(
        default=False,
        description="Whether the name of a token, or in X-User-ID, is also its person's name, so that a text which "
        "says Anna means the user anna; off: only `me` and `I` do.",
    )
    default_group: str = Field(
        default="default", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Group used when a call names none."
    )
    retirement: RetirementPolicy = Field(
        default="guarded",
        description="Endings the server chooses itself: guarded only proposes one between facts that share neither "
        "both ends nor the relation, propose proposes each, automatic does each. What a caller names is done.",
    )
    episode_weights: EpisodeWeights = Field(
        default=EpisodeWeights(),
        description="What counts how much when search_episodes ranks; a part is enough, e.g. 'date=0.5,day=0'.",
    )

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError("not a known IANA time zone, e.g. Europe/Berlin") from error
        return name

    @field_validator("episode_weights", mode="before")
    @classmethod
    def _weights(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        parts = [part.partition("=") for part in re.split(r"[,\s]+", given) if part]
        return {name: value for name, _, value in parts}

    @field_validator("data_dir", "cache_dir", "model_dir")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)
