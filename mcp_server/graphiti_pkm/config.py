"""Settings: the only reader of environment, ``.env``, YAML and flags.

Every field of ``Settings`` is one setting under four names: flag ``--data-dir``, environment and ``.env``
``GRAPHITI_PKM_DATA_DIR``, YAML ``data_dir``. The first of flag, environment, ``.env``, YAML, default wins.
No settings library: none reports where each value came from, and their import costs a tenth of our start-up.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from graphiti_pkm.domain.weights import EpisodeWeights
from graphiti_pkm.errors import ConfigurationError

APP = "graphiti-pkm"
ENV_PREFIX = "GRAPHITI_PKM_"
TELEMETRY = "GRAPHITI_TELEMETRY_ENABLED"
"""Graphiti's own variable; it reports to its makers unless this says no."""
VECTOR_INDEX_THRESHOLD = 50_000
"""Of an embedded database, which builds its indexes anew after every start."""
RetirementPolicy: TypeAlias = Literal["guarded", "automatic", "propose"]
_LISTS = frozenset({"toolsets", "tools", "exclude_tools"})


def _default_data_dir() -> Path:
    return Path(platformdirs.user_data_dir(APP))


def _default_cache_dir() -> Path:
    return Path(platformdirs.user_cache_dir(APP))


class Settings(BaseModel):
    """Effective settings, immutable. The descriptions are the help texts and DOCS/configuration.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    default_group: str = Field(
        default="default", pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Group used when a call names none."
    )
    transport: Literal["stdio", "http", "sse"] = Field(
        default="stdio", description="How clients connect: stdio, http or sse."
    )
    host: str = Field(default="127.0.0.1", description="Address for http and sse; loopback only.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port for http and sse.")
    path: str = Field(default="/mcp", pattern=r"^/[A-Za-z0-9_/-]*$", description="Path of the http endpoint.")
    toolsets: tuple[str, ...] = Field(default=("memory",), description="Toolsets to offer, separated by commas.")
    tools: tuple[str, ...] = Field(default=(), description="Only these tools of the toolsets, separated by commas.")
    exclude_tools: tuple[str, ...] = Field(default=(), description="Tools to leave out, separated by commas.")
    read_only: bool = Field(default=False, description="Offer only tools that change nothing.")
    retirement: RetirementPolicy = Field(
        default="guarded",
        description="Endings the server chooses itself: guarded only proposes one between facts that share neither "
        "both ends nor the relation, propose proposes each, automatic does each. What a caller names is done.",
    )
    idle_seconds: float = Field(
        default=30.0, gt=0, description="How long the embedded database outlives its last client, in seconds."
    )
    vector_index_threshold: int = Field(
        default=VECTOR_INDEX_THRESHOLD,
        ge=1,
        description="A group with more entities, facts or sentences than this is searched by meaning through an index, "
        "built in the background after each start; smaller ones are scanned. 5,000 suits a database that never stops.",
    )
    episode_weights: EpisodeWeights = Field(
        default=EpisodeWeights(),
        description="What counts how much when search_episodes ranks; a part is enough, e.g. 'date=0.5,day=0'.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Level of the log on stderr."
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


@dataclass(frozen=True)
class LoadedSettings:
    """Settings with the origin of each value: flag, environment, a file's name, or default."""

    settings: Settings
    origins: Mapping[str, str]
    env_file: Path | None = None
    """The ``.env`` that was used, if any."""
    config_file: Path | None = None
    """The YAML file that was used, if any."""


def silence_dependencies() -> None:
    """Keep dependencies from reporting anybody's use of them; who turned Graphiti's telemetry on keeps it on."""
    os.environ.setdefault(TELEMETRY, "false")


def leave_processors() -> None:
    """Let NumPy's OpenBLAS use half of the processors; counts only before NumPy is imported. What the user set stays.

    Measured on two: the second makes a line 10% and a long text 20% faster on an idle machine; with anything else
    running, its threads wait for each other and a line takes 20 to 400 ms instead of 12.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(max(1, (os.cpu_count() or 2) // 2)))


def environment_name(field: str) -> str:
    """The environment variable of a setting."""
    return ENV_PREFIX + field.upper()


def load_settings(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
    config_file: Path | None = None,
    env_file: Path | None = None,
) -> LoadedSettings:
    """Read all sources.

    Args:
        flags: values given on the command line by field name; None values count as not given.
        environ: the environment (default: this process's).
        directory: where to look for ``.env``, then in its parents (default: the working directory).
        config_file: a YAML file; also GRAPHITI_PKM_CONFIG.
        env_file: the ``.env`` to use instead of looking for one.

    Raises:
        ConfigurationError: a value does not fit, a file cannot be read, or a name is unknown.
    """
    environment = os.environ if environ is None else environ
    used_env_file = _find_env_file(env_file, directory or Path.cwd())
    dotenv = _read_dotenv(used_env_file) if used_env_file else {}
    yaml_file = config_file or _optional_path(
        environment.get(ENV_PREFIX + "CONFIG") or dotenv.get(ENV_PREFIX + "CONFIG")
    )
    given_yaml = _read_yaml(yaml_file) if yaml_file else {}

    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for field in Settings.model_fields:
        name = environment_name(field)
        sources: list[tuple[str, object]] = [
            ("flag", (flags or {}).get(field)),
            (name, environment.get(name) or None),
            (f"{used_env_file}: {name}", dotenv.get(name) or None),
            (str(yaml_file), given_yaml.get(field)),
        ]
        origin, value = next(((o, v) for o, v in sources if v is not None), ("default", None))
        origins[field] = origin
        if value is not None:
            values[field] = _split(value) if field in _LISTS else value
    try:
        return LoadedSettings(Settings.model_validate(values), origins, used_env_file, yaml_file)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from None


def _split(value: object) -> object:
    return tuple(part for part in re.split(r"[,\s]+", value) if part) if isinstance(value, str) else value


def _optional_path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None


def _find_env_file(given: Path | None, directory: Path) -> Path | None:
    # MCP clients start servers in any directory: the nearest .env upwards counts, or the one that was named.
    if given is not None:
        if not given.is_file():
            raise ConfigurationError(f"There is no file {given}; --env-file must name one.")
        return given
    return next((path for d in (directory, *directory.parents) if (path := d / ".env").is_file()), None)


def _read_dotenv(path: Path) -> dict[str, str | None]:
    from dotenv import dotenv_values  # noqa: PLC0415  (only who has a .env pays for the import)

    try:
        return dict(dotenv_values(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"Cannot read {path}: {type(error).__name__}. Correct it, or name another file with --env-file."
        ) from error


def _read_yaml(path: Path) -> dict[str, object]:
    import yaml  # noqa: PLC0415  (only who has a configuration file pays for the import)

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"Cannot read the configuration file {path.name}: {type(error).__name__}.") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"The configuration file {path.name} must hold `setting: value` lines.")
    unknown = sorted(set(data) - set(Settings.model_fields))
    if unknown:
        known = ", ".join(Settings.model_fields)
        raise ConfigurationError(f"Unknown setting(s) in {path.name}: {', '.join(unknown)}. Known: {known}.")
    return data


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems = []
    for problem in error.errors(include_input=False, include_url=False):
        field = str(problem["loc"][0])
        problems.append(f"{field} (from {origins.get(field, 'default')}): {problem['msg']}")
    return "Settings do not fit: " + "; ".join(problems) + "."
