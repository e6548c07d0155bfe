"""The bodies that such a server sends, in the form of each endpoint."""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal

from tests.scripted_model import embeddings
from tests.scripted_model.faults import Fault
from tests.scripted_model.model_request import Json, ModelRequest

Finish = Literal["stop", "length", "content_filter"]
Ending = Literal["whole", "half", "none"]


@dataclass(frozen=True)
class Reply:
    """What is sent."""

    status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)
    sends: Ending = "whole"
    """Of the body: all, half before the connection is closed, or nothing for ever."""


@dataclass(frozen=True)
class Said:
    """What the model says, before it is put in the form of an endpoint."""

    text: str | None
    finish: Finish = "stop"
    refusal: str | None = None


def tokens(text: str) -> int:
    """Four characters a token, rounded up."""
    return math.ceil(len(text) / 4)


def _usage(request: ModelRequest, said: Said) -> tuple[int, int]:
    """Tokens of the prompt and of the answer."""
    return tokens(request.prompt), tokens(said.text or said.refusal or "")


def spoken(request: ModelRequest, said: Said) -> Reply:
    """An answer in the form of the endpoint that was asked."""
    return Reply(200, _response(request, said) if request.endpoint == "responses" else _completion(request, said))


def _completion(request: ModelRequest, said: Said) -> Json:
    prompt, answer = _usage(request, said)
    message = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    return {
        "id": f"chatcmpl-{request.hash[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "finish_reason": said.finish, "logprobs": None, "message": message}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
    }


def _response(request: ModelRequest, said: Said) -> Json:
    prompt, answer = _usage(request, said)
    part: Json = {"type": "output_text", "text": said.text or "", "annotations": []}
    if said.refusal is not None:
        part = {"type": "refusal", "refusal": said.refusal}
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(said.finish)
    status = "incomplete" if reason else "completed"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": [part]}
    return {
        "id": f"resp_{request.hash[:12]}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "model": request.model,
        "output": [message] if said.text or said.refusal else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": prompt,
            "output_tokens": answer,
            "total_tokens": prompt + answer,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def embedded(request: ModelRequest, default_dimensions: int) -> Reply:
    """A vector for each text."""
    texts = embeddings.texts_of(request)
    dimensions = int(request.body.get("dimensions") or default_dimensions)
    form = str(request.body.get("encoding_format") or "float")
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": embeddings.encoded(embeddings.vector(text, dimensions), form),
        }
        for index, text in enumerate(texts)
    ]
    prompt = sum(map(tokens, texts))
    used = {"prompt_tokens": prompt, "total_tokens": prompt}
    return Reply(200, {"object": "list", "model": request.model, "data": data, "usage": used})


def models(names: tuple[str, ...]) -> Reply:
    """The list of the models that are there."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in names]
    return Reply(200, {"object": "list", "data": data})


def refused(
    status: int, message: str, *, code: str, headers: dict[str, str] | None = None, param: str | None = None
) -> Reply:
    """An error, in the form that OpenAI gives it."""
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status)
    kind = kind or ("server_error" if status >= 500 else "invalid_request_error")
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Reply(status, {"error": error}, headers or {})


def failed(fault: Fault, request: ModelRequest, key: str) -> Reply | None:
    """The error that a fault answers with; None for a fault that answers something else."""
    quoted = repr(request.subject[:80])
    wait = {"retry-after": _retry_after(fault)}
    errors = {
        "rate_limited": refused(429, "Rate limit reached.", code="rate_limit_exceeded", headers=wait),
        "rate_limited_date": refused(429, "Rate limit reached.", code="rate_limit_exceeded", headers=wait),
        "server_error": refused(500, "The server had an error.", code="server_error"),
        "unavailable": refused(503, "The engine is currently overloaded.", code="overloaded", headers=wait),
        "unauthorized": unauthorized(key),
        "unknown_model": unknown_model(request.model),
        "too_long": refused(400, f"The context is too small for {quoted} ...", code="context_length_exceeded"),
    }
    return errors.get(fault.kind)


def _retry_after(fault: Fault) -> str:
    if fault.kind != "rate_limited_date":
        return f"{fault.seconds:g}"
    then = datetime.now(UTC) + timedelta(seconds=fault.seconds)
    return format_datetime(then.replace(microsecond=0), usegmt=True)


def unauthorized(key: str) -> Reply:
    """Quotes the key in full: whoever shows this message leaks it."""
    return refused(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def unknown_model(name: str) -> Reply:
    return refused(404, f"The model `{name}` does not exist or you do not have access to it.", code="model_not_found")


def script_error(message: str) -> Reply:
    """The script does not fit what was asked: a mistake in the test, not a fault of the model."""
    body = {"error": {"message": f"SCRIPT ERROR: {message}", "type": "script_error", "param": None, "code": None}}
    return Reply(500, body, {"x-should-retry": "false"})


def as_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
