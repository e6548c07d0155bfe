"""The server as a process of its own; ends with SIGTERM or when its standard input is closed (``--until-eof``)."""

import argparse
import json
import sys
import threading
from pathlib import Path

from tests.scripted_model.server import ScriptedModel


def main() -> None:
    """Print the base URL on a line and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.scripted_model", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=int, default=0)
    parser.add_argument("--faults", type=_json, default={}, help="a FaultPlan as JSON, or the path of a file with it")
    parser.add_argument("--script", type=_json, default={}, help="answers as JSON, or the path of a file with them")
    parser.add_argument("--behaviour", type=_json, default={}, help="any field of Behaviour, as JSON")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input is closed")
    given = parser.parse_args()
    behaviour = {"latency_ms": given.latency_ms, "faults": given.faults, "script": given.script, **given.behaviour}
    with ScriptedModel(port=given.port, **behaviour) as model:
        print(model.url, flush=True)  # noqa: T201 it is what the starter waits for
        if given.until_eof:
            sys.stdin.read()
        else:
            threading.Event().wait()


def _json(text: str) -> object:
    return json.loads(text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
