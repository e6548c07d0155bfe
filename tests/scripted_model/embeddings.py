"""Embeddings without a model: texts that share words have near vectors."""

import base64
import hashlib
import math
import re
import struct
from collections.abc import Sequence

from tests.scripted_model.model_request import ModelRequest

_WORD = re.compile(r"\w+")


def texts_of(request: ModelRequest) -> list[str]:
    """The texts to be embedded."""
    given = request.body.get("input")
    return [str(text) for text in given] if isinstance(given, list) else [str(given or "")]


def vector(text: str, dimensions: int) -> list[float]:
    """The sum of one pseudo-random direction a word, of length 1."""
    total = [0.0] * dimensions
    for word in _WORD.findall(text.casefold()) or [""]:
        noise = hashlib.shake_256(word.encode("utf-8", "surrogatepass")).digest(dimensions)
        total = [value + byte - 127.5 for value, byte in zip(total, noise, strict=True)]
    length = math.sqrt(sum(value * value for value in total))
    return [value / length for value in total]


def encoded(values: Sequence[float], form: str) -> list[float] | str:
    """As numbers, or as the base64 of 32-bit floats, which the ``openai`` package asks for."""
    if form != "base64":
        return list(values)
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
