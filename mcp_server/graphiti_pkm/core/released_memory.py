"""Give memory that was freed back to the machine: glibc keeps what lies between things that stay."""

import ctypes
import sys


def give_back() -> None:
    """Takes milliseconds, without the interpreter's lock; does nothing where the C library has no such call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
