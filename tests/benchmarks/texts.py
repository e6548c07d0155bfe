"""The real journal beside the checkout; without it, the examples."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from graphiti_pkm.cli.examples import NOTES

_ROOT = Path(__file__).resolve().parents[2]
_JOURNAL = _ROOT.parent / "shared" / "data" / "journal" / "journal-1660-1664.jsonl"


@dataclass(frozen=True)
class Entry:
    """One dated text."""

    date: str
    text: str


def journal() -> list[Entry]:
    """All entries in order of time."""
    if _JOURNAL.exists():
        lines = _JOURNAL.read_text(encoding="utf-8").splitlines()
        return [Entry(one["date"], one["text"]) for one in map(json.loads, lines)]
    return sorted(map(_example, NOTES.rglob("*.md")), key=lambda one: one.date)


def _example(path: Path) -> Entry:
    _, head, body = path.read_text(encoding="utf-8").split("---", 2)
    date = re.search(r"\d{4}-\d\d-\d\d", head)
    return Entry(date.group() if date else "2026-01-01", body.strip())
