"""The client through which Graphiti's pipeline calls the configured model.

To add a provider, add a case to ``llm_client``: Graphiti's client for it, called through the same ledger.
"""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from typing import Any, Literal

from graphiti_core.llm_client.config import LLMConfig, ModelSize
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.prompts.models import Message
from pydantic import BaseModel

from graphiti_pkm.core.ports.extraction import ModelLedger, Usage
from graphiti_pkm.errors import ConfigurationError, ModelNonsense, ModelRefused
from graphiti_pkm.llm.chat import Chat, Request, Said, refusal
from graphiti_pkm.llm.model_answers import Unusable, read_answer
from graphiti_pkm.llm.service_errors import RETRY, RequestNotTaken
from graphiti_pkm.settings.loader import Settings

Form = Literal["json_schema", "json_object"]
_MOST_QUOTED = 8_000
"""Characters of an unusable answer that are returned to the model for repair."""

_log = logging.getLogger(__name__)


def llm_client(settings: Settings, **http: Any) -> "LanguageModel":
    """The configured model; nothing is sent yet.

    Raises:
        ConfigurationError: none is configured.
    """
    if not settings.llm_model:
        raise ConfigurationError("No model is configured: set llm_model.")
    return LanguageModel(settings, settings.llm_model, Chat(settings, **http))


class Probe(BaseModel):
    """The form of the answer to a question that does not tell it."""

    is_understood: bool


class LanguageModel:
    """The configured model. Create one per process."""

    def __init__(self, settings: Settings, name: str, chat: Chat) -> None:
        self.name = name
        self.chat = chat
        self.settings = settings
        self._probing = asyncio.Lock()
        self._form: Form | None = None if settings.llm_structured_output == "auto" else settings.llm_structured_output

    @property
    def small_name(self) -> str:
        return self.settings.llm_small_model or self.name

    def for_job(self, ledger: ModelLedger) -> "JobClient":
        """The client for one job of Graphiti's pipeline."""
        return JobClient(self, ledger)

    async def form(self) -> Form:
        """The form of answers to request: the configured one, or one that both models support, which is probed once.

        Raises:
            ModelUnavailable: the model cannot be reached; the next call probes again.
            ModelRefused: the model supports neither form, or rejects key, name or address.
        """
        if self._form is None:
            async with self._probing:
                if self._form is None:
                    self._form = await self._probe()
                    _log.info("%s answers in the form %s", self.name, self._form)
        return self._form

    async def probe(self) -> tuple[Form, Usage]:
        """Probe the model, regardless of earlier results, and return the form of its answers. Raises like ``form``."""
        wanted = self.settings.llm_structured_output
        forms: Iterable[Form] = ("json_schema", "json_object") if wanted == "auto" else (wanted,)
        return await self._first_understood(self.name, forms)

    async def close(self) -> None:
        await self.chat.close()

    async def _probe(self) -> Form:
        form, _ = await self._first_understood(self.name, ("json_schema", "json_object"))
        if form == "json_schema" and self.small_name != self.name:
            form, _ = await self._first_understood(self.small_name, ("json_schema", "json_object"))
        return form

    async def _first_understood(self, model: str, forms: Iterable[Form]) -> tuple[Form, Usage]:
        told: list[str] = []
        for form in forms:
            try:
                usage = await self._understands(model, form)
            except RequestNotTaken:
                told.append(f"{form}: refused")
            except Unusable as error:
                told.append(f"{form}: {error.reason}")
            else:
                return form, usage
        raise ModelRefused(
            f"{model} does not answer in JSON when asked to ({'; '.join(told)}).",
            f"Check llm_model, llm_max_tokens and llm_structured_output, or take a model that does, {RETRY}.",
        )

    async def _understands(self, model: str, form: Form) -> Usage:
        """Probe a form with at most two attempts. Raises Unusable, ModelRefused, ModelUnavailable."""
        schema = json.dumps(Probe.model_json_schema())
        question = "Do you understand this? Answer with a JSON object."
        if form == "json_object":
            question += f"\n\nRespond with a JSON object in the following format:\n\n{schema}"
        request = Request(
            model=model,
            messages=({"role": "user", "content": question},),
            response_format=_response_format(Probe, form),
            max_tokens=self.settings.llm_max_tokens,
            temperature=self.settings.llm_temperature,
        )
        for last in (False, True):
            said = await self.chat.ask(request)
            try:
                read_answer(said.text, Probe, is_cut=said.is_cut)
            except Unusable:
                if last:
                    raise
            else:
                break
        return said.usage


def _response_format(form: type[BaseModel], mode: Form) -> dict[str, Any]:
    """The parameter as Graphiti's own client builds it."""
    client = OpenAIGenericClient(LLMConfig(), client=object(), structured_output_mode=mode)
    return client._build_response_format(form)  # noqa: SLF001  (the probe has to use Graphiti's form)


