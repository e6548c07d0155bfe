"""A server process spoken to in plain lines of JSON: no client library's time is measured with it."""

import contextlib
import json
import subprocess
from collections.abc import Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

PROTOCOL = "2025-11-25"


class ToolFailed(Exception):
    """The server answered a call with an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class StdioServer:
    """Starts the process; leaving the context ends it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._numbers = count(1)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def close(self) -> None:
        """Let it end as a client does that has no more to ask."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def initialize(self) -> None:
        """The handshake of the older protocol, which today's clients speak."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            told = result.get("structuredContent") or {}
            raise ToolFailed(told.get("code", "unknown"), told.get("error", str(result["content"])))
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request."""
        number = next(self._numbers)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError(f"the server ended before it answered {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
