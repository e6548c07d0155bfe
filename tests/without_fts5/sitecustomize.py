"""Takes FTS5 out of SQLite, in every process that has this folder in its PYTHONPATH, as in builds that lack it."""

import _sqlite3
import ctypes

_library = ctypes.CDLL(_sqlite3.__file__)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
def _opened(database: int, _error: int | None, _routines: int | None) -> int:
    dropped: int = _library.sqlite3_drop_modules(ctypes.c_void_p(database), None)
    return dropped


_library.sqlite3_auto_extension(_opened)
