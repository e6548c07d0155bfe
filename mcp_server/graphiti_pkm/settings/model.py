"""Settings of models: what makes vectors, what reads episodes, and what that may cost."""

import json
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

from graphiti_pkm.settings.embedding import checked_mode
from graphiti_pkm.settings.keys import OPENAI_URL
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting

PART_CHARACTERS = 12_000
"""Most of an episode that one request holds: about 3,000 tokens, so that a local model's window takes it as well."""


class ModelSettings(BaseModel):
    """The part of the settings about embeddings, extraction and their services."""

    embedding_mode: str = Field(
        default="local",
        description="Where texts become vectors: local, on this machine, or api, by a service that is sent every text.",
    )
    embedding_model: str | None = Field(
        default=None, description="Embedding model of the mode api; text-embedding-3-small by default."
    )
    embedding_dimension: int | None = Field(
        default=None, ge=2, le=4096, description="Dimensions of its vectors; known by default for OpenAI's models."
    )
    embedding_base_url: str = Field(
        default=OPENAI_URL, description="Address of an OpenAI-compatible API for embeddings, with its /v1."
    )
    embedding_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's own, OPENAI_API_KEY counts if this is not given; it is sent to "
        "no other address.",
    )
    embedding_api_key_file: Path | None = Field(default=None, description="File that holds that key, instead.")
    llm_model: str | None = Field(
        default=None,
        description="Model that reads episodes for entities and facts. None by default: a key alone sends nothing.",
    )
    llm_small_model: str | None = Field(
        default=None, description="Model for the smaller questions; the same one by default."
    )
    llm_base_url: str = Field(default=OPENAI_URL, description="Address of an OpenAI-compatible API, with its /v1.")
    llm_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's own, OPENAI_API_KEY counts if this is not given; it is sent to "
        "no other address.",
    )
    llm_api_key_file: Path | None = Field(default=None, description="File that holds the key, instead.")
    llm_structured_output: Literal["auto", "json_schema", "json_object"] = Field(
        default="auto", description="How an answer's form is asked for; auto tries once what the model can."
    )
    llm_temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature; none is sent by default, as some models refuse it."
    )
    llm_max_tokens: int = Field(default=16_384, ge=1, description="Most tokens of one answer.")
    llm_timeout_seconds: float = Field(default=120.0, gt=0, description="How long one answer may take, in seconds.")
    llm_calls_per_day: int | None = Field(
        default=None, ge=0, description="Most model calls a day; what is over waits for the next day."
    )
    llm_tokens_per_day: int | None = Field(
        default=None, ge=0, description="Most tokens a day, asked and answered; what is over waits for the next day."
    )
    llm_calls_per_episode: int | None = Field(
        default=None, ge=0, description="Most model calls an episode; one that needs more fails and can be retried."
    )
    llm_tokens_per_episode: int | None = Field(
        default=None, ge=0, description="Most tokens an episode; one that needs more fails and can be retried."
    )
    llm_price_input: float | None = Field(
        default=None, ge=0, description="Price of a million tokens asked, to show what was spent."
    )
    llm_price_output: float | None = Field(default=None, ge=0, description="Price of a million tokens answered.")
    extraction_parallel: int = Field(
        default=4, ge=1, le=64, description="Groups a model reads at once; within a group, one episode after the other."
    )
    extraction_calls: int = Field(default=4, ge=1, le=64, description="Model calls at once for one episode.")
    extraction_part: int = Field(
        default=PART_CHARACTERS,
        ge=1_000,
        le=200_000,
        description="Characters of an episode that one model call reads; a longer one is read in parts.",
    )
    entity_types: tuple[EntityTypeSetting, ...] = Field(
        default=(), description="Types of entities a model is asked for: name and description each, YAML or JSON."
    )
    edge_types: tuple[EdgeTypeSetting, ...] = Field(
        default=(),
        description="Types of facts a model is asked for: name, description and, in `between`, pairs of entity types.",
    )
    excluded_entity_types: tuple[str, ...] = Field(
        default=(), description="Types of entities that are never extracted, separated by commas."
    )

    @field_validator("entity_types", "edge_types", mode="before")
    @classmethod
    def _types(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        try:
            return json.loads(given)
        except ValueError as error:
            raise ValueError('not a JSON list such as [{"name": "Person", "description": "…"}]') from error

    @field_validator("embedding_mode")
    @classmethod
    def _mode(cls, mode: str) -> str:
        return checked_mode(mode)

    @field_validator(
        "llm_model", "llm_small_model", "llm_api_key", "embedding_model", "embedding_api_key", mode="before"
    )
    @classmethod
    def _stripped(cls, given: object) -> object:
        return (given.strip() or None) if isinstance(given, str) else given

    @field_validator("llm_base_url", "embedding_base_url")
    @classmethod
    def _address(cls, url: str) -> str:
        try:
            parts = urlsplit(url.strip())
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        if not fits:
            raise ValueError("not an address such as http://localhost:11434/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            # An address is shown and logged.
            raise ValueError(
                "an address without user, password, ? or #; a key belongs in the setting ending in _api_key"
            )
        return url.strip().rstrip("/")

    @field_validator("llm_api_key_file", "embedding_api_key_file")
    @classmethod
    def _absolute_file(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None
