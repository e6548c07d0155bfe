"""Shutdown over HTTP: new calls are asked to retry, and open streams are closed."""

import asyncio

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphiti_pkm.server.transports.draining import Draining

STOPPING = "The server is stopping. Nothing was done; call again in a moment."


_MOST_MESSAGES = 1_000
"""Maximum number of messages that are read of an unwanted body."""


class Drained:
    """Wraps an ASGI application: counts its calls, refuses them while draining, and closes open streams at the end."""

    def __init__(self, app: ASGIApp, draining: Draining) -> None:
        self._app = app
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._draining.begun.is_set():
            await _read(receive)
            refusal = JSONResponse(
                {"error": STOPPING}, status_code=503, headers={"Retry-After": "1", "Connection": "close"}
            )
            await refusal(scope, receive, send)
        elif scope["method"] == "GET":
            await self._stand(scope, receive, send)
        else:
            call = self._draining.start()
            try:
                await self._app(scope, self._until_over(receive), self._closing(send))
            finally:
                call.end()

    async def _stand(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream of events, which otherwise only its client would end."""
        is_open = False

        async def watched(message: Message) -> None:
            nonlocal is_open
            is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        await self._app(scope, self._until_over(receive), watched)
        if is_open and self._draining.over.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _until_over(self, receive: Receive) -> Receive:
        """``receive`` that reports a disconnect once the server must end."""

        async def received() -> Message:
            if self._draining.over.is_set():
                return {"type": "http.disconnect"}
            message, over = asyncio.ensure_future(receive()), asyncio.ensure_future(self._draining.over.wait())
            try:
                await asyncio.wait({message, over}, return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "http.disconnect"}
            finally:
                message.cancel()
                over.cancel()

        return received

    def _closing(self, send: Send) -> Send:
        """``send`` that announces, while draining, that the connection closes, so that the client reuses it no more."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and self._draining.begun.is_set():
                message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
            await send(message)

        return sent


async def _read(receive: Receive) -> None:
    """Read the whole request: closing a connection with unread data may discard the answer."""
    for _ in range(_MOST_MESSAGES):
        if not (await receive()).get("more_body"):
            return
