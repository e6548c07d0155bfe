"""Answers without what differs from run to run: ids, tokens, the time of the run, places on this machine."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
CUT_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}(?![\w-])")
INSTANT = re.compile(
    r"(?<![\w-])\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?(?![\w-])"
)
LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{4,}(?![\w.])")
DURATION = re.compile(r"\b\d+(?:\.\d+)? ms\b|\b\d+\.\d+ s\b|\b\d+(?:\.\d+)? (?:K|M|G)i?B\b")
TOKENS = ("next_cursor", "confirm", "cursor", "token")
COUNTERS = ("written", "applied", "uptime_seconds")
"""Of writes, since the background marks them applied at any moment."""
UNORDERED = ("related",)
"""The server takes these from a set."""


class Normaliser:
    """Keeps the numbers of ids over a whole run. ``places``: texts to replace, such as paths and ports."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(sorted(places.items(), key=lambda place: -len(place[0])))
        self._uuids: dict[str, str] = {}
        self._tokens: dict[str, str] = {}
        now = datetime.now(UTC)
        self._days = {(now + timedelta(days=day)).date().isoformat() for day in (-1, 0, 1)}

    def hide(self, text: str, name: str) -> None:
        """One more text to replace."""
        self._places[text] = name

    def of(self, value: Any) -> Any:
        """The same value in every run, if the server behaves the same."""
        value = _parsed(value)
        for text in _texts(value):
            for uuid in UUID.findall(text):
                self._uuids.setdefault(uuid, f"<uuid {len(self._uuids) + 1}>")
        self._learn_tokens(value)
        cut = {uuid[:8]: f"{name} cut" for uuid, name in self._uuids.items()}
        return _mapped(value, lambda text: self._text(text, cut))

    def _text(self, text: str, cut: Mapping[str, str]) -> str:
        for place, name in (self._places | self._tokens).items():
            text = text.replace(place, name)
        text = UUID.sub(lambda found: self._uuids[found[0]], text)
        text = CUT_UUID.sub(lambda found: cut.get(found[0], found[0]), text)
        text = INSTANT.sub(lambda found: self._instant(found[0]), text)
        text = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.3f}", text)
        return DURATION.sub("<amount>", text)

    def _instant(self, text: str) -> str:
        if not any(day.startswith(text[:10]) for day in self._days):
            return text
        return "<now>" if len(text) > len("2024-03-01") else f"<now: {len(text)} characters>"

    def _learn_tokens(self, value: Any) -> None:
        """Values under a name that says so; they are replaced in texts, too."""
        for name, part in _members(value):
            if name == "hash":  # of a token: its start is the token's id
                self._tokens |= {part: "<hash>", part[:8]: "<token id>"}
            if name in TOKENS and isinstance(part, str) and re.fullmatch(r"[\w.=-]{10,}", part):
                self._tokens.setdefault(part, f"<{name}>")


def _parsed(value: Any) -> Any:
    """The value with texts that are JSON parsed: what stands in them is then found by its name."""
    if isinstance(value, dict):
        return {name: _parsed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_parsed(part) for part in value]
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return {"JSON": _parsed(json.loads(value))}
        except ValueError:
            return value
    return value


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _members(part)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _mapped(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        made = {text(name): _mapped(part, text) for name, part in value.items()}
        made |= {name: "<counter>" for name in COUNTERS if isinstance(made.get(name), int)}
        return made | {name: sorted(made[name]) for name in UNORDERED if isinstance(made.get(name), list)}
    if isinstance(value, list):
        return [_mapped(part, text) for part in value]
    if isinstance(value, float):
        return round(value, 3)
    return text(value) if isinstance(value, str) else value
