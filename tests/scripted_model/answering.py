"""What the server answers to one call: the script's answer, checked, and then what a fault makes of it."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from tests.scripted_model import replies
from tests.scripted_model.counting import Counter
from tests.scripted_model.faults import Fault, FaultPlan, Schedule
from tests.scripted_model.model_request import Json, ModelRequest
from tests.scripted_model.reader import read
from tests.scripted_model.replies import Reply, Said, refused, script_error

Script = dict[str, dict[str, Json]]
"""Answers by the schema's name and by a part of the text in question; the reader answers what is not in it."""

_SENDS = {"disconnect": "half", "hang": "none"}
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Behaviour(BaseModel):
    """How the server behaves; any of it can change while it runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    script: Script = Field(default_factory=dict)
    faults: FaultPlan = FaultPlan()
    latency_ms: int = 0
    supports_json_schema: bool = True
    """False: such requests are answered with 400, as by DeepSeek."""
    supports_json_object: bool = True
    supports_responses: bool = True
    """False: there is no such path, as with most servers that are not OpenAI's."""
    fenced: bool = False
    """Ignores the format: JSON stands in a Markdown fence."""
    thinks: bool = False
    """Its thoughts, with braces in them, stand before the answer."""
    tells_usage: bool = True
    is_plain: bool = False
    """Leaves out ``refusal`` and adds fields of its own, as servers that are not OpenAI's do."""
    refused_fields: tuple[str, ...] = ()
    """Requests with one of these are answered with 400, as OpenAI's newer models do with ``max_tokens``."""
    models: tuple[str, ...] = ()
    """The models that are there; none named: any."""
    api_key: str | None = None
    """The only key that is let in."""
    dimensions: int = 64
    """Of embeddings, unless the request says how many."""


class ScriptMisfit(Exception):
    """The script's answer does not fit the request's schema."""


class Answering:
    """Answers calls from any thread."""

    def __init__(self, behaviour: Behaviour, wait: Callable[[float], object]) -> None:
        """``wait`` passes seconds, or fewer if the server closes."""
        self.behaviour = behaviour
        self.changed = threading.Condition()
        self.counter = Counter()
        self._wait = wait
        self._schedule = Schedule(behaviour.faults)

    def change(self, **fields: Any) -> None:
        """Replace fields of the behaviour; a plan of faults that is set anew counts its calls from 1."""
        given = {name: getattr(self.behaviour, name) for name in Behaviour.model_fields}
        with self.changed:
            self.behaviour = Behaviour.model_validate({**given, **fields})
            if "faults" in fields:
                self._schedule = Schedule(self.behaviour.faults)

    def answer(self, request: ModelRequest, authorization: str | None) -> Reply:
        """The reply to one call, late if it has to be; counts it."""
        with self.changed:
            behaviour = self.behaviour
            self.counter.came(request, authorization)
            self.changed.notify_all()
        fault = None
        reply = _not_served(request, authorization, behaviour)
        self._wait(behaviour.latency_ms / 1000)
        if reply is None:
            with self.changed:
                fault = self._schedule.next(request)
            if fault is not None and fault.kind == "delay":
                self._wait(fault.seconds)
            reply = self._faulty(request, fault, authorization or "", behaviour)
        with self.changed:
            self.counter.went(request, reply, fault)
            self.changed.notify_all()
        return reply

    def _faulty(self, request: ModelRequest, fault: Fault | None, authorization: str, behaviour: Behaviour) -> Reply:
        key = authorization.removeprefix("Bearer ")
        if fault is not None and (error := replies.failed(fault, request, key)):
            return error
        try:
            if request.endpoint == "embeddings":
                reply = _spoilt_vectors(replies.embedded(request, behaviour.dimensions), fault)
            else:
                said = _limited(_spoilt(_said(request, behaviour), request, fault), request)
                reply = _in_manner(behaviour, replies.spoken(request, said))
        except Exception as error:  # noqa: BLE001 whatever is wrong with a script has to be seen
            message = f"{request.schema_name}: {type(error).__name__}: {error}"
            self.note_error(message)
            return script_error(message)
        sends = _SENDS.get(fault.kind if fault else "", "whole")
        return Reply(reply.status, reply.body, reply.headers, sends)  # type: ignore[arg-type]

    def note_error(self, message: str) -> None:
        """Remember a mistake of the script, or of this server."""
        with self.changed:
            self.counter.stats.script_errors.append(message)


