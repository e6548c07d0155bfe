"""Reads a safetensors file: eight bytes of header length, a JSON header, raw little-endian arrays."""

import json
import mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt

_LENGTH_BYTES = 8

_TYPES = {"F32": np.dtype("<f4")}
"""all-MiniLM-L6-v2 contains float32 and one array of integers, which is not needed."""


def read_float_arrays(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """The file's float32 arrays by name, mapped into memory and read on access."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = _LENGTH_BYTES + int.from_bytes(mapped[:_LENGTH_BYTES], "little")
    arrays: dict[str, npt.NDArray[np.float32]] = {}
    for name, entry in json.loads(mapped[_LENGTH_BYTES:begin]).items():
        dtype = _TYPES.get(entry.get("dtype"))
        if dtype is not None:
            first, last = entry["data_offsets"]
            flat = np.frombuffer(mapped, dtype, (last - first) // dtype.itemsize, begin + first)
            arrays[name] = flat.reshape(entry["shape"])
    return arrays
