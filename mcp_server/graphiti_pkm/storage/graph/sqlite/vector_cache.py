"""The vectors that a process keeps: a matrix for each kind in each group, which follows the file.

New vectors are appended, as their numbers only rise; a removal makes the matrix be read again.
"""

import sqlite3
import sys
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.graph.sqlite import values
from graphiti_pkm.storage.graph.sqlite.file import Row

if TYPE_CHECKING:
    import numpy as np

_MOST_BYTES = 512 * 2**20
"""The most bytes of all matrices of a process; those used longest ago are dropped first."""
_FLOAT = "<f4"
_ROWS = 4096
"""How many rows are read at a time: a large group is in memory once, not twice."""
_LOCKS = 64
_STATE = """SELECT (SELECT value FROM graph_meta WHERE key = 'origin'),
  (SELECT count FROM vector_removals WHERE kind = ? AND group_id = ?)"""
"""A state whose change means that vectors are gone or the tables are others: the file was replaced or filled anew."""
_Key: TypeAlias = tuple[str, str]


def stored(vector: Vector) -> bytes:
    """The vector as little-endian float32, whatever the machine."""
    if sys.byteorder == "big":
        vector = array("f", vector)
        vector.byteswap()
    return vector.tobytes()


def loaded(data: bytes) -> Vector:
    """The vector that ``stored`` gave these bytes for."""
    vector = array("f")
    vector.frombytes(data)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector


def unit_vector(data: bytes) -> "np.ndarray":
    """A stored vector with length 1."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    vector = np.frombuffer(data, _FLOAT)
    return np.asarray(vector / np.linalg.norm(vector))


@dataclass
class _Matrix:
    """The vectors of one kind in one group, each of length 1."""

    last: int
    state: tuple[object, ...]
    uuids: list[str]
    owners: list[str]
    """Each once. Newer matrices append to it: of this one are the first ``owner_count``."""
    owner_count: int
    numbers: dict[str, int]
    """Where each owner is among these."""
    owned: "np.ndarray"
    """The number of each row's owner, with room at the end like ``rows``."""
    rows: "np.ndarray"
    """Rows with room at the end: the first ``len(uuids)`` count."""

    @property
    def row_owners(self) -> "np.ndarray":
        return self.owned[: len(self.uuids)]

    @property
    def unit_rows(self) -> "np.ndarray":
        return self.rows[: len(self.uuids)]


class VectorCache:
    """What a process keeps of the vectors; safe to use from several threads.

    Groups are read under several locks, so that a large one hardly ever holds up the searches of others.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        """``most_bytes``: of all matrices together; a single one may be larger."""
        self._most_bytes = most_bytes
        self._matrices: OrderedDict[_Key, _Matrix] = OrderedDict()
        self._reading = [threading.Lock() for _ in range(_LOCKS)]
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Drop the matrices, because the vectors are others now."""
        with self._lock:
            self._matrices.clear()

    def scores(self, db: sqlite3.Connection, kind: str, group_id: str, vector: Vector) -> "tuple[_Matrix, np.ndarray]":
        """The matrix as this snapshot has it, and the cosine of each row."""
        import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

        key = (kind, group_id)
        with self._reading[hash(key) % _LOCKS]:
            matrix = self._current(db, key)
        asked = np.asarray(vector, dtype=np.float32)
        if not matrix.uuids:
            return matrix, np.empty(0, np.float32)
        return matrix, matrix.unit_rows @ (asked / np.linalg.norm(asked))

    def owner_scores(
        self, db: sqlite3.Connection, kind: str, group_id: str, vector: Vector, owners: Sequence[str]
    ) -> dict[str, float]:
        """The best cosine of each of these owners, of the rows of which alone it is computed."""
        import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

        key = (kind, group_id)
        with self._reading[hash(key) % _LOCKS]:
            matrix = self._current(db, key)
        numbers = {owner: matrix.numbers.get(owner, matrix.owner_count) for owner in owners}
        known = {owner: number for owner, number in numbers.items() if number < matrix.owner_count}
        if not known:
            return {}
        is_asked = np.zeros(matrix.owner_count, bool)
        is_asked[list(known.values())] = True
        places = np.flatnonzero(is_asked[matrix.row_owners])
        asked = np.asarray(vector, dtype=np.float32)
        best = np.full(matrix.owner_count, -np.inf, np.float32)
        np.maximum.at(best, matrix.row_owners[places], matrix.unit_rows[places] @ (asked / np.linalg.norm(asked)))
        return {owner: float(best[number]) for owner, number in known.items()}

    def _current(self, db: sqlite3.Connection, key: _Key) -> _Matrix:
        import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

        state = tuple(values.one(db, _STATE, key) or ())
        with self._lock:
            matrix = self._matrices.get(key)
        if matrix is None or matrix.state != state:
            matrix = _Matrix(0, state, [], [], 0, {}, np.empty(0, np.int32), np.empty((0, 0), np.float32))
        new = db.execute(
            "SELECT id, uuid, owner, data FROM vector WHERE kind = ? AND group_id = ? AND id > ? ORDER BY id",
            (*key, matrix.last),
        )
        while rows := new.fetchmany(_ROWS):
            matrix = _extended(matrix, rows)
        with self._lock:
            self._matrices[key] = matrix
            self._matrices.move_to_end(key)
            while len(self._matrices) > 1 and self._bytes() > self._most_bytes:
                self._matrices.popitem(last=False)
        return matrix

    def _bytes(self) -> int:
        return sum(one.rows.nbytes for one in self._matrices.values())


def _extended(matrix: _Matrix, new: Sequence[Row]) -> _Matrix:
    """A new matrix object: another thread may be reading the old one."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    added = np.frombuffer(b"".join(row["data"] for row in new), _FLOAT).reshape(len(new), -1)
    added = added / np.linalg.norm(added, axis=1, keepdims=True)
    count = len(matrix.uuids) + len(new)
    rows, owned = matrix.rows, matrix.owned
    if rows.shape[0] < count or rows.shape[1] != added.shape[1]:
        rows = np.empty((max(count, 2 * rows.shape[0]), added.shape[1]), np.float32)
        if matrix.uuids:
            rows[: len(matrix.uuids)] = matrix.unit_rows
        owned = np.empty(len(rows), np.int32)
        owned[: len(matrix.uuids)] = matrix.row_owners
    rows[len(matrix.uuids) : count] = added
    for row in new:
        if row["owner"] not in matrix.numbers:
            matrix.numbers[row["owner"]] = len(matrix.owners)
            matrix.owners.append(row["owner"])
    owned[len(matrix.uuids) : count] = [matrix.numbers[row["owner"]] for row in new]
    return _Matrix(
        new[-1]["id"],
        matrix.state,
        matrix.uuids + [row["uuid"] for row in new],
        matrix.owners,
        len(matrix.owners),
        matrix.numbers,
        owned,
        rows,
    )
