"""What Graphiti's pipeline needs besides the graph: our embedder, a model with cleaned answers, stable prompts."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NoReturn

from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder import EmbedderClient
from graphiti_core.llm_client import LLMClient
from graphiti_core.prompts.lib import ChatPromptLibrary, create_prompt_library, default_chat_prompt_library
from graphiti_core.prompts.models import ChatPrompt

from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.errors import InvalidInput

_EARLIEST, _LATEST = datetime(2, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""Dates outside this range mean "always" or "never" and are treated as no date."""
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_WORDS_OF = {"extracted_entities": ("name",), "edges": ("source_entity_name", "target_entity_name", "fact")}
"""Fields that Graphiti requires in each item of these lists."""
_LABELS = ("entity_types", "entity_type")
_PROMPTS_WITH_LABELS = (
    ("extract_edges", "edge"),
    ("dedupe_nodes", "nodes"),
    ("extract_nodes", "extract_attributes"),
    ("extract_nodes", "extract_summaries_batch"),
)


class JobEmbedder(EmbedderClient):
    """Our embedder with a cache for one job, because Graphiti embeds the same names and facts repeatedly.

    Without a model all vectors are zero and only full-text search finds something, as everywhere in this product.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, list[float]] = {}

    async def create(self, input_data: Any) -> list[float]:
        text = input_data if isinstance(input_data, str) else next(iter(input_data))
        (vector,) = await self.create_batch([text])
        return vector

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        unknown = [text for text in dict.fromkeys(input_data_list) if text not in self._known]
        if unknown:
            self._known.update(zip(unknown, await self._embed(unknown), strict=True))
        return [self._known[text] for text in input_data_list]

    async def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not await self._embedder.available():
            return [[0.0] * self._embedder.dimension for _ in texts]
        return [vector.tolist() for vector in await self._embedder.embed(texts)]


class NoReranker(CrossEncoderClient):
    """A stand-in, because Graphiti would create OpenAI's reranker by default; no model ranks results here."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002 Graphiti's
        """Keep the order."""
        return [(passage, 0.0) for passage in passages]


class CleaningModel(LLMClient):
    """The model of a job, whose answers are cleaned of characters that cannot be stored and of invalid dates."""

    left_out = 0
    """Number of blank names and facts, which Graphiti skips."""

    def __init__(self, model: LLMClient) -> None:
        super().__init__(model.config)
        self._model = model
        self.max_tokens = model.max_tokens

    def set_tracer(self, tracer: Any) -> None:
        super().set_tracer(tracer)
        self._model.set_tracer(tracer)

    async def generate_response(self, *args: Any, **named: Any) -> dict[str, Any]:
        answer: dict[str, Any] = _storable(await self._model.generate_response(*args, **named))
        self.left_out += _wordless(answer)
        return answer

    async def _generate_response(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError


def steady_prompts(names: Mapping[str, str] = MappingProxyType({})) -> ChatPromptLibrary:
    """Graphiti's prompts with sorted labels, so that they are identical in every process.

    Graphiti takes the labels from a set, in varying order, and a job that another process continues would repeat calls
    that are already paid for. ``names`` maps stand-ins that Graphiti was given to the names of known entities.
    """
    overrides: dict[str, dict[str, Callable[[dict[str, Any]], ChatPrompt]]] = {}
    for group, name in _PROMPTS_WITH_LABELS:
        overrides.setdefault(group, {})[name] = _steady(
            getattr(getattr(default_chat_prompt_library, group), name), names
        )
    return create_prompt_library(overrides)


def _steady(
    build: Callable[[dict[str, Any]], ChatPrompt], names: Mapping[str, str]
) -> Callable[[dict[str, Any]], ChatPrompt]:
    def built(context: dict[str, Any]) -> ChatPrompt:
        context = _sorted_labels(context)
        if known := context.get("existing_nodes"):
            context["existing_nodes"] = [{**one, "name": names.get(one["name"], one["name"])} for one in known]
        return build(context)

    return built


def _sorted_labels(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted_labels(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        name: sorted(part) if name in _LABELS and _is_words(part) else _sorted_labels(part)
        for name, part in value.items()
    }


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _storable(answer: Any) -> Any:
    """The answer without characters that cannot be stored, and with dates that Graphiti can parse."""
    if isinstance(answer, str):
        return _UNSTORABLE.sub("", answer)
    if isinstance(answer, list):
        return [_storable(part) for part in answer]
    if not isinstance(answer, dict):
        return answer
    clean = {name: _storable(part) for name, part in answer.items()}
    dates = {name: _date(clean[name]) for name in ("valid_at", "invalid_at") if isinstance(clean.get(name), str)}
    clean.update(dates)
    start, end = dates.get("valid_at"), dates.get("invalid_at")
    if start is not None and end is not None and end <= start:
        clean["invalid_at"] = None
    return clean


def _wordless(answer: Mapping[str, Any]) -> int:
    return sum(
        any(not str(one.get(word) or "").strip() for word in words)
        for listed, words in _WORDS_OF.items()
        for one in answer.get(listed) or ()
        if isinstance(one, dict)
    )


def _date(text: str) -> str | None:
    """The date in UTC, where a month or year means its first instant; None for invalid dates and unreal years."""
    try:
        instant = parse_instant(text, UTC)
    except InvalidInput:
        return None
    return instant.isoformat() if _EARLIEST <= instant < _LATEST else None
