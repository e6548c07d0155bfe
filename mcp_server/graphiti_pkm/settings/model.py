"""Settings of models: embeddings, extraction, budgets."""

import json
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

from graphiti_pkm.settings.embedding import checked_mode
from graphiti_pkm.settings.keys import OPENAI_URL
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting

PART_CHARACTERS = 12_000
"""Maximum part of an episode in one request: about 3,000 tokens, which fit into the window of a local model."""


class ModelSettings(BaseModel, defer_build=True):
    """Settings of embeddings and extraction, and of their services."""

    embedding_mode: str = Field(
        default="local",
        description="Where vectors are computed: local, on this machine, or api, by a service that gets every text.",
    )
    local_runtime: Literal["auto", "numpy"] = Field(
        default="auto",
        description="What computes local vectors: auto (ONNX Runtime where the extra fast is installed) or numpy.",
    )
    embedding_model: str | None = Field(
        default=None, description="Embedding model for the mode api. Default: text-embedding-3-small."
    )
    embedding_dimension: int | None = Field(
        default=None, ge=2, le=4096, description="Dimensions of its vectors; needed for models other than OpenAI's."
    )
    embedding_base_url: str = Field(
        default=OPENAI_URL, description="Address of an OpenAI-compatible API for embeddings, with its /v1."
    )
    embedding_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's address OPENAI_API_KEY is used if this is not set; it is sent "
        "to no other address.",
    )
    embedding_api_key_file: Path | None = Field(default=None, description="File that contains that key.")
    llm_model: str | None = Field(
        default=None,
        description="Model that extracts entities and facts from episodes. Default: none; a key alone sends nothing.",
    )
    llm_small_model: str | None = Field(
        default=None, description="Model for the smaller questions. Default: llm_model."
    )
    llm_base_url: str = Field(default=OPENAI_URL, description="Address of an OpenAI-compatible API, with its /v1.")
    llm_api_key: SecretStr | None = Field(
        default=None,
        description="Key for that address. For OpenAI's address OPENAI_API_KEY is used if this is not set; it is sent "
        "to no other address.",
    )
    llm_api_key_file: Path | None = Field(default=None, description="File that contains the key.")
    llm_structured_output: Literal["auto", "json_schema", "json_object"] = Field(
        default="auto", description="How structured answers are requested; auto tests once what the model supports."
    )
    llm_temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature. By default none is sent, because some models refuse it."
    )
    llm_max_tokens: int = Field(default=16_384, ge=1, description="Maximum tokens of one answer.")
    llm_timeout_seconds: float = Field(default=120.0, gt=0, description="Seconds that one answer may take.")
    llm_calls_per_day: int | None = Field(
        default=None, ge=0, description="Maximum model calls a day; further episodes wait for the next day."
    )
    llm_tokens_per_day: int | None = Field(
        default=None,
        ge=0,
        description="Maximum tokens a day, input and output; further episodes wait for the next day.",
    )
    llm_calls_per_episode: int | None = Field(
        default=None,
        ge=0,
        description="Maximum model calls for an episode; one that needs more fails and can be retried.",
    )
    llm_tokens_per_episode: int | None = Field(
        default=None, ge=0, description="Maximum tokens for an episode; one that needs more fails and can be retried."
    )
    llm_price_input: float | None = Field(
        default=None, ge=0, description="Price of a million input tokens, to report costs."
    )
    llm_price_output: float | None = Field(default=None, ge=0, description="Price of a million output tokens.")
    extraction_parallel: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Groups that are read in parallel; the episodes of a group are read in order.",
    )
    extraction_calls: int = Field(default=4, ge=1, le=64, description="Parallel model calls for one episode.")
    extraction_part: int = Field(
        default=PART_CHARACTERS,
        ge=1_000,
        le=200_000,
        description="Characters of an episode in one model call; a longer episode is read in parts.",
    )
    entity_types: tuple[EntityTypeSetting, ...] = Field(
        default=(), description="Types of entities to extract: a list with name and description, YAML or JSON."
    )
    edge_types: tuple[EdgeTypeSetting, ...] = Field(
        default=(),
        description="Types of facts to extract: name, description and, in `between`, pairs of entity types.",
    )
    excluded_entity_types: tuple[str, ...] = Field(
        default=(), description="Types of entities that are not extracted, separated by commas."
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
            # Addresses are shown and logged.
            raise ValueError(
                "must be an address without user, password, ? or #; put a key into the setting that ends in _api_key"
            )
        return url.strip().rstrip("/")

    @field_validator("llm_api_key_file", "embedding_api_key_file")
    @classmethod
    def _absolute_file(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None
