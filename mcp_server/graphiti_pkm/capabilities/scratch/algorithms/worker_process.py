"""The worker process: ``python -m graphiti_pkm.capabilities.scratch.algorithms.worker_process PARENT BYTES``.

It serves one request after another from its standard input. It exits when its parent dies or closes the pipe, and after
some time without work. Only frames reach its standard output, whatever a library prints.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from graphiti_pkm.capabilities.scratch.algorithms.jobs import LENGTH, Request, framed, function_of, unpacked
from graphiti_pkm.core.operating_system import bound_memory, end_with, ended_when_idle
from graphiti_pkm.errors import InvalidInput

IDLE_SECONDS = 600.0


def main(parent: int, most_bytes: int) -> None:
    """Serve one parent; ``most_bytes`` limits memory beyond what the process uses before its first request."""
    requests, answers = os.fdopen(0, "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    end_with(parent)
    bound_memory(most_bytes)
    _say(answers, {"ready": True})
    while True:
        with ended_when_idle(requests, IDLE_SECONDS):
            head = _frame(requests)
        arrays = None if head is None else _frame(requests)
        if head is None or arrays is None:
            return
        _say(answers, _run(unpacked(head, arrays), answers))


def _run(request: Request, answers: BinaryIO) -> dict[str, Any]:
    """Send each result; returns the final message, which says why the job ended."""
    late = time.monotonic() + request.seconds
    try:
        views = () if request.view is None else (request.view,)
        for found, value in enumerate(function_of(request.job)(*views, **request.arguments)):
            if found == request.most:
                return {"end": "most"}
            _say(answers, {"find": value})
            if time.monotonic() > late:
                return {"end": "late"}
    except InvalidInput as error:
        return {"end": "refused", "message": error.message}
    except MemoryError:
        return {"end": "memory"}
    except Exception as error:  # noqa: BLE001 a process boundary: only the type is reported, the text may hold content
        return {"end": "failed", "kind": type(error).__name__}
    return {"end": "whole"}


def _say(answers: BinaryIO, word: dict[str, Any]) -> None:
    left = memoryview(framed(json.dumps(word).encode()))
    while left:
        left = left[answers.write(left) :]


def _frame(requests: BinaryIO) -> bytes | None:
    """None if the parent has closed the pipe."""
    length = _exactly(requests, LENGTH.size)
    return None if length is None else _exactly(requests, LENGTH.unpack(length)[0])


def _exactly(requests: BinaryIO, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = requests.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
