"""Files with settings: the nearest ``.env``, and YAML in our form or that of Graphiti's MCP server."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.names import RETIRED, is_blank

if TYPE_CHECKING:
    from yaml import MarkedYAMLError


@dataclass(frozen=True)
class YamlSettings:
    """The values in a YAML file, by setting."""

    values: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Parts of the file that are not used, one line each."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """The origin of each value."""
    is_upstream: bool = False
    """Whether it is a file of Graphiti's MCP server."""


def find_env_file(given: Path | None, directory: Path) -> Path | None:
    """The given ``.env``, or the nearest one in the directory and its parents.

    Raises:
        ConfigurationError: the given file does not exist.
    """
    if given is not None:
        if not given.is_file():
            raise ConfigurationError(f"--env-file: {given} does not exist.")
        return given
    return next((path for d in (directory, *directory.parents) if (path := d / ".env").is_file()), None)


def read_dotenv(path: Path) -> dict[str, str | None]:
    """Raises ConfigurationError if the file cannot be read."""
    from dotenv import dotenv_values  # noqa: PLC0415  (imported only if there is a .env)

    try:
        return dict(dotenv_values(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"Cannot read {path}: {type(error).__name__}. Correct it, or use another file with --env-file."
        ) from error


def read_yaml(
    path: Path, known: Collection[str], environ: Mapping[str, str], elsewhere: Collection[str] = ()
) -> YamlSettings:
    """Settings of a YAML file, with ``${NAME}`` and ``${NAME:default}`` replaced from the environment.

    Blocks of Graphiti's MCP server are translated, with notes about their unused parts. ``elsewhere``: settings that
    flags or the environment give.

    Raises:
        ConfigurationError: the file cannot be read or contains an unknown name.
    """
    import yaml  # noqa: PLC0415  (imported only if there is a configuration file)

    from graphiti_pkm.settings.upstream import BLOCKS, expand, translate  # noqa: PLC0415  (as above)

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.MarkedYAMLError as error:
        # Its places alone, and without its cause: its message quotes the line, which may contain a key.
        raise ConfigurationError(
            f"The configuration file {path.name} is no YAML{_at(error)}. Correct it there: lines are `setting: value`, "
            "indented by spaces, with quotes around a value that holds signs such as : # [ @ *."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(
            f"Cannot read the configuration file {path.name}: {type(error).__name__}. It must be text in UTF-8."
        ) from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"The configuration file {path.name} must contain `setting: value` lines.")
    data = expand(data, environ)
    blocks = BLOCKS.intersection(data)
    if not blocks:
        notes = tuple(f"{path.name}: {name}: not used, {why}" for name, why in RETIRED.items() if name in data)
        data = {name: value for name, value in data.items() if name not in RETIRED}
        unknown = sorted(map(str, set(data) - set(known)))
        if unknown:
            raise ConfigurationError(
                f"Unknown settings in {path.name}: {', '.join(unknown)}. Known: {', '.join(known)}."
            )
        data = {name: value for name, value in data.items() if not is_blank(value)}
        return YamlSettings(data, notes, origins=dict.fromkeys(data, str(path)))
    upstream = translate({name: data[name] for name in blocks}, {*elsewhere, *data})
    own = {name: value for name, value in data.items() if name in known}
    rest = sorted(map(str, set(data) - blocks - set(known)))
    unused = (f"{', '.join(rest)}: not used",) if rest else ()
    values = {name: value for name, value in {**upstream.values, **own}.items() if not is_blank(value)}
    notes = tuple(f"{path.name}: {note}" for note in (*upstream.notes, *unused))
    return YamlSettings(values, notes, dict.fromkeys(values, str(path)), is_upstream=True)


def _at(error: "MarkedYAMLError") -> str:
    """Where the reader gave up, and where that began which it was reading."""
    gave_up, begun = error.problem_mark or error.context_mark, error.context_mark
    if gave_up is None:
        return ""
    at = f" at line {gave_up.line + 1}, column {gave_up.column + 1}"
    is_elsewhere = begun is not None and begun.line != gave_up.line
    return f"{at}, in what begins at line {begun.line + 1}, column {begun.column + 1}" if begun and is_elsewhere else at
