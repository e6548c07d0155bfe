"""Extracts the JSON from a model's answer. Local models surround it with code fences, thoughts or polite phrases."""

import contextlib
import json
import re
from typing import Any

from pydantic import BaseModel, ValidationError

_THOUGHT = r"(?:think|thinking|reasoning)"
_THOUGHTS = re.compile(rf"\A(?![\s]*[{{\[`]).*?</{_THOUGHT}>", re.DOTALL)
"""Matches up to the closing tag only, because some servers omit the opening one."""
_ONLY_THOUGHTS = re.compile(rf"\A\s*<{_THOUGHT}>")
_FENCE = re.compile(r"```[A-Za-z0-9_-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MOST_PROBLEMS = 5


class Unusable(Exception):
    """An answer that is not the requested JSON."""

    def __init__(self, reason: str, detail: str = "") -> None:
        """``reason`` quotes nothing from the answer; ``detail`` may, because only the model that gave it sees it."""
        super().__init__(reason)
        self.reason = reason
        self.detail = detail or reason


def read_answer(text: str, form: type[BaseModel] | None, *, is_cut: bool = False) -> dict[str, Any]:
    """The JSON object in an answer, validated.

    Args:
        text: the answer as the model gave it.
        form: the model to validate against; None accepts any object.
        is_cut: whether the model reached its token limit.

    Raises:
        Unusable: the answer is empty, cut off, not JSON, or of another shape.
    """
    if not text.strip():
        raise Unusable("cut off before it began" if is_cut else "empty")
    found = _object(text)
    if found is None:
        raise Unusable("cut off" if is_cut else "no JSON")
    if not isinstance(found, dict):
        raise Unusable("no JSON object", "The answer is JSON, but not an object.")
    if form is not None:
        _check(found, form)
    return found


def _object(text: str) -> Any:
    """The JSON in a text, after any thoughts; None if the text contains no JSON."""
    whole = text.strip()
    answered = _THOUGHTS.sub("", whole, count=1).strip()
    if _ONLY_THOUGHTS.match(answered):
        return None
    found = _json(answered)
    return _json(whole) if found is None and not _ONLY_THOUGHTS.match(whole) else found


def _json(text: str) -> Any:
    """The JSON that is the whole text, inside a code fence, or at the first brace; None if none of these parses."""
    fenced = _FENCE.search(text)
    start = text.find("{")
    try:
        for candidate in (text, fenced[1] if fenced else ""):
            with contextlib.suppress(ValueError):
                return _clean(json.loads(candidate))
        return _clean(json.JSONDecoder().raw_decode(text, start)[0]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _clean(value: Any) -> Any:
    """The value without lone surrogates and most control characters, which JSON can escape but no database stores."""
    if isinstance(value, dict):
        return {_clean(name): _clean(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_clean(part) for part in value]
    return _NO_TEXT.sub("", value) if isinstance(value, str) else value


def _check(found: dict[str, Any], form: type[BaseModel]) -> None:
    """Raise Unusable if the object does not match the form."""
    known = {name for field, info in form.model_fields.items() for name in (field, info.alias)}
    if found and known and not known.intersection(found):
        # A form with only optional fields would accept any object and read nothing from it.
        raise Unusable("of another shape", f"The answer has none of the fields {', '.join(form.model_fields)}.")
    try:
        form.model_validate(found)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_PROBLEMS]
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems)
        raise Unusable("of another shape", told) from None
