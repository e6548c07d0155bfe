"""What each kind of store checks before it takes a record or compares a vector."""

import math
import re
from collections.abc import Sequence

from graphiti_pkm.core.model.records import Vector, Vectors, WriteIntent
from graphiti_pkm.errors import EmbeddingMismatch, InvalidInput, WriteFailed

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def checked_label(label: str) -> str:
    """The label of an entity.

    Raises:
        InvalidInput: it is no plain word.
    """
    if _LABEL.fullmatch(label) is None:
        raise InvalidInput("An entity type is a word of at most 64 letters, digits and _, starting with a letter.")
    return label


def is_direction(vector: Vector) -> bool:
    """False for zero vectors and for those with infinities, whose cosine is not a number."""
    length = math.hypot(*vector)
    return math.isfinite(length) and length > 0


def used_vectors(intent: WriteIntent, vectors: Vectors) -> list[Vector]:
    """Those of the vectors that the write stores."""
    uuids = [
        *(
            record.uuid
            for records in (intent.entities, intent.facts, intent.passages, intent.communities or ())
            for record in records
        ),
        *(intent.new_vectors.uuids if intent.new_vectors else ()),
    ]
    return [vectors[uuid] for uuid in uuids if uuid in vectors]


def check_stored(used: Sequence[Vector], dimension: int, holder: str) -> None:
    """Vectors about to be stored in ``holder``, whose vectors have this dimension.

    One vector of another dimension would break every later search of its group, a zero one has no cosine.

    Raises:
        WriteFailed: nothing was stored.
    """
    if any(len(vector) != dimension for vector in used):
        raise WriteFailed(f"Nothing was stored: the {holder} holds embeddings of {dimension} dimensions, these differ.")
    if not all(map(is_direction, used)):
        raise WriteFailed("Nothing was stored: an embedding is zero or not finite.")


def is_comparable(vector: Vector, dimension: int | None, holder: str) -> bool:
    """Whether anything in ``holder`` can be near; ``dimension``: of its vectors, None if it has none.

    Raises:
        EmbeddingMismatch: the vector has another dimension.
    """
    if dimension is None:
        return False
    if dimension != len(vector):
        raise EmbeddingMismatch(
            f"The {holder} holds vectors of {dimension} dimensions, the search has {len(vector)}: another embedding "
            "model wrote it. Use the settings that wrote it, or change the memory to these with "
            "`graphiti-pkm reembed`."
        )
    return is_direction(vector)
