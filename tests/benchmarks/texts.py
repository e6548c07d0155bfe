"""The real journal beside the checkout; without it, the examples."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from graphiti_pkm.cli.examples import NOTES

_ROOT = Path(__file__).resolve().parents[2]
_DATA = _ROOT.parent / "shared" / "data"
_JOURNAL = _DATA / "journal" / "journal-1660-1664.jsonl"
_CONVERSATION = _DATA / "conversation"


@dataclass(frozen=True)
class Entry:
    """One dated text."""

    date: str
    text: str


def journal() -> list[Entry]:
    """All entries in order of time."""
    if lines := _lines(_JOURNAL):
        return [Entry(one["date"], one["text"]) for one in map(json.loads, lines)]
    return sorted(map(_example, NOTES.rglob("*.md")), key=lambda one: one.date)


@dataclass(frozen=True)
class Turn:
    """One message of a conversation."""

    id: str
    at: str
    text: str
    """With the speaker in front."""


def conversation() -> list[Turn]:
    """All turns in order of time; none without the shared data."""
    lines = map(json.loads, _lines(_CONVERSATION / "turns.jsonl"))
    return [Turn(one["id"], one["at"], f"{one['speaker']}: {one['text']}") for one in lines]


def asked_of_the_conversation(part: str) -> list[tuple[str, tuple[str, ...]]]:
    """The questions of a part, ``dev`` or ``test``, with the ids of the turns that answer each."""
    lines = map(json.loads, _lines(_CONVERSATION / "questions.jsonl"))
    return [(one["q"], tuple(one["evidence"])) for one in lines if one["part"] == part]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _example(path: Path) -> Entry:
    _, head, body = path.read_text(encoding="utf-8").split("---", 2)
    date = re.search(r"\d{4}-\d\d-\d\d", head)
    return Entry(date.group() if date else "2026-01-01", body.strip())
