"""A server of one wheel: real HTTP with ranges, and answers that fail as networks do."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WeightsServer:
    """Serves ``content``. ``breaks_after``: how many bytes each connection carries before it breaks."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.content_type = "application/octet-stream"
        self.status = 200
        self.breaks_after: int | None = None
        self.knows_ranges = True
        self.ranges: list[str | None] = []
        self.url = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """One request."""
        asked = request.headers.get("Range") if self.knows_ranges else None
        self.ranges.append(request.headers.get("Range"))
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = self.content[begin:]
        if begin >= len(self.content) and asked:
            request.send_response(416)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        request.send_response(206 if asked and self.status == 200 else self.status)
        request.send_header("Content-Type", self.content_type)
        request.send_header("Content-Length", str(len(rest)))
        request.end_headers()
        if self.breaks_after is not None and len(rest) > self.breaks_after:
            request.wfile.write(rest[: self.breaks_after])
            request.close_connection = True
            return
        request.wfile.write(rest)


@contextmanager
def serving_weights(content: bytes) -> Iterator[WeightsServer]:
    """A server on a free port of this machine."""
    server = WeightsServer(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}/weights.whl"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
