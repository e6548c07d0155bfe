"""Run by the image's build: the weights have their sha256, compiled packages find their libraries, SQLite is recent."""

import importlib
import sys
import tempfile
from pathlib import Path

from graphiti_pkm.embedding.local.weight_files import find_weights
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.preflight import sqlite_check

with tempfile.TemporaryDirectory() as nowhere:  # the volume stays empty
    if find_weights(Settings(cache_dir=Path(nowhere))) is None:
        sys.exit("The weights of the embedding model are not in the image.")

for name in ("cryptography.hazmat.bindings._rust", "numpy", "rapidfuzz", "rustworkx"):
    importlib.import_module(name)

found = sqlite_check()
if not found.ok:
    sys.exit(f"{found.detail}.")
