"""Keeps nodes of one text apart whose labels a graph takes for the same: class ``Parser``, module ``parser``.

The first keeps its label, later ones get their type or a number behind it; always the same for the same text, so that
importing it again finds them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from graphiti_pkm.capabilities.scratch.formats.values import clipped
from graphiti_pkm.capabilities.scratch.limits import LONGEST_LABEL
from graphiti_pkm.core.model.names import same_key

_MOST_TOLD = 4
_ROOM = 30
"""Characters for what is put behind a label."""


def told_apart(types: Mapping[str, str | None]) -> dict[str, str]:
    """What the nodes of these labels and types are called instead; only those that cannot keep their label."""
    groups: dict[str, list[str]] = {}
    for label in types:
        groups.setdefault(same_key(label), []).append(label)
    taken, numbers = set(groups), Counter[str]()
    renamed = {}
    for labels in groups.values():
        if len(labels) > 1:
            kinds = Counter(types[label] for label in labels)
            for place, label in enumerate(labels[1:], start=2):
                kind = types[label]
                named = "" if kind is None or kinds[kind] > 1 else _named(label, kind)
                if not named or same_key(named) in taken:
                    named = _numbered(label, place, numbers, taken)
                taken.add(same_key(named))
                renamed[label] = named
    return renamed


def warning_of(what: str, pairs: Sequence[tuple[str, str]], between: str) -> str:
    """One warning for all, which shows some."""
    shown = [f"‘{clipped(first)}’ {between} ‘{clipped(second)}’" for first, second in pairs[:_MOST_TOLD]]
    more = f" and {len(pairs) - _MOST_TOLD} more" if len(pairs) > _MOST_TOLD else ""
    return f"{what}: {', '.join(shown)}{more}."


def _named(label: str, kind: str) -> str:
    named = f"{label} ({kind})"
    return named if len(named) <= LONGEST_LABEL else ""


def _numbered(label: str, place: int, numbers: Counter[str], taken: set[str]) -> str:
    """The label with the next number that nobody has; each number is tried once, however many are alike."""
    stem = label if len(label) <= LONGEST_LABEL - _ROOM else label[: LONGEST_LABEL - _ROOM].rstrip()
    key = same_key(stem)
    number = max(place, numbers[key] + 1)
    while same_key(f"{stem} ({number})") in taken:
        number += 1
    numbers[key] = number
    return f"{stem} ({number})"
