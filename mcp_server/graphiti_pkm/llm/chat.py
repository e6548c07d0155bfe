"""One call to a chat model: the request, the answer, and the tokens it cost."""

import asyncio
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from graphiti_pkm.core.ports.extraction import Usage
from graphiti_pkm.errors import ModelError, ModelRefused, ModelUnavailable
from graphiti_pkm.llm.service import WITHOUT_KEY, open_client
from graphiti_pkm.llm.service_errors import RETRY, declined, service_error, status_error
from graphiti_pkm.settings.keys import is_openai
from graphiti_pkm.settings.loader import Settings

_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class Request:
    """A complete request to a model."""

    model: str
    messages: tuple[dict[str, str], ...]
    response_format: dict[str, Any]
    max_tokens: int
    temperature: float | None

    @property
    def hash(self) -> str:
        """Identifies the request; it is the same in every process."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def followed_by(self, *messages: dict[str, str]) -> "Request":
        """The request with further messages appended."""
        return replace(self, messages=(*self.messages, *messages))


@dataclass(frozen=True)
class Said:
    """A model's answer."""

    text: str
    is_cut: bool
    """The model reached its token limit before the end of the answer."""
    usage: Usage
    declined: bool = False


class Chat:
    """The client of a model server. Create one per process and use it in one event loop only."""

    def __init__(self, settings: Settings, **http: Any) -> None:
        key = settings.llm_api_key
        self._seconds = settings.llm_timeout_seconds
        self._is_openai = is_openai(settings.llm_base_url)
        self._has_key = key is not None
        self._base_url = settings.llm_base_url
        self.client = open_client(
            settings.llm_base_url,
            key.get_secret_value() if key else None,
            self._seconds,
            is_openai=self._is_openai,
            **http,
        )

    async def ask(self, request: Request) -> Said:
        """Send the request once, without retries.

        Raises:
            ModelUnavailable: the server cannot be reached, is too slow, or asks to wait.
            ModelRefused: the server rejects the key, the model, the address or the request.
        """
        if self._is_openai and not self._has_key:
            raise ModelRefused(
                f"There is no key for {self._base_url}.",
                f"Set OPENAI_API_KEY or GRAPHITI_PKM_LLM_API_KEY, start the server again, {RETRY}.",
            )
        try:
            async with asyncio.timeout(self._seconds):
                answer: object = await self.client.chat.completions.create(**self._arguments(request))
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            problem = service_error(error, request.model, self._seconds)
        else:
            return _said(answer, request)
        raise problem  # outside the handler, so that the server's message is not attached as its context

    async def close(self) -> None:
        await self.client.close()

    def _arguments(self, request: Request) -> dict[str, Any]:
        # OpenAI's newer models reject the older name; other servers do not know the newer one.
        limit = "max_completion_tokens" if self._is_openai else "max_tokens"
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": list(request.messages),
            "response_format": request.response_format,
            limit: request.max_tokens,
        }
        if not self._has_key:
            arguments["extra_headers"] = WITHOUT_KEY
        if request.temperature is not None:
            arguments["temperature"] = request.temperature
        return arguments


def _said(answer: object, request: Request) -> Said:
    """The model's answer. Raises ModelError if the response holds none."""
    if not isinstance(answer, ChatCompletion):
        raise ModelRefused(
            f"What answers for {request.model} is no OpenAI-compatible API.",
            f"Check llm_base_url, which ends in /v1 with most servers, {RETRY}.",
        )
    if not answer.choices:
        raise _error_in(answer, request.model)
    choice = answer.choices[0]
    # Other servers than OpenAI's may omit or change what the types of the package promise.
    content = getattr(choice.message, "content", None)
    text = content if isinstance(content, str) else ""
    usage = _usage(answer, request, text)
    refused = bool(getattr(choice.message, "refusal", None)) or choice.finish_reason == "content_filter"
    return Said(text, choice.finish_reason == "length", usage, refused)


def _error_in(answer: ChatCompletion, model: str) -> ModelError:
    """The error in a response without an answer: OpenRouter reports some errors with HTTP 200."""
    error = (answer.model_extra or {}).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and code >= 400:  # noqa: PLR2004
        return status_error(code, model)
    return ModelUnavailable(f"The server of {model} sent an answer with nothing in it.")


def _usage(answer: ChatCompletion, request: Request, text: str) -> Usage:
    """The tokens as counted by the server, or estimated if it does not count, so that budgets still apply."""
    counted = answer.usage
    prompt = getattr(counted, "prompt_tokens", None)
    completion = getattr(counted, "completion_tokens", None)
    if not isinstance(prompt, int):
        prompt = _estimated("".join(message["content"] for message in request.messages))
    if not isinstance(completion, int):
        completion = _estimated(text)
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)


def _estimated(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_A_TOKEN)


def refusal(request: Request) -> ModelRefused:
    """The error for an answer in which the model refuses."""
    return declined(request.model)
