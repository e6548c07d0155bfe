"""``python -m tests.recording record FILE`` and ``compare FILE``.

``--command`` names the ``graphiti-pkm`` of another version; by default it is the one of this Python.
"""

import argparse
import asyncio
import difflib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from tests.recording.calls import play
from tests.recording.normalise import Normaliser
from tests.recording.server import Record, Recording

OWN = Path(sys.executable).with_name("graphiti-pkm")


async def recorded(command: Path = OWN, limit: int | None = None) -> list[Record]:
    """The calls played in a fresh directory."""
    with tempfile.TemporaryDirectory(prefix="pkm-") as directory:
        tree = command.parents[2]
        places = {directory: "<directory>", str(tree): "<tree>", str(Path.home()): "<home>"}
        recording = Recording(command, Path(directory) / "data", Normaliser(places), limit)
        await play(recording)
    return recording.records


def differences(before: Sequence[Record | None], after: Sequence[Record | None]) -> Iterator[str]:
    """One text for each call that is answered differently."""
    for number, (one, other) in enumerate(zip_longest(before, after), 1):
        if one != other:
            lines = [json.dumps(record, indent=1, ensure_ascii=False).splitlines() for record in (one, other)]
            named = one or other or {}
            changed = "\n".join(difflib.unified_diff(*lines, "before", "after", n=1, lineterm=""))
            yield f"call {number}, {named['transport']}, {named['call']}:\n{changed}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recording", description=__doc__)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--command", type=Path, default=OWN)
    options = parser.parse_args()
    records = asyncio.run(recorded(options.command.absolute()))
    if options.action == "record":
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        options.file.write_text("".join(lines), encoding="utf-8")
        print(f"{len(records)} calls recorded")  # noqa: T201
        return 0
    before = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    found = list(differences(before, records))
    print(*found, f"{len(found)} of {max(len(before), len(records))} calls differ", sep="\n\n")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
