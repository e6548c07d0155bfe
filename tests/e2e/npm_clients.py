"""Other people's MCP clients from npm: installed once into the user's cache, driven line by line."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs
import pytest

SOURCES = Path(__file__).with_name("node")
OLDEST_NODE = (22, 19)
"""What the Inspector needs."""


def installed() -> Path:
    """A directory with the clients in it; skips without Node, npm or a registry to install from."""
    if not node_is_new_enough():
        pytest.skip("needs Node 22.19 or newer and npm on the PATH")
    wanted = hashlib.sha256((SOURCES / "package.json").read_bytes()).hexdigest()[:12]
    cache = Path(platformdirs.user_cache_dir("graphiti-pkm-tests")) / f"node-{wanted}"
    if not cache.is_dir():
        _install(cache)
    for script in SOURCES.glob("*.mjs"):
        shutil.copy(script, cache)
    return cache


def _install(cache: Path) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent) as directory:
        work = Path(directory) / "node"
        shutil.copytree(SOURCES, work, ignore=shutil.ignore_patterns("node_modules"))
        quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
        done = subprocess.run(
            ["npm", "install", *quiet], cwd=work, capture_output=True, text=True, check=False, timeout=240
        )
        assert done.returncode == 0, done.stderr[-2000:]
        try:
            work.rename(cache)  # whole or not at all
        except OSError:
            assert cache.is_dir()  # another run was quicker


def node_is_new_enough() -> bool:
    if shutil.which("node") is None or shutil.which("npm") is None:
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, *_ = version.lstrip("v").split(".")
    return (int(major), int(minor)) >= OLDEST_NODE


class NpmClient:
    """npm's SDK client as LibreChat uses it: no capabilities, and of each result the text content only."""

    script = "bridge.mjs"

    def __init__(self, node: Path, *target: str, environment: Mapping[str, str] | None = None) -> None:
        """``target`` is ``stdio`` and a command, or ``http`` and an address."""
        self._process = subprocess.Popen(
            ["node", self.script, *target],
            cwd=node,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.hello = self._heard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def tools(self) -> list[dict[str, Any]]:
        """What tools/list answers."""
        tools: list[dict[str, Any]] = self._ask({"method": "tools/list"})["tools"]
        return tools

    def call(self, tool: str, **arguments: object) -> str:
        """The text of an answer that is no error."""
        answer = self.answer(tool, **arguments)
        assert answer.get("isError") is False, answer
        return str(answer["text"])

    def answer(self, tool: str, **arguments: object) -> dict[str, Any]:
        """An answer, error or not."""
        return self._ask({"method": "tools/call", "name": tool, "arguments": arguments})

    def refused(self, tool: str, **arguments: object) -> str:
        """The text of an answer that is an error, as a model reads it."""
        answer = self.answer(tool, **arguments)
        assert answer.get("isError") is True, answer
        return str(answer["text"])

    def _ask(self, request: Mapping[str, object]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._heard()

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            _, errors = self._process.communicate()
            raise AssertionError(f"the npm client ended: {errors[-2000:]}")
        heard: dict[str, Any] = json.loads(line)
        return heard


class LibreChat(NpmClient):
    """The same client, set up as LibreChat does it from its configuration, for the user of each call."""

    script = "librechat.mjs"
    patience_ms = 5_000
    """How long it waits for an answer before it gives up."""

    def __init__(self, node: Path, configuration: Path, origin: str, secret: str, user: str | None) -> None:
        """``origin`` is where the server of the configuration is found here."""
        self.user = user
        self.took: list[tuple[int, str]] = []
        """Milliseconds of each call, with the tool's name."""
        given = {"MEMORY_TOKEN": secret}
        super().__init__(node, str(configuration), origin, str(self.patience_ms), environment=given)

    def reconnect(self, *, ends: bool) -> dict[str, Any]:
        """A new session; ``ends``: the one before is ended, not only left."""
        return self._ask({"method": "reconnect", "ends": ends})

    def _ask(self, request: Mapping[str, object]) -> dict[str, Any]:
        answer = super()._ask({**request, "user": self.user})
        if "ms" in answer:
            self.took.append((answer["ms"], str(request["name"])))
        return answer
