"""A command of ours that is killed at a step of its own: ``python -m tests.killed WHEN STEP TIMES COMMAND…``.

The step is a function of the package, as ``storage.graph.parts.writing:Writer.apply``; WHEN is ``before`` or ``after``
the call with that number, or ``stop`` to stand still after it. SIGKILL leaves no chance to tidy anything up.
"""

import functools
import importlib
import inspect
import itertools
import signal
import sys
import threading
from typing import Any


def die_at(when: str, step: str, times: int) -> None:
    """Put the end of this process into a function of the package."""
    module, _, path = step.partition(":")
    owner: Any = importlib.import_module(f"graphiti_pkm.{module}")
    *outer, name = path.split(".")
    owner = functools.reduce(getattr, outer, owner)
    function = getattr(owner, name)
    calls = itertools.count(1)

    def die() -> None:
        # To this very thread: another one could take a signal to the process, and this one would go on for a moment.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP if when == "stop" else signal.SIGKILL)

    @functools.wraps(function)
    async def asynchronous(*given: Any, **named: Any) -> Any:
        is_last = next(calls) == times
        if is_last and when == "before":
            die()
        result = await function(*given, **named)
        if is_last:
            die()
        return result

    @functools.wraps(function)
    def plain(*given: Any, **named: Any) -> Any:
        is_last = next(calls) == times
        if is_last and when == "before":
            die()
        result = function(*given, **named)
        if is_last:
            die()
        return result

    setattr(owner, name, asynchronous if inspect.iscoroutinefunction(function) else plain)


if __name__ == "__main__":
    from graphiti_pkm.cli.main import main

    die_at(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.exit(main(sys.argv[4:]))