def _not_served(request: ModelRequest, authorization: str | None, behaviour: Behaviour) -> Reply | None:
    """The error for what this server does not let in or does not know."""
    if (key := behaviour.api_key) is not None and authorization != f"Bearer {key}":
        return replies.unauthorized((authorization or "").removeprefix("Bearer "))
    if behaviour.models and request.model not in behaviour.models:
        return replies.unknown_model(request.model)
    if request.endpoint == "responses" and not behaviour.supports_responses:
        return refused(404, "Not Found", code="not_found")
    return _not_taken(request, behaviour)


def _not_taken(request: ModelRequest, behaviour: Behaviour) -> Reply | None:
    """The error for a request that this server does not understand."""
    if request.body.get("stream"):
        return refused(400, "This server does not stream.", code="invalid_request_error")
    for name in behaviour.refused_fields:
        if name in request.body:
            return refused(400, f"Unsupported parameter: {name}.", code="unsupported_parameter", param=name)
    supported = {"json_schema": behaviour.supports_json_schema, "json_object": behaviour.supports_json_object}
    if not supported.get(request.mode, True):
        message = f"This response_format type ({request.mode}) is unavailable now."
        return refused(400, message, code="invalid_request_error")
    return None


def _said(request: ModelRequest, behaviour: Behaviour) -> Said:
    if request.mode == "text":
        return Said("OK")
    scripted = behaviour.script.get(request.schema_name, {})
    answers = [answer for part, answer in scripted.items() if part in request.subject]
    answer = answers[0] if answers else read(request)
    if request.schema is not None:
        _check(request.schema, answer)
    text = replies.as_json(answer)
    text = f"```json\n{text}\n```" if behaviour.fenced else text
    return Said(f'<think>\nPerhaps {{"a": []}}? No.\n</think>\n{text}' if behaviour.thinks else text)


def _in_manner(behaviour: Behaviour, reply: Reply) -> Reply:
    """What other servers than OpenAI's leave out, and what they add."""
    body = dict(reply.body)
    if not behaviour.tells_usage:
        body.pop("usage", None)
    if behaviour.is_plain:
        message = {"role": "assistant", "content": body["choices"][0]["message"]["content"], "reasoning": None}
        body["choices"] = [{"index": 0, "finish_reason": body["choices"][0]["finish_reason"], "message": message}]
        body |= {"provider": "script", "stats": {"tokens_per_second": 51.4}}
    return replace(reply, body=body)


def _check(schema: Json, answer: Json) -> None:
    """Raises ScriptMisfit."""
    misfit = next(_validator(replies.as_json(schema)).iter_errors(answer), None)
    if misfit is not None:
        raise ScriptMisfit(f"{misfit.json_path}: {misfit.message}")


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # noqa: PLC0415 not at every start

    return Draft202012Validator(json.loads(schema))


def _spoilt(said: Said, request: ModelRequest, fault: Fault | None) -> Said:
    """What a fault makes of the model's answer."""
    text = said.text or ""
    quoted = repr(request.subject[:80])
    spoilt = {
        "refusal": Said(None, refusal=f"I'm sorry, I cannot help with that: {quoted}."),
        "content_filter": Said(None, finish="content_filter"),
        "truncated": Said(text[: len(text) // 2], finish="length"),
        "wrong_shape": Said('{"unexpected": {"shape": [1, 2, 3]}}'),
        "not_json": Said(f"Certainly! Let me think about {quoted} ..."),
        "empty": Said(""),
    }
    return spoilt.get(fault.kind, said) if fault else said


def _limited(said: Said, request: ModelRequest) -> Said:
    """Cut where the request's own limit of tokens is."""
    limits = [int(request.body[name]) for name in _LIMITS if request.body.get(name)]
    if said.text is None or not limits or replies.tokens(said.text) <= min(limits):
        return said
    return Said(said.text[: 4 * min(limits)], finish="length")


def _spoilt_vectors(reply: Reply, fault: Fault | None) -> Reply:
    """What a fault makes of embeddings: too few of them, or something else in their place."""
    data = reply.body["data"]
    match fault.kind if fault else None:
        case "refusal" | "content_filter":
            return refused(400, "The content was flagged.", code="content_policy_violation")
        case "truncated":
            return Reply(200, {**reply.body, "data": data[:-1]})
        case "empty":
            return Reply(200, {**reply.body, "data": []})
        case "wrong_shape" | "not_json":
            return Reply(200, {"unexpected": {"shape": [1, 2, 3]}})
        case _:
            return reply
