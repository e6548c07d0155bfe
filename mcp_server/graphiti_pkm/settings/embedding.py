"""Checks and resolves the settings of embeddings: mode, model, dimension."""

from typing import Protocol

from pydantic import SecretStr

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.keys import OPENAI_KEY, is_openai
from graphiti_pkm.settings.names import variables_of

LOCAL_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
LOCAL_DIMENSION = 384
API_MODEL = "text-embedding-3-small"
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_TAKES_DIMENSION = "text-embedding-3-"
NO_HYBRID = (
    "hybrid is not supported: it would mix vectors of two models in one memory, which cannot be compared. Use local "
    "(nothing leaves this machine) or api; `graphiti-pkm reembed` changes an existing memory from one to the other"
)


class EmbeddingSettings(Protocol):
    """The settings that are used here."""

    @property
    def embedding_mode(self) -> str: ...
    @property
    def embedding_model(self) -> str | None: ...
    @property
    def embedding_dimension(self) -> int | None: ...
    @property
    def embedding_base_url(self) -> str: ...
    @property
    def embedding_api_key(self) -> SecretStr | None: ...


def checked_mode(mode: str) -> str:
    """Raises ValueError for an unsupported mode."""
    if mode == "hybrid":
        raise ValueError(NO_HYBRID)
    if mode not in ("local", "api"):
        raise ValueError("must be local or api")
    return mode


def embedding_model(settings: EmbeddingSettings) -> str:
    """The effective model."""
    return settings.embedding_model or (API_MODEL if settings.embedding_mode == "api" else LOCAL_MODEL)


def takes_dimension(model: str) -> bool:
    """Whether a service can reduce the dimension of this model's vectors."""
    return _TAKES_DIMENSION in model


def embedding_dimension(settings: EmbeddingSettings) -> int:
    """The dimension of the model's vectors. Raises ConfigurationError if it is neither set nor known."""
    model = embedding_model(settings)
    known = _DIMENSIONS.get(model.rpartition("/")[2]) if settings.embedding_mode == "api" else LOCAL_DIMENSION
    dimension = settings.embedding_dimension or known
    if dimension is None:
        raise ConfigurationError(
            f"The dimension of the model {model} is not known: set GRAPHITI_PKM_EMBEDDING_DIMENSION."
        )
    return dimension


def check_embedding(settings: EmbeddingSettings) -> None:
    """Raises ConfigurationError, with what to set, if the settings of embeddings contradict each other."""
    model, dimension = embedding_model(settings), embedding_dimension(settings)
    if settings.embedding_mode != "api":
        if model.rpartition("/")[2] != LOCAL_MODEL.rpartition("/")[2] or dimension != LOCAL_DIMENSION:
            raise ConfigurationError(
                f"embedding_mode local has one model, {LOCAL_MODEL} with {LOCAL_DIMENSION} dimensions: remove "
                "embedding_model and embedding_dimension, or set GRAPHITI_PKM_EMBEDDING_MODE=api to use a service."
            )
        return
    if settings.embedding_api_key is None and is_openai(settings.embedding_base_url):
        names = ", ".join(reversed(variables_of("embedding_api_key")))
        raise ConfigurationError(
            f"embedding_mode api needs a key: set {names} or {OPENAI_KEY}. For a service without "
            "keys, set GRAPHITI_PKM_EMBEDDING_BASE_URL."
        )
