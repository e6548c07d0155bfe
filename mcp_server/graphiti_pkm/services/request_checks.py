"""What no text of a call may be or hold: too long, or characters that cannot be stored."""

import re
from collections.abc import Iterator

from graphiti_pkm.domain.requests import AddMemory
from graphiti_pkm.errors import InvalidInput

MAX_BODY = 2_000_000
"""Characters of an episode."""

_MAX_ITEMS = 500
_MAX_STEERING = 10_000
_MAX_LENGTHS = {"name": 500, "source_description": 2_000}
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_texts(request: AddMemory) -> None:
    """Refuse sizes first, so that nothing huge is looked at twice, then characters that no store can keep."""
    if len(request.episode_body) > MAX_BODY:
        raise InvalidInput(
            f"episode_body has {len(request.episode_body):,} characters, at most {MAX_BODY:,} are kept; split it. "
            "Nothing was stored."
        )
    for field, most in _MAX_LENGTHS.items():
        if len(getattr(request, field) or "") > most:
            raise InvalidInput(f"{field} has more than {most:,} characters.")
    for field in ("entities", "facts"):
        if len(getattr(request, field)) > _MAX_ITEMS:
            raise InvalidInput(f"{field}: at most {_MAX_ITEMS} in one call.")
    for field, given in request.steering.items():
        if isinstance(given, str) and len(given) > _MAX_STEERING:
            raise InvalidInput(f"{field} has more than {_MAX_STEERING:,} characters.")
    for path, text in _texts(request.model_dump(), ""):
        check_text(text, path)


def check_text(text: str, path: str) -> None:
    """Refuse characters that no store can keep."""
    if "\0" in text:
        raise InvalidInput(f"{path} holds a NUL character, which cannot be stored. Nothing was stored.")
    if _SURROGATE.search(text):
        raise InvalidInput(f"{path} holds a lone surrogate, which is no character. Nothing was stored.")


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path or 'the call'}: a key", str(key)
            yield from _texts(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _texts(item, f"{path}[{i}]")
