"""Entry point of the bundle."""

import sys

from graphiti_pkm.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["serve"]))
