"""The settings; nothing else reads them from environment, ``.env``, YAML or flags.

Every field of ``Settings`` is one setting with a flag ``--data-dir``, a variable ``GRAPHITI_PKM_DATA_DIR`` in the
environment or ``.env``, and a YAML key ``data_dir``. The first of flag, environment, ``.env``, YAML, default wins. No
settings library is used: none reports the origin of each value, and importing one takes a tenth of our start-up.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import ConfigDict, SecretStr, ValidationError, model_validator

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.database import VECTOR_INDEX_THRESHOLD, DatabaseSettings, unused_databases
from graphiti_pkm.settings.embedding import check_embedding
from graphiti_pkm.settings.keys import OPENAI_KEY, GivenKey, choose_key, is_loopback
from graphiti_pkm.settings.memory import APP, MemorySettings, RetirementPolicy
from graphiti_pkm.settings.model import ModelSettings
from graphiti_pkm.settings.names import ENV_PREFIX, environment_name, is_blank, variables_of
from graphiti_pkm.settings.oauth import OAuthSettings
from graphiti_pkm.settings.scratch import ReasoningSettings
from graphiti_pkm.settings.serving import ServingSettings
from graphiti_pkm.settings.sources import FLAG, read_sources

__all__ = [
    "APP", "ENV_PREFIX", "TELEMETRY", "VECTOR_INDEX_THRESHOLD", "LoadedSettings", "RetirementPolicy", "Settings",
    "environment_name", "is_secret", "leave_processors", "load_settings", "silence_dependencies",
]  # fmt: skip

TELEMETRY = "GRAPHITI_TELEMETRY_ENABLED"
"""Graphiti's own variable; its telemetry is on unless this variable turns it off."""
_SEEN = "{}: every process of this machine can read the command line; set {} in the environment or .env instead"
_DESCRIBED = frozenset({"entity_types", "edge_types"})
_LISTS = frozenset({"toolsets", "tools", "exclude_tools", "excluded_entity_types", "allowed_hosts", "oauth_scopes"})


class Settings(ReasoningSettings, ModelSettings, OAuthSettings, ServingSettings, DatabaseSettings, MemorySettings):
    """The effective settings, immutable. The descriptions are also the help texts and DOCS/configuration.md.

    Settings are listed in the order of the base classes from last to first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        """Clients are told the address, and tokens are made for it."""
        if self.oauth_issuer and not self.oauth_resource and self.transport != "stdio" and not is_loopback(self.host):
            raise ValueError(
                "oauth_issuer needs oauth_resource where other machines can reach host: the address that clients use, "
                "such as https://memory.example.com/mcp"
            )
        return self

    @property
    def worker_file(self) -> Path:
        """What the workers of a server share and may lose: what is in it matters for an hour at most."""
        return self.data_dir / "limits.sqlite3"

    @property
    def token_path(self) -> Path:
        """The path of the token file, which may not exist."""
        return self.tokens_file or self.data_dir / "tokens.json"

    @property
    def grants_path(self) -> Path:
        """The path of the file with shared memories, which may not exist; beside the tokens, as hosts share both."""
        return self.token_path.with_name("grants.json")

    @property
    def audit_path(self) -> Path:
        """The path of the audit log, which may not exist."""
        return self.data_dir / "audit.sqlite3"


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
    """Settings that were given but are not used, one line each."""
    warnings: tuple[str, ...] = ()
    """Settings that were given in an unsafe way, one line each."""

    def effective(self) -> Iterator[tuple[str, Any, str]]:
        """Name, value and origin of each setting for display: secrets are masked, types are shown by name."""
        for name, value in self.settings.model_dump(mode="json").items():
            yield name, [one["name"] for one in value] if name in _DESCRIBED else value, self.origins[name]


def silence_dependencies() -> None:
    """Turn off the telemetry of dependencies, unless the user turned Graphiti's on."""
    os.environ.setdefault(TELEMETRY, "false")


def leave_processors() -> None:
    """Let NumPy's OpenBLAS use half of the processors, unless the user set a number. Call it before NumPy is imported.

    Measured on two processors: using both embeds a line 10% and a long text 20% faster on an idle machine; on a busy
    one the threads wait for each other, and a line takes 20 to 400 ms instead of 12.
    """
    if is_blank(os.environ.get("OPENBLAS_NUM_THREADS")):
        os.environ["OPENBLAS_NUM_THREADS"] = str(max(1, (os.cpu_count() or 2) // 2))


def is_secret(field: str) -> bool:
    """Whether a setting is never shown; giving it as a flag causes a warning."""
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
        flags: values from the command line by field name; None means not given.
        environ: the environment. Default: that of this process.
        directory: search it and its parents for ``.env``. Default: the working directory.
        config_file: a YAML file. Default: GRAPHITI_PKM_CONFIG.
        env_file: the ``.env`` to use instead of searching for one.

    Raises:
        ConfigurationError: a value is invalid, a file cannot be read, or a name is unknown.
    """
    sources = read_sources(Settings.model_fields, flags or {}, environ, directory, config_file, env_file)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for field in Settings.model_fields:
        value, origins[field] = sources.given(field)
        if value is not None:
            values[field] = _split(value) if field in _LISTS else value
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from None
    notes = [*sources.unknown(Settings.model_fields), *sources.yaml.notes, *unused_databases(settings, values)]
    for of, is_used in (("llm", bool(settings.llm_model)), ("embedding", settings.embedding_mode == "api")):
        if is_used:
            key, file, url = (getattr(settings, f"{of}_{name}") for name in ("api_key", "api_key_file", "base_url"))
            given = GivenKey(f"{of}_api_key", key, file, url, origins)
            of_yaml = {sources.yaml.origins.get(f"{of}_{name}") for name in ("api_key", "api_key_file")} - {None}
            chosen = choose_key(given, of_yaml, sources.yaml.values.get(f"{of}_base_url"), sources.variables.merged())
            settings = settings.model_copy(update={f"{of}_api_key": chosen.key})
            origins[f"{of}_api_key"] = (
                sources.variables.origin(OPENAI_KEY) if chosen.origin == OPENAI_KEY else chosen.origin
            )
            notes += [chosen.note] if chosen.note else []
    check_embedding(settings)
    warnings = tuple(_SEEN.format(name, variables_of(name)[-1]) for name in values if _is_seen(name, origins))
    return LoadedSettings(settings, origins, sources.variables.env_file, sources.config_file, tuple(notes), warnings)


def _is_seen(field: str, origins: Mapping[str, str]) -> bool:
    return is_secret(field) and origins[field] == FLAG


def _split(value: object) -> object:
    return tuple(part for part in re.split(r"[,\s]+", value) if part) if isinstance(value, str) else value


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems = []
    for problem in error.errors(include_input=False, include_url=False):
        text = problem["msg"].removeprefix("Value error, ")
        if problem["loc"]:
            field = str(problem["loc"][0])
            problems.append(f"{field} (from {origins.get(field, 'default')}): {text}")
        else:  # a combination of settings is invalid; the message names them
            named = [f"{name} from {origin}" for name, origin in origins.items() if re.search(rf"\b{name}\b", text)]
            problems.append(f"{text} ({', '.join(named)})")
    return "Invalid settings: " + "; ".join(problems) + "."
