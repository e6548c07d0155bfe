"""``uv run mcp-neo4j-memory …`` as their fixtures start it, with our server in its place."""

import os
import sys
import tempfile
from pathlib import Path

OF_THEIRS = ("--db-url", "--username", "--password", "--database", "--allow-origins")


def main() -> None:
    ours, arguments = [], iter(sys.argv[3:])
    for argument in arguments:
        if argument in OF_THEIRS:
            next(arguments)
        else:
            ours.append(argument)
    command = os.environ["OUTSIDE_COMMAND"]
    data = tempfile.mkdtemp(dir=Path(os.environ["OUTSIDE_DATA"]).parent)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    os.execve(command, [command, "serve", "--toolsets", "compat", "--data-dir", data, *ours], environment)  # noqa: S606


if __name__ == "__main__":
    main()
