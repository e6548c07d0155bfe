"""A small embedding service of a test's own: real HTTP, answers as told, and remembers what it was asked."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.fakes import FakeEmbedder


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


class Reply(NamedTuple):
    """What is answered instead of vectors."""

    status: int
    body: object = None
    headers: Mapping[str, str] = {}


Rule = Callable[[Asked], Reply | None]
"""What to answer instead, None for vectors."""


class EmbeddingService:
    """Texts that share words have near vectors; ``dimension`` is what a model gives that is asked for none."""

    def __init__(self, dimension: int = 24) -> None:
        self.dimension = dimension
        self.asked: list[Asked] = []
        self._changed = threading.Condition()
        self.rule: Rule = lambda _asked: None
        self.held = threading.Event()
        """Cleared: answers wait until it is set."""
        self.held.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All that were sent, in order."""
        return [text for asked in self.asked for text in asked.texts]

    async def was_asked(self, times: int) -> None:
        """Returns once so many requests have come."""

        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(lambda: len(self.asked) >= times, 20)

        assert await asyncio.to_thread(wait)

    def close(self) -> None:
        """Refuses connections from then on."""
        self.held.set()
        self._server.shutdown()
        self._server.server_close()

    def vectors(self, asked: Asked) -> list[dict[str, Any]]:
        """The right answer."""
        embedder = FakeEmbedder(asked.body.get("dimensions", self.dimension))
        return [
            {"object": "embedding", "index": place, "embedding": [5 * value for value in embedder._vector(text)]}
            for place, text in enumerate(asked.texts)
        ]

    def _answer(self, asked: Asked) -> Reply:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
        self.held.wait()
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": asked.body["model"], "usage": usage}
        return self.rule(asked) or Reply(200, {**answer, "data": self.vectors(asked)[::-1]})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = service._answer(Asked(self.path, headers, body))
                content = json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:  # whoever asked has gone
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        return Handler
