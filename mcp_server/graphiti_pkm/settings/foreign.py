"""The environment of Graphiti's own MCP server, taken as it is: what its file would make of its variables.

Its names for a model are everybody's (``MODEL_NAME``), and a file of some project may be the nearest ``.env``. So they
count only where a name of a memory stands beside them: no text goes to a model that was named for another program.
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
"""Its variable for its file."""
MODEL, EMBEDDER = "MODEL_NAME", "EMBEDDER_MODEL"
ADDRESSES = ("OPENAI_API_URL", "OPENAI_BASE_URL")
_MARKS = ("NEO4J_URI", "NEO4J_USER", "FALKORDB_URI", "GRAPHITI_GROUP_ID")
_NAMED = ("mode", "model", "base_url", "api_key", "api_key_file")
"""Ends of our settings that say which model is meant, where and with which key: they go together."""
_NOT_USED = {"SEMAPHORE_LIMIT": "extraction_parallel says how many groups a model reads at once"}


@dataclass(frozen=True)
class Variables:
    """Environment and ``.env``, without what is empty."""

    environment: Mapping[str, str]
    dotenv: Mapping[str, str]
    env_file: Path | None

    def levels(self) -> Iterator[tuple[Mapping[str, str], str, str]]:
        """Each with where it is and what stands before a name of it where its origin is told."""
        yield self.environment, "in the environment", ""
        yield self.dotenv, f"in {self.env_file}", f"{self.env_file}: "

    def merged(self) -> dict[str, str]:
        """The environment, with what only ``.env`` has."""
        return {**self.dotenv, **self.environment}

    def origin(self, name: str) -> str:
        """Where a name gets the value that counts."""
        return next((prefix + name for level, _, prefix in self.levels() if name in level), name)


def is_foreign_config(path: Path | None) -> bool:
    """Whether that is a file of Graphiti's server: other programs have a ``CONFIG_PATH`` too."""
    if path is None or not path.is_file():
        return False
    import yaml  # noqa: PLC0415  (only who has a configuration file pays for the import)

    from graphiti_pkm.settings.upstream import BLOCKS  # noqa: PLC0415  (as above)

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return isinstance(data, dict) and len(BLOCKS.intersection(data)) > 1


def with_foreign_variables(yaml: YamlSettings, variables: Variables, elsewhere: Collection[str] = ()) -> YamlSettings:
    """The settings of a YAML file, and what the variables of Graphiti's server say of models beside them.

    A file of that server refers to its variables itself; ours, or one of our own names, takes their place.

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
                notes.append(f"{prefix}{name}: not used, {ours} is given")
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
    """As the file that Graphiti's server brings makes settings of its variables."""
    from graphiti_pkm.settings.upstream import translate  # noqa: PLC0415  (most never need it)

    providers = {"openai": {"api_key": key, "api_url": url}}
    block = "llm" if of == "llm" else "embedder"
    return translate({block: {"provider": "openai", "model": model, "providers": providers}})
