"""Settings: the only reader of environment, ``.env``, YAML and flags."""

from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

APP = "graphiti-pkm"


class Settings(BaseModel):
    """Effective settings, immutable; each is documented in DOCS/configuration.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir(APP)))
    cache_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_cache_dir(APP)))
    model_dir: Path | None = None
    """Explicit directory with the weights of all-MiniLM-L6-v2."""
    timezone: str = "UTC"
    person: str = "me"
    """Name of the group's one person: what ``me`` stands for."""
    default_group: str = "default"
    transport: Literal["stdio", "http", "sse"] = "stdio"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    path: str = "/mcp"
    toolsets: tuple[str, ...] = ("memory",)
    tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    read_only: bool = False
    idle_seconds: float = Field(default=30.0, gt=0)
    """How long the embedded database outlives its last client."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)
