"""The notes of the demo: Markdown files with front matter."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml

from graphiti_pkm.errors import ConfigurationError

NOTES = Path(__file__).with_name("example_notes")
_FENCE = "---\n"


@dataclass(frozen=True)
class Example:
    """The arguments of one add_memory call."""

    group_id: str
    arguments: dict[str, Any]


def read_examples(directory: Path | None = None) -> list[Example]:
    """All notes below a directory; the name of a folder is its group. Default: those that come with the package.

    Raises:
        ConfigurationError: there are no notes, or one cannot be read.
    """
    root = directory or NOTES
    examples = list(_read(root))
    if not examples:
        raise ConfigurationError(
            f"There are no notes below {root}. Name another directory with --examples, or leave it out."
        )
    return examples


def _read(root: Path) -> Iterator[Example]:
    for path in sorted(root.glob("*/*.md")):
        try:
            front, body = split_front_matter(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ConfigurationError(
                f"{path} cannot be read as Markdown with front matter between two --- lines ({type(error).__name__})."
            ) from error
        yield Example(path.parent.name, {"episode_body": body, "group_id": path.parent.name, **front})


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Front matter between two ``---`` lines, and the body after it; dates become ISO text.

    Raises:
        ValueError: the front matter has no end or is no mapping.
        yaml.YAMLError: the front matter is no YAML.
    """
    if not text.startswith(_FENCE):
        return {}, text.strip()
    _, front, body = text.split(_FENCE, 2)
    loaded = yaml.safe_load(front) or {}
    if not isinstance(loaded, dict):
        raise ValueError("front matter must contain `name: value` lines")  # noqa: TRY004  the file is wrong, not a type
    return {str(key): _plain(value) for key, value in loaded.items()}, body.strip()


def _plain(value: Any) -> Any:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
