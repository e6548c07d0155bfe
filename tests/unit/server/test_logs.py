"""What the log's lines hold, whoever writes them: run in a process of its own, since logging is a process's."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

PLANTED = "planted-words-nobody-logs"
WRITERS = f"""
import asyncio, logging, sys, threading, warnings
from graphiti_pkm.server.observability.logging import configure_logging, request_id
configure_logging("info", sys.argv[1])
planted = {PLANTED!r}
for name in ("mcp.server.lowlevel", "neo4j.pool", "neo4j.io", "httpx2", "asyncio", "root"):
    logging.getLogger(name).warning("query failed: %s", planted)
logging.getLogger("neo4j").error("wrong arguments %d %d", planted)
logging.getLogger("graphiti_pkm.x").info("wrong arguments %d", 1, 2)
logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
warnings.warn(planted, RuntimeWarning)
with request_id() as request:
    fields = {{"tool": "t", "level": "forged", "own": request}}
    logging.getLogger("graphiti_pkm.x").info("begun", extra={{"event": fields}})
    try:
        raise KeyError(planted)
    except KeyError:
        logging.getLogger("graphiti_pkm.x").exception("two\\nlines")
logging.getLogger("graphiti_pkm.x").info("ended")
thread = threading.Thread(target=lambda: int(planted))
thread.start()
thread.join()
raise ValueError(planted)
"""


def logged(log_format: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WRITERS, log_format], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert PLANTED not in done.stderr
    return done.stderr.splitlines()


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in logged("json")]


def of(lines: list[dict[str, Any]], message: str) -> dict[str, Any]:
    return next(line for line in lines if line["message"] == message)


def test_every_line_is_an_object_with_time_level_logger_and_message(lines: list[dict[str, Any]]) -> None:
    assert len(lines) == 15
    for line in lines:
        assert datetime.fromisoformat(line["time"]).tzinfo == UTC
        assert line["level"] in {"info", "warning", "error"}
        assert line["logger"]
        assert line["message"]


def test_of_a_library_only_the_place_is_told_and_of_a_warning_its_kind(lines: list[dict[str, Any]]) -> None:
    told = {line["logger"]: line for line in lines if "where" in line}
    assert {"mcp.server.lowlevel", "neo4j.pool", "neo4j.io", "httpx2", "asyncio"} < set(told)
    assert told["neo4j.pool"]["where"] == "<string>:7"
    assert (told["py.warnings"]["message"], told["py.warnings"]["where"]) == ("RuntimeWarning", "<string>:11")
    assert of(lines, "Started server process [7]")["logger"] == "uvicorn.error"


def test_arguments_that_do_not_fit_end_nothing(lines: list[dict[str, Any]]) -> None:
    assert of(lines, "a message that does not fit its arguments")["logger"] == "graphiti_pkm.x"


def test_all_lines_of_one_request_share_its_id_and_no_others_do(lines: list[dict[str, Any]]) -> None:
    begun, failed, ended = of(lines, "begun"), of(lines, "two\nlines"), of(lines, "ended")
    assert begun["request"] == begun["own"] == failed["request"]
    assert "request" not in ended
    assert begun["level"] == "info"  # a field of an event takes the place of none of the line's own


def test_exceptions_are_types_and_places_also_of_those_that_nobody_caught(lines: list[dict[str, Any]]) -> None:
    assert of(lines, "two\nlines")["exception"][0] == "builtins.KeyError"
    uncaught = [line["exception"] for line in lines if line["message"] == "nobody caught an exception"]
    assert [trace[0] for trace in uncaught] == ["builtins.ValueError", "builtins.ValueError"]
    assert all(" in " in trace[-1] for trace in uncaught)


def test_as_text_each_record_is_one_line_with_its_trace_indented_below() -> None:
    lines = logged("text")
    heads = [line for line in lines if not line.startswith("    ")]
    assert len(heads) == 15
    assert all(datetime.fromisoformat(head.split()[0]).tzinfo == UTC for head in heads)
    begun = next(head for head in heads if " begun " in head)
    assert " info graphiti_pkm.x: begun request=" in begun
    assert " tool=t " in begun
    assert "    builtins.KeyError" in lines[lines.index(next(head for head in heads if "two lines" in head)) + 1]
