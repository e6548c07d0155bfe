"""Episodes in Markdown with front matter: what the demo loads."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from graphiti_pkm.errors import ConfigurationError

REPOSITORY = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Example:
    """One add_memory call as a file tells it."""

    group_id: str
    arguments: dict[str, Any]


def read_examples(directory: Path | None = None) -> list[Example]:
    """All examples below a directory; a folder's name is its group. Default: ``examples/`` of the checkout."""
    root = directory or REPOSITORY / "examples"
    examples = list(_read(root))
    if not examples:
        raise ConfigurationError(
            f"No examples below {root}. Run the demo from a checkout, or name them with --examples."
        )
    return examples


def _read(root: Path) -> Iterator[Example]:
    for path in sorted(root.glob("*/*.md")):
        front, body = split_front_matter(path.read_text(encoding="utf-8"))
        arguments = {"episode_body": body, "group_id": path.parent.name, **front}
        yield Example(path.parent.name, arguments)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Front matter between two ``---`` lines, and the body after it; dates become ISO text."""
    if not text.startswith("---\n"):
        return {}, text.strip()
    _, front, body = text.split("---\n", 2)
    loaded = yaml.safe_load(front) or {}
    return {key: _plain(value) for key, value in loaded.items()}, body.strip()


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
