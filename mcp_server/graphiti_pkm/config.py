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
from typing import get_args

from pydantic import ConfigDict, SecretStr, ValidationError

from graphiti_pkm.config_database import VECTOR_INDEX_THRESHOLD, DatabaseSettings
from graphiti_pkm.config_embedding import check_embedding
from graphiti_pkm.config_files import YamlSettings, find_env_file, read_dotenv, read_yaml
from graphiti_pkm.config_keys import GivenKey, choose_key
from graphiti_pkm.config_memory import APP, MemorySettings, RetirementPolicy
from graphiti_pkm.config_model import ModelSettings
from graphiti_pkm.config_serving import ServingSettings
from graphiti_pkm.errors import ConfigurationError

__all__ = [
    "APP", "ENV_PREFIX", "TELEMETRY", "VECTOR_INDEX_THRESHOLD", "LoadedSettings", "RetirementPolicy", "Settings",
    "environment_name", "is_secret", "leave_processors", "load_settings", "silence_dependencies",
]  # fmt: skip

ENV_PREFIX = "GRAPHITI_PKM_"
TELEMETRY = "GRAPHITI_TELEMETRY_ENABLED"
"""Graphiti's own variable; it reports to its makers unless this says no."""
_LISTS = frozenset({"toolsets", "tools", "exclude_tools", "excluded_entity_types", "allowed_hosts"})


class Settings(ModelSettings, ServingSettings, DatabaseSettings, MemorySettings):
    """Effective settings, immutable. The descriptions are the help texts and DOCS/configuration.md.

    The last part comes first wherever settings are listed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @property
    def token_path(self) -> Path:
        """Where the token file is, or would be."""
        return self.tokens_file or self.data_dir / "tokens.json"


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
        if not problem["loc"]:  # settings that do not fit together, each named in the message
            problems.append(problem["msg"])
            continue
        field = str(problem["loc"][0])
        problems.append(f"{field} (from {origins.get(field, 'default')}): {problem['msg']}")
    return "Settings do not fit: " + "; ".join(problems) + "."
