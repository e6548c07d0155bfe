"""Metadata of projects and entries: a JSON object of the caller's own, kept as text."""

import json

from graphiti_pkm.core.model.redaction import NO_METADATA
from graphiti_pkm.errors import InvalidInput

MAX_BYTES = 10_000
_DEEPEST = 20


def read_metadata(given: object) -> str:
    """The object as it is stored. Raises InvalidInput: nothing was stored."""
    if given is None:
        return NO_METADATA
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise _refused("is no JSON") from None
    if not isinstance(given, dict):
        raise _refused("is no JSON object")
    if _depth(given) > _DEEPEST:
        raise _refused(f"is nested more than {_DEEPEST} deep")
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (ValueError, TypeError, UnicodeEncodeError):
        raise _refused("holds what JSON cannot, such as NaN or half a surrogate pair") from None
    if size > MAX_BYTES:
        raise _refused(f"has {size:,} bytes; at most {MAX_BYTES:,} are kept. Put long texts into content")
    if "\0" in text or "\\u0000" in text:
        raise _refused("holds a NUL character")
    return text


def shown_metadata(text: str) -> dict[str, object]:
    """The object again."""
    found: dict[str, object] = json.loads(text)
    return found


def _refused(reason: str) -> InvalidInput:
    return InvalidInput(f"metadata {reason}. Nothing was stored.")


def _depth(value: object) -> int:
    """How deep it is nested; stops counting where it is too deep."""
    level, deep = [value], 0
    while level and deep <= _DEEPEST:
        inside: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inside += one.values()
            elif isinstance(one, list):
                inside += one
        level, deep = inside, deep + 1
    return deep
