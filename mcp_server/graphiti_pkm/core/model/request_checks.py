"""Limits of a call's texts: their length, and characters that cannot be stored."""

import re
from collections.abc import Iterator

from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import InvalidInput, TooLarge

_MOST_NAMES = 2_000
"""Limits entities, aliases, names in facts and replaced names together; a long entry with 60 facts has some 300."""
_MOST_SAID = 250_000
"""Characters of everything beside the body: names, sentences, summaries, quotes."""
_MAX_LENGTHS = {"name": 500, "source_description": 2_000}
_PARTS = ("entities", "facts")
_KEY = ": a key"
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_texts(request: AddMemory) -> None:
    """Check sizes first, so that nothing huge is processed further, then characters that no store accepts."""
    for field, most in _MAX_LENGTHS.items():
        if len(getattr(request, field) or "") > most:
            raise InvalidInput(f"{field} has more than {most:,} characters.")
    _check_sum("names, other names and replaces included", _names_in(request), _MOST_NAMES)
    texts = list(_texts(request.model_dump(exclude={"wait_seconds"}), ""))
    said = sum(len(text) for path, text in texts if path.startswith(_PARTS) and not path.endswith(_KEY))
    _check_sum("characters in all", said, _MOST_SAID)
    for path, text in texts:
        check_text(text, path)


def _names_in(request: AddMemory) -> int:
    named = sum(1 + len(one.aliases or ()) for one in request.entities or ())
    replaced = sum(1 if isinstance(one.replaces, str) else len(one.replaces or ()) for one in request.facts or ())
    return named + replaced + sum(1 if one.target is None else 2 for one in request.facts or ())


def _check_sum(what: str, came: int, most: int) -> None:
    if came > most:
        raise TooLarge(
            f"entities and facts hold {came:,} {what}; one call takes at most {most:,}. Nothing was stored. Split "
            "them: send the text with the first of them, then the others in several calls, each with the part of the "
            "text that says them."
        )


def check_text(text: str, path: str) -> None:
    """Refuse characters that no store accepts."""
    if "\0" in text:
        raise InvalidInput(f"{path} holds a NUL character, which cannot be stored. Nothing was stored.")
    if _SURROGATE.search(text):
        raise InvalidInput(f"{path} holds a lone surrogate, which is no character. Nothing was stored.")


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path or 'the call'}{_KEY}", str(key)
            yield from _texts(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _texts(item, f"{path}[{i}]")
