"""The scripted model as a process of its own, watched and changed over HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
FAULTS = {"scheduled": [{"kind": "server_error", "calls": [1], "schema_name": "text"}]}
SCRIPT = {"Probe": {"hello": {"ok": False}}}
SCHEMA = {"type": "object", "title": "Probe", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@pytest.fixture
def process() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.scripted_model", "--until-eof", "--latency-ms", "1"]
    command += ["--faults", json.dumps(FAULTS), "--script", json.dumps(SCRIPT)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        yield running
        running.kill()


def ask(client: httpx.Client, **fields: Any) -> httpx.Response:
    messages = [{"role": "user", "content": "hello"}]
    return client.post("/v1/chat/completions", json={"model": "m", "messages": messages, **fields})


def test_it_prints_its_address_answers_is_watched_and_changed_and_ends_with_its_input(
    process: "subprocess.Popen[str]",
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.endswith("/v1")
    format_ = {"type": "json_schema", "json_schema": {"name": "Probe", "schema": SCHEMA}}
    with httpx.Client(base_url=url.removesuffix("/v1"), timeout=20) as client:
        assert [ask(client).status_code for _ in range(2)] == [500, 200]
        answer = ask(client, response_format=format_).json()
        assert answer["choices"][0]["message"]["content"] == '{"ok": false}'
        stats = client.get("/_stats").json()
        assert (stats["calls"], stats["statuses"]) == (3, {"500": 1, "200": 2})
        assert {name: tally["calls"] for name, tally in stats["by_schema"].items()} == {"text": 2, "Probe": 1}

        changed = {"script": {}, "api_key": "k", "forget_counts": True, "release": True}
        assert client.post("/_control", json=changed).status_code == 200
        assert ask(client, response_format=format_).status_code == 401
        assert client.get("/_stats").json()["calls"] == 1
        assert client.post("/_control", json={"unknown": 1}).status_code == 400
        client.headers["authorization"] = "Bearer k"
        answer = ask(client, response_format=format_).json()
        assert answer["choices"][0]["message"]["content"] == '{"ok": true}'
    process.stdin.close()
    assert process.wait(timeout=20) == 0
