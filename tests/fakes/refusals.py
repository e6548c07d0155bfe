"""What the real graph cannot store, and so neither does the fake."""

import math
import re

from graphiti_pkm.core.model.records import Vector, Vectors, WriteIntent
from graphiti_pkm.errors import WriteFailed

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def check(intent: WriteIntent, vectors: Vectors, dimension: int | None) -> None:
    """``dimension`` is that of the vectors already there. Raises WriteFailed."""
    if not _is_text(intent.model_dump(exclude={"steering"})):
        raise WriteFailed("Nothing was stored: the text has a NUL character or half a surrogate pair.")
    if any(entity.label is not None and not _LABEL.fullmatch(entity.label) for entity in intent.entities):
        raise WriteFailed("Nothing was stored: an entity type is no plain word.")
    used = used_vectors(intent, vectors)
    if len({len(vector) for vector in used} | ({dimension} if dimension and used else set())) > 1:
        raise WriteFailed("Nothing was stored: the embeddings differ in dimension.")
    if not all(any(vector) and all(map(math.isfinite, vector)) for vector in used):
        raise WriteFailed("Nothing was stored: an embedding is zero or not finite.")


def used_vectors(intent: WriteIntent, vectors: Vectors) -> list[Vector]:
    """Those of the records of a write."""
    uuids = [record.uuid for records in (intent.entities, intent.facts, intent.passages) for record in records]
    uuids += intent.new_vectors.uuids if intent.new_vectors else ()
    return [vectors[uuid] for uuid in uuids if uuid in vectors]


def _is_text(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, dict):
        return all(map(_is_text, value.keys())) and all(map(_is_text, value.values()))
    return not isinstance(value, list | tuple) or all(map(_is_text, value))
