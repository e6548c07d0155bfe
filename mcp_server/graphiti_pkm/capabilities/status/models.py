"""What get_status answers."""

from typing import Literal

from pydantic import Field

from graphiti_pkm.core.model.answers import Answer, ExtractionReceipt


class StatusResponse(Answer):
    """The state of the memory; asked about a receipt, of that episode's extraction alone."""

    status: Literal["ok", "degraded", "unavailable"]
    message: str
    version: str = ""
    backend: str = ""
    search: str = ""
    """"full text and meaning" or "full text only: …" with the remedy."""
    model: str | None = None
    dimension: int | None = None
    groups: dict[str, str] = Field(default_factory=dict)
    """Public group name to what it holds."""
    shared: dict[str, str] | None = None
    """Groups of shared memories, as tools name them, to the caller's tier there; ``*`` stands for any group."""
    writes: dict[str, int] = Field(default_factory=dict)
    """Journal rows by state: waiting, written, applied, failed."""
    jobs: dict[str, int] = Field(default_factory=dict)
    extractions: dict[str, int] = Field(default_factory=dict)
    """Episodes for a model to read, by state, of the caller's groups; empty where there were none."""
    extraction_failures: list[ExtractionReceipt] = Field(default_factory=list)
    """The newest that failed, with reason and remedy."""
    extraction_model: str | None = None
    """What reads episodes; None where no model is configured."""
    spent: dict[str, str] = Field(default_factory=dict)
    """What model calls have cost, today and in all."""
    failures: list[str] = Field(default_factory=list)
    data_directory: str = ""
    uptime_seconds: int = 0
    extraction: ExtractionReceipt | None = None
    """Of the receipt that was asked about."""
