"""``python -m graphiti_pkm``: the command, where the directory of scripts is not on the path."""

import sys

from graphiti_pkm.cli.main import started

if __name__ == "__main__":
    sys.exit(started())
