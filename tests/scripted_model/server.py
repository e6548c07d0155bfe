"""The server itself: real HTTP on a port of its own, a thread a connection."""

import json
import select
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from tests.scripted_model import replies
from tests.scripted_model.answering import Answering, Behaviour
from tests.scripted_model.counting import Stats
from tests.scripted_model.model_request import Endpoint, Json, ModelRequest
from tests.scripted_model.replies import Reply, refused

_ENDPOINTS: dict[str, Endpoint] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/embeddings": "embeddings",
}
_POLL_SECONDS = 0.01


class ScriptedModel:
    """An OpenAI-compatible server that answers from a script; see the package for what it can do."""

    def __init__(self, *, port: int = 0, **behaviour: Any) -> None:
        """``behaviour``: the fields of ``Behaviour``."""
        self._closing = threading.Event()
        self._released = threading.Event()
        self._answering = Answering(Behaviour.model_validate(behaviour), self._closing.wait)
        self._http = _HttpServer(self, port)
        self._thread = threading.Thread(target=self._serve, name="scripted-model", daemon=True)

    @property
    def root(self) -> str:
        """Where ``/_stats`` and ``/_control`` are."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{self.root}/v1"

    @property
    def stats(self) -> Stats:
        """A copy of the counts."""
        with self._answering.changed:
            return self._answering.counter.stats.model_copy(deep=True)

    @property
    def script_errors(self) -> list[str]:
        """Where the script did not fit what was asked: mistakes of the test."""
        return self.stats.script_errors

    @property
    def requests(self) -> list[ModelRequest]:
        """The latest calls, oldest first."""
        with self._answering.changed:
            return list(self._answering.counter.requests)

    @property
    def is_closing(self) -> bool:
        """Nothing is answered any more, not even what was asked before."""
        return self._closing.is_set()

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop at once; every connection is cut, as when a server dies."""
        self._closing.set()
        self._released.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.cut_connections()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def change(self, **behaviour: Any) -> None:
        """Change how it behaves from the next call on: fields of ``Behaviour``."""
        self._answering.change(**behaviour)

    def forget_counts(self) -> None:
        with self._answering.changed:
            self._answering.counter.forget()

    def release(self) -> None:
        """Cut every call that hangs, and each that will."""
        self._released.set()

    def wait_for(self, reached: Callable[[Stats], bool], seconds: float = 20.0) -> None:
        """Block until the counts are such. Raises TimeoutError."""
        with self._answering.changed:
            if not self._answering.changed.wait_for(lambda: reached(self._answering.counter.stats), seconds):
                raise TimeoutError("the scripted model was not asked as expected")

    def answer(self, path: str, authorization: str | None, body: bytes) -> Reply:
        """The reply to a POST."""
        try:
            sent: Json = json.loads(body or b"{}")
        except ValueError:
            return refused(400, "The body is not JSON.", code="invalid_json")
        if path == "/_control":
            return self._control(sent)
        endpoint = _ENDPOINTS.get(path)
        if endpoint is None:
            return refused(404, f"Unknown path {path}.", code="not_found")
        return self._answering.answer(ModelRequest(endpoint, sent), authorization)

    def shown(self, path: str) -> Reply:
        """The reply to a GET."""
        if path == "/_stats":
            return Reply(200, self.stats.model_dump(mode="json"))
        if path == "/v1/models":
            return replies.models(self._answering.behaviour.models or ("scripted",))
        return refused(404, f"Unknown path {path}.", code="not_found")

    def note_error(self, message: str) -> None:
        self._answering.note_error(message)

    def entered(self) -> None:
        with self._answering.changed:
            self._answering.counter.entered()
            self._answering.changed.notify_all()

    def left(self) -> None:
        with self._answering.changed:
            self._answering.counter.left()
            self._answering.changed.notify_all()

    def wait_for_release(self, connection: socket.socket) -> None:
        """Until the hanging call is released or its client has gone."""
        while not self._released.wait(_POLL_SECONDS):
            if select.select([connection], [], [], 0)[0]:
                return

    def _control(self, sent: Json) -> Reply:
        """Fields of the behaviour, and ``{"release": true}``, ``{"forget_counts": true}``."""
        if sent.pop("release", False):
            self.release()
        if sent.pop("forget_counts", False):
            self.forget_counts()
        try:
            self.change(**sent)
        except ValueError as error:
            return refused(400, str(error), code="invalid_control")
        return Reply(200, {"changed": sorted(sent)})

    def _serve(self) -> None:
        self._http.serve_forever(_POLL_SECONDS)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, model: ScriptedModel, port: int) -> None:
        self.model = model
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        """Without looking up the name of the host, which may take seconds."""
        socket.socket.setsockopt(self.socket, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 the signature is the base class's
        """A client that goes away is no error here; a mistake of this server is."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.model.note_error(f"{type(error).__name__}: {error}")

    def cut_connections(self) -> None:
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _HttpServer

    def do_POST(self) -> None:
        model = self.server.model
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = urlsplit(self.path).path
        if path not in _ENDPOINTS:
            self._send(model.answer(path, None, body))
            return
        model.entered()
        try:
            self._send(model.answer(path, self.headers.get("authorization"), body))
        finally:
            model.left()

    def do_GET(self) -> None:
        self._send(self.server.model.shown(urlsplit(self.path).path))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the standard error is the tests'."""

    def _send(self, reply: Reply) -> None:
        if self.server.model.is_closing:
            self.close_connection = True
            return
        body = json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        if reply.sends == "whole":
            self.end_headers()
            self.wfile.write(body)
            return
        self.close_connection = True
        self.end_headers()
        if reply.sends == "half":
            self.wfile.write(body[: len(body) // 2])
        else:
            self.server.model.wait_for_release(self.connection)
