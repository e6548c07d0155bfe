"""Settings: the only reader of environment, ``.env``, YAML and flags.

Every field of ``Settings`` is one setting under four names: flag ``--data-dir``, environment and ``.env``
``GRAPHITI_PKM_DATA_DIR``, YAML ``data_dir``. The first of flag, environment, ``.env``, YAML, default wins.
No settings library: none reports where each value came from, and their import costs a tenth of our start-up.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from graphiti_pkm.config_embedding import check_embedding, checked_mode
from graphiti_pkm.config_files import YamlSettings, find_env_file, read_dotenv, read_yaml
from graphiti_pkm.config_keys import OPENAI_URL, GivenKey, choose_key
from graphiti_pkm.domain.extraction_cost import PART_CHARACTERS
from graphiti_pkm.domain.ontology import EdgeTypeSetting, EntityTypeSetting
from graphiti_pkm.domain.weights import EpisodeWeights
from graphiti_pkm.errors import ConfigurationError

APP = "graphiti-pkm"
ENV_PREFIX = "GRAPHITI_PKM_"
TELEMETRY = "GRAPHITI_TELEMETRY_ENABLED"
"""Graphiti's own variable; it reports to its makers unless this says no."""
VECTOR_INDEX_THRESHOLD = 50_000
"""Of an embedded database, which builds its indexes anew after every start."""
RetirementPolicy: TypeAlias = Literal["guarded", "automatic", "propose"]
_LISTS = frozenset({"toolsets", "tools", "exclude_tools", "excluded_entity_types", "allowed_hosts"})


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
    host: str = Field(default="127.0.0.1", description="Address for http and sse; beyond loopback only with tokens.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port for http and sse.")
    path: str = Field(default="/mcp", pattern=r"^/[A-Za-z0-9_/-]*$", description="Path of the http endpoint.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Names by which clients reach http and sse besides loopback and host, e.g. memory; by commas.",
    )
    tokens_file: Path | None = Field(
        default=None, description="File with tokens of who may connect; tokens.json in data_dir if that is there."
    )
    tokens: SecretStr | None = Field(
        default=None, description="Tokens beside that file: a JSON list, as `tokens create --entry` prints one."
    )
    calls_per_minute: int = Field(
        default=300, ge=1, description="Most calls a minute of one principal, the local one excepted."
    )
    writes_per_minute: int = Field(default=120, ge=1, description="Likewise, of calls that change something.")
    characters_per_call: int = Field(default=500_000, ge=1_000, description="Likewise, characters of one call.")
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
    embedding_mode: str = Field(
        default="local",
        description="Where texts become vectors: local, on this machine, or api, by a service that is sent every text.",
    )
    embedding_model: str | None = Field(
        default=None, description="Embedding model of the mode api; text-embedding-3-small by default."
    )
    embedding_dimension: int | None = Field(
        default=None, ge=2, le=4096, description="Dimensions of its vectors; known by default for OpenAI's models."
    )
    embedding_base_url: str = Field(
        default=OPENAI_URL, description="Address of an OpenAI-compatible API for embeddings, with its /v1."
    )
    embedding_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's own, OPENAI_API_KEY counts if this is not given; it is sent to "
        "no other address.",
    )
    embedding_api_key_file: Path | None = Field(default=None, description="File that holds that key, instead.")
    llm_model: str | None = Field(
        default=None,
        description="Model that reads episodes for entities and facts. None by default: a key alone sends nothing.",
    )
    llm_small_model: str | None = Field(
        default=None, description="Model for the smaller questions; the same one by default."
    )
    llm_base_url: str = Field(default=OPENAI_URL, description="Address of an OpenAI-compatible API, with its /v1.")
    llm_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's own, OPENAI_API_KEY counts if this is not given; it is sent to "
        "no other address.",
    )
    llm_api_key_file: Path | None = Field(default=None, description="File that holds the key, instead.")
    llm_structured_output: Literal["auto", "json_schema", "json_object"] = Field(
        default="auto", description="How an answer's form is asked for; auto tries once what the model can."
    )
    llm_temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature; none is sent by default, as some models refuse it."
    )
    llm_max_tokens: int = Field(default=16_384, ge=1, description="Most tokens of one answer.")
    llm_timeout_seconds: float = Field(default=120.0, gt=0, description="How long one answer may take, in seconds.")
    llm_calls_per_day: int | None = Field(
        default=None, ge=0, description="Most model calls a day; what is over waits for the next day."
    )
    llm_tokens_per_day: int | None = Field(
        default=None, ge=0, description="Most tokens a day, asked and answered; what is over waits for the next day."
    )
    llm_calls_per_episode: int | None = Field(
        default=None, ge=0, description="Most model calls an episode; one that needs more fails and can be retried."
    )
    llm_tokens_per_episode: int | None = Field(
        default=None, ge=0, description="Most tokens an episode; one that needs more fails and can be retried."
    )
    llm_price_input: float | None = Field(
        default=None, ge=0, description="Price of a million tokens asked, to show what was spent."
    )
    llm_price_output: float | None = Field(default=None, ge=0, description="Price of a million tokens answered.")
    extraction_parallel: int = Field(
        default=4, ge=1, le=64, description="Groups a model reads at once; within a group, one episode after the other."
    )
    extraction_calls: int = Field(default=4, ge=1, le=64, description="Model calls at once for one episode.")
    extraction_part: int = Field(
        default=PART_CHARACTERS,
        ge=1_000,
        le=200_000,
        description="Characters of an episode that one model call reads; a longer one is read in parts.",
    )
    entity_types: tuple[EntityTypeSetting, ...] = Field(
        default=(), description="Types of entities a model is asked for: name and description each, YAML or JSON."
    )
    edge_types: tuple[EdgeTypeSetting, ...] = Field(
        default=(),
        description="Types of facts a model is asked for: name, description and, in `between`, pairs of entity types.",
    )
    excluded_entity_types: tuple[str, ...] = Field(
        default=(), description="Types of entities that are never extracted, separated by commas."
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

    @field_validator("entity_types", "edge_types", mode="before")
    @classmethod
    def _types(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        try:
            return json.loads(given)
        except ValueError as error:
            raise ValueError('not a JSON list such as [{"name": "Person", "description": "…"}]') from error

    @field_validator("embedding_mode")
    @classmethod
    def _mode(cls, mode: str) -> str:
        return checked_mode(mode)

    @field_validator(
        "llm_model", "llm_small_model", "llm_api_key", "embedding_model", "embedding_api_key", mode="before"
    )
    @classmethod
    def _stripped(cls, given: object) -> object:
        return (given.strip() or None) if isinstance(given, str) else given

    @field_validator("llm_base_url", "embedding_base_url")
    @classmethod
    def _address(cls, url: str) -> str:
        try:
            parts = urlsplit(url.strip())
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        if not fits:
            raise ValueError("not an address such as http://localhost:11434/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            # An address is shown and logged.
            raise ValueError(
                "an address without user, password, ? or #; a key belongs in the setting ending in _api_key"
            )
        return url.strip().rstrip("/")

    @field_validator("data_dir", "cache_dir", "model_dir", "llm_api_key_file", "embedding_api_key_file", "tokens_file")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None

    @property
    def token_path(self) -> Path:
        """Where the token file is, or would be."""
        return self.tokens_file or self.data_dir / "tokens.json"

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
    notes: tuple[str, ...] = ()
    """What was given and is not used, one line each."""


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


def is_secret(field: str) -> bool:
    """Whether a setting is never shown, and has no flag."""
    return SecretStr in get_args(Settings.model_fields[field].annotation)


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
    used_env_file = find_env_file(env_file, directory or Path.cwd())
    dotenv = {name: text for name, text in read_dotenv(used_env_file).items() if text} if used_env_file else {}
    variables = {**dotenv, **environment}
    yaml_file = config_file or _optional_path(
        environment.get(ENV_PREFIX + "CONFIG") or dotenv.get(ENV_PREFIX + "CONFIG")
    )
    elsewhere = {
        name
        for name in Settings.model_fields
        if variables.get(environment_name(name)) or (flags or {}).get(name) is not None
    }
    given_yaml = read_yaml(yaml_file, Settings.model_fields, variables, elsewhere) if yaml_file else YamlSettings()

    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for field in Settings.model_fields:
        name = environment_name(field)
        sources: list[tuple[str, object]] = [
            ("flag", (flags or {}).get(field)),
            (name, environment.get(name) or None),
            (f"{used_env_file}: {name}", dotenv.get(name)),
            (str(yaml_file), given_yaml.values.get(field)),
        ]
        origin, value = next(((o, v) for o, v in sources if v is not None), ("default", None))
        origins[field] = origin
        if value is not None:
            values[field] = _split(value) if field in _LISTS else value
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from None
    notes = given_yaml.notes
    for of, is_used in (("llm", bool(settings.llm_model)), ("embedding", settings.embedding_mode == "api")):
        if is_used:
            key, file, url = (getattr(settings, f"{of}_{name}") for name in ("api_key", "api_key_file", "base_url"))
            given = GivenKey(f"{of}_api_key", key, file, url, origins)
            chosen = choose_key(given, str(yaml_file), given_yaml.values.get(f"{of}_base_url"), variables)
            settings = settings.model_copy(update={f"{of}_api_key": chosen.key})
            origins[f"{of}_api_key"] = chosen.origin
            notes += (chosen.note,) if chosen.note else ()
    check_embedding(settings)
    return LoadedSettings(settings, origins, used_env_file, yaml_file, notes)


def _split(value: object) -> object:
    return tuple(part for part in re.split(r"[,\s]+", value) if part) if isinstance(value, str) else value


def _optional_path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems = []
    for problem in error.errors(include_input=False, include_url=False):
        field = str(problem["loc"][0])
        problems.append(f"{field} (from {origins.get(field, 'default')}): {problem['msg']}")
    return "Settings do not fit: " + "; ".join(problems) + "."
