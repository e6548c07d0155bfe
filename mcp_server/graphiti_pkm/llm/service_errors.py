"""Translates failures of a model server into our errors: whether waiting helps, and what to do if not.

The server's own messages are never included, because they may quote the key or the text that was sent.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai

from graphiti_pkm.errors import ModelError, ModelRefused, ModelUnavailable

RETRY = "restart the server, then `graphiti-pkm queue retry --all`"
_BY_ITSELF = "it is tried again by itself"
_WAIT = frozenset({408, 409, 425, 429})
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_CONTENT = frozenset({"content_filter", "content_policy_violation"})
_OWN_FAULT = 500
_MOVED = ("it sends us to another address, where nothing is sent", "Set llm_base_url to the final address")
_REMEDIES = {
    **dict.fromkeys((301, 302, 303, 307, 308), _MOVED),
    401: ("it does not take the key", "Set GRAPHITI_PKM_LLM_API_KEY or llm_api_key_file to a key for llm_base_url"),
    402: ("no credit is left", "Pay there, or set another key or address"),
    403: ("it does not allow this", "Check what the key of GRAPHITI_PKM_LLM_API_KEY may use, or set another llm_model"),
    404: (
        "there is no such model, or no API at this address",
        "Check llm_model, and llm_base_url, which ends in /v1 with most servers",
    ),
    413: ("the request is too long for it", "Take a model, or let the server start it, with a longer context"),
}
_SETTINGS = {
    "max_tokens": "llm_max_tokens",
    "max_completion_tokens": "llm_max_tokens",
    "temperature": "llm_temperature",
    "response_format": "llm_structured_output",
}


class RequestNotTaken(ModelRefused):
    """The server rejects a request of this form, or with these settings."""


def service_error(error: Exception, model: str, seconds: float) -> ModelError:
    """Our error for one that the ``openai`` package raised; ``seconds`` is the timeout of the call."""
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelUnavailable(
            f"{model} did not answer within {seconds:g} seconds.",
            remedy=f"Raise llm_timeout_seconds if the model is slow; {_BY_ITSELF}.",
        )
    if isinstance(error, openai.APIStatusError):
        code = str(error.code or error.type or "").lower()
        return status_error(error.status_code, model, code, str(error.param), error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable(
            f"{model} cannot be reached: no connection, or it broke off.",
            remedy=f"Check llm_base_url, and that a server runs there; {_BY_ITSELF}.",
        )
    # The server announced JSON, but the body is incomplete or invalid.
    return ModelUnavailable(f"The server of {model} broke off its answer ({type(error).__name__}).")


def status_error(
    status: int, model: str, code: str = "", param: str = "", headers: Mapping[str, str] | None = None
) -> ModelError:
    """Our error for an HTTP status."""
    said = f"The server of {model} answered with HTTP {status}"
    if code in _NO_CREDIT:
        status = 402
    if status in _WAIT or status >= _OWN_FAULT:
        return ModelUnavailable(f"{said}.", retry_after(headers or {}, datetime.now(UTC)))
    if code in _CONTENT:
        return declined(model)
    if code in _TOO_LONG:
        status = 413
    if status in _REMEDIES:
        problem, remedy = _REMEDIES[status]
        return ModelRefused(f"{said}: {problem}.", f"{remedy}, {RETRY}.")
    setting = _SETTINGS.get(param, "llm_model, llm_structured_output, llm_max_tokens and llm_temperature")
    return RequestNotTaken(f"{said}: it does not take the request.", f"Check {setting}, {RETRY}.")


def declined(model: str) -> ModelRefused:
    """The error for a model that refuses to read this text."""
    return ModelRefused(f"{model} declines to read this text.", f"Set llm_model to another one, {RETRY}.")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds a server asks to wait, which it may state as a number or as a date; None if it does not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is None and text:
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = max(0.0, (aware - now).total_seconds())
    return seconds


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
