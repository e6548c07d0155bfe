"""Reads the environment variables of Graphiti's own MCP server.

Other programs use its names for a model, too (``MODEL_NAME``), and the nearest ``.env`` may belong to another project.
So they count only together with a variable of a memory; no text is sent to a model that was configured for another
program.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphiti_pkm.settings.files import YamlSettings
from graphiti_pkm.settings.keys import OPENAI_KEY, OPENAI_URL
from graphiti_pkm.settings.names import one_of

if TYPE_CHECKING:
    from graphiti_pkm.settings.upstream import Translated

FOREIGN_CONFIG = "CONFIG_PATH"
"""The variable that names its configuration file."""
MODEL, EMBEDDER = "MODEL_NAME", "EMBEDDER_MODEL"
ADDRESSES = ("OPENAI_API_URL", "OPENAI_BASE_URL")
_MARKS = ("NEO4J_URI", "NEO4J_USER", "FALKORDB_URI", "GRAPHITI_GROUP_ID")
_NAMED = ("mode", "model", "base_url", "api_key", "api_key_file")
"""Suffixes of our settings for model, address and key, which belong together."""
_NOT_USED = {"SEMAPHORE_LIMIT": "extraction_parallel sets how many groups a model reads in parallel"}


@dataclass(frozen=True)
class Variables:
    """Environment and ``.env``, without empty values."""

    environment: Mapping[str, str]
    dotenv: Mapping[str, str]
    env_file: Path | None

    def levels(self) -> Iterator[tuple[Mapping[str, str], str, str]]:
        """Each level with its description for errors and the prefix for origins."""
        yield self.environment, "in the environment", ""
        yield self.dotenv, f"in {self.env_file}", f"{self.env_file}: "

    def merged(self) -> dict[str, str]:
        """Environment and ``.env`` together; the environment takes precedence."""
        return {**self.dotenv, **self.environment}

    def origin(self, name: str) -> str:
        """The origin of the effective value of a variable."""
        return next((prefix + name for level, _, prefix in self.levels() if name in level), name)


def is_foreign_config(path: Path | None) -> bool:
    """Whether a file belongs to Graphiti's server; other programs use ``CONFIG_PATH``, too."""
    if path is None or not path.is_file():
        return False
    import yaml  # noqa: PLC0415  (imported only if there is a configuration file)

    from graphiti_pkm.settings.upstream import BLOCKS  # noqa: PLC0415  (as above)

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return isinstance(data, dict) and len(BLOCKS.intersection(data)) > 1


def with_foreign_variables(yaml: YamlSettings, variables: Variables, elsewhere: Collection[str] = ()) -> YamlSettings:
    """The settings of a YAML file, completed by the model variables of Graphiti's server.

    A file of that server refers to its variables itself. Our own settings take precedence over the variables.

    Raises:
        ConfigurationError: two names of one address differ.
    """
    values, origins, notes = dict(yaml.values), dict(yaml.origins), list(yaml.notes)
    for level, where, prefix in variables.levels():
        if not any(name in level for name in _MARKS):
            continue
        notes += [f"{prefix}{name}: not used, {why}" for name, why in _NOT_USED.items() if name in level]
        if yaml.is_upstream:
            continue
        address = one_of("llm_base_url", ((name, level[name]) for name in ADDRESSES if name in level), where)
        for of, name in (("llm", MODEL), ("embedding", EMBEDDER)):
            if name not in level:
                continue
            ours = next((f"{of}_{one}" for one in _NAMED if {f"{of}_{one}"} & {*values, *elsewhere}), "")
            if ours:
                notes.append(f"{prefix}{name}: not used, because {ours} is set")
                continue
            found = _translated(
                of, level[name], variables.merged().get(OPENAI_KEY), address[1] if address else OPENAI_URL
            )
            notes += [f"{prefix}{name}: {note}" for note in found.notes]
            values |= found.values
            origins |= dict.fromkeys(found.values, prefix + name)
            if address and f"{of}_base_url" in found.values:
                origins[f"{of}_base_url"] = prefix + address[0]
            if f"{of}_api_key" in found.values:
                origins[f"{of}_api_key"] = variables.origin(OPENAI_KEY)
    return YamlSettings(values, tuple(notes), origins, yaml.is_upstream)


def _translated(of: str, model: str, key: str | None, url: object) -> "Translated":
    """Translate as the default file of Graphiti's server would."""
    from graphiti_pkm.settings.upstream import translate  # noqa: PLC0415  (rarely needed)

    providers = {"openai": {"api_key": key, "api_url": url}}
    block = "llm" if of == "llm" else "embedder"
    return translate({block: {"provider": "openai", "model": model, "providers": providers}})