class JobClient(OpenAIGenericClient):
    """Graphiti's client for compatible servers, which records every call in the ledger of one job.

    It replaces Graphiti's own retries, which wait up to two minutes: a call returns a valid answer or raises the error
    that tells the queue what to do. It stores the first error, because Graphiti swallows some of them; an outage would
    leave facts without dates. Therefore the caller of the pipeline must call ``finish`` afterwards.
    """

    def __init__(self, model: LanguageModel, ledger: ModelLedger) -> None:
        settings = model.settings
        config = LLMConfig(model=model.name, small_model=model.small_name, max_tokens=settings.llm_max_tokens)
        super().__init__(config, client=model.chat.client, max_tokens=settings.llm_max_tokens)
        self._model = model
        self._ledger = ledger
        self._error: Exception | None = None
        self._is_closed = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def generate_response(self, messages: list[Message], *arguments: Any, **named: Any) -> dict[str, Any]:
        """Call the model like Graphiti, in the form of answer that the model supports."""
        async with self._call():
            self.structured_output_mode = await self._model.form()
            return await super().generate_response(messages, *arguments, **named)

    async def _generate_response_with_retry(  # type: ignore[override]  # the decorator hides its signature
        self,
        messages: list[Message],
        response_model: type[BaseModel] | None = None,
        max_tokens: int = 0,
        model_size: ModelSize = ModelSize.medium,
        *,
        model: str | None = None,
    ) -> dict[str, Any]:
        """Call the model without retries, which are left to the queue."""
        named = model or (self._model.small_name if model_size is ModelSize.small else self._model.name)
        request = Request(
            model=named,
            messages=tuple({"role": one.role, "content": self._clean_input(one.content)} for one in messages),
            response_format=self._build_response_format(response_model),
            max_tokens=min(max_tokens or self.max_tokens, self.max_tokens),
            temperature=self._model.settings.llm_temperature,
        )
        async with self._asking[request.hash]:
            kept = await self._ledger.recorded(request.hash)
            if kept is not None:
                return read_answer(kept, None)
            return await self._answer(request, response_model)

    async def finish(self) -> None:
        """Wait for calls that are still running, so that paid answers are recorded, and refuse further calls.

        Raises:
            The first error of any call, including errors that the pipeline swallowed.
        """
        self._is_closed = True
        current = asyncio.current_task()
        left = {task for task in self._under_way if task is not current}
        try:
            if left:
                await asyncio.wait(left)
        except asyncio.CancelledError:
            for task in left:
                task.cancel()
            raise
        if self._error is not None:
            raise self._error

    @contextlib.asynccontextmanager
    async def _call(self) -> AsyncIterator[None]:
        """Track a call. After an error no further call begins, because its paid answer would be discarded."""
        if self._error is not None:
            raise self._error
        if self._is_closed:
            raise RuntimeError("a call after the end of its job")
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a call outside of a task")
        self._under_way.add(task)
        try:
            yield
        except Exception as error:
            self._error = self._error or error
            raise
        finally:
            self._under_way.discard(task)

    async def _answer(self, request: Request, form: type[BaseModel] | None) -> dict[str, Any]:
        said = await self._ask(request)
        try:
            return await self._keep(request, said, form)
        except Unusable as error:
            problem = error
        if self._error is not None or self._is_closed:
            raise ModelNonsense(f"The answer of {request.model} is {problem.reason}.")
        _log.info("an answer of %s is %s; asked to repair it", request.model, problem.reason)
        said = await self._ask(request.followed_by(*_repair(said, problem)))
        try:
            return await self._keep(request, said, form)
        except Unusable as error:
            problem = error
        raise ModelNonsense(
            f"The answer of {request.model} is {problem.reason}, and so was the repaired one.",
            f"Take a more capable model, raise llm_max_tokens, or set llm_structured_output, {RETRY}.",
        )

    async def _ask(self, request: Request) -> Said:
        await self._ledger.allow()
        return await self._model.chat.ask(request)

    async def _keep(self, request: Request, said: Said, form: type[BaseModel] | None) -> dict[str, Any]:
        """Record the answer on disk and return it. Raises Unusable, ModelRefused."""
        problem: Exception
        if said.declined:
            problem = refusal(request)
        else:
            try:
                answer = read_answer(said.text, form, is_cut=said.is_cut)
            except Unusable as error:
                problem = error
            else:
                await self._ledger.record(request.hash, json.dumps(answer, ensure_ascii=False), said.usage)
                return answer
        await self._ledger.record(request.hash, None, said.usage)
        raise problem


def _repair(said: Said, problem: Unusable) -> list[dict[str, str]]:
    asked = {
        "role": "user",
        "content": f"That answer cannot be used, it is {problem.reason}. {problem.detail}\n"
        "Answer the question again, completely and in the form asked for, with one JSON object and nothing else.",
    }
    if not said.text.strip():
        return [asked]
    return [{"role": "assistant", "content": said.text[:_MOST_QUOTED]}, asked]
