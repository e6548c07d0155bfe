"""One-sentence answers to HTTP requests that are not JSON-RPC messages.

The SDK's endpoint of the older protocol answers them with pydantic's text: eleven complaints that quote the input.
"""

import json
from http import HTTPStatus

from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PLAIN = {
    INVALID_PARAMS: (INVALID_REQUEST, "The body must be one JSON-RPC request or notification."),
    PARSE_ERROR: (PARSE_ERROR, "The body is not JSON, or it holds half a surrogate pair."),
}
"""Replacements, by code, for errors that belong to no request."""
_NO_IDENTITY = "The id of a request must be a text or a whole number. Nothing was done; send it with such an id."


class PlainlyRefused:
    """Replaces the SDK's answers to such requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        began: Message | None = None
        parts: list[bytes] = []

        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                parts.append(message.get("body", b""))
            return message

        async def sending(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                is_refused = message["status"] == HTTPStatus.BAD_REQUEST
                if is_refused or (message["status"] == HTTPStatus.ACCEPTED and _has_odd_id(b"".join(parts))):
                    began = message
                    return
            if began is None:
                await send(message)
                return
            answer, began = began, None
            if answer["status"] == HTTPStatus.ACCEPTED:
                await _error(INVALID_REQUEST, _NO_IDENTITY)(scope, receive, send)
                return
            refusal = None if message.get("more_body") else _plain(message.get("body", b""))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            await send(answer)
            await send(message)

        await self._app(scope, receiving, sending)


def _plain(body: bytes) -> JSONResponse | None:
    """The replacement for an answer about a message that could not be parsed; None for other answers."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("id") is not None or not isinstance(found.get("error"), dict):
        return None
    if (plain := _PLAIN.get(found["error"].get("code"))) is None:
        return None
    return _error(*plain)


def _has_odd_id(body: bytes) -> bool:
    """Whether it is a request whose id is neither text nor a whole number: the SDK takes it for a notification."""
    try:
        found = json.loads(body)
    except ValueError:
        return False
    if not isinstance(found, dict) or "id" not in found:
        return False
    return "method" in found and (isinstance(found["id"], bool) or not isinstance(found["id"], str | int))


def _error(code: int, message: str) -> JSONResponse:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return JSONResponse(error, HTTPStatus.BAD_REQUEST)
