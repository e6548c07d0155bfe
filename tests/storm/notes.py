"""What a client keeps of its own doings, each line on disk before it goes on."""

import json
import os
from pathlib import Path
from time import time
from typing import Any


class Diary:
    """Append-only files of one slot; whoever replaces a killed client goes on in them."""

    def __init__(self, directory: Path, slot: str) -> None:
        self._directory = directory
        self._slot = slot

    def tell(self, kind: str, line: dict[str, Any]) -> None:
        """Keep a line; on disk when this returns."""
        with self._path(kind).open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "at": time()}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """Whole lines; one that a kill cut off was never told."""
        path = self._path(kind)
        if not path.exists():
            return []
        whole = path.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in whole]

    def unsettled(self) -> dict[str, Any] | None:
        """What was sent last, if no answer to it is known."""
        sent = self.lines("sent")
        known = {line["uuid"] for kind in ("acknowledged", "pending") for line in self.lines(kind)}
        return sent[-1] if sent and sent[-1]["uuid"] not in known else None

    def end_cut_line(self) -> None:
        """Drop the half line a killed writer may have left, so that the next one starts on its own."""
        for kind in ("sent", "acknowledged", "pending"):
            path = self._path(kind)
            if path.exists() and not (text := path.read_bytes()).endswith(b"\n"):
                path.write_bytes(text[: text.rfind(b"\n") + 1])

    def _path(self, kind: str) -> Path:
        return self._directory / f"{self._slot}.{kind}"
