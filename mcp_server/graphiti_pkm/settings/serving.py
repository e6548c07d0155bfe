"""Settings of a server: how clients reach it, who may, what is offered, what it says of itself."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

_TAKEN = frozenset({"health", "ready", "metrics", "sse", "messages", "register", "authorize", "token"})
"""First parts of the paths of other endpoints."""


class ServingSettings(BaseModel):
    """The part of the settings that ``serve`` needs."""

    transport: Literal["stdio", "http", "sse"] = Field(
        default="stdio", description="How clients connect: stdio, http or sse."
    )
    host: str = Field(default="127.0.0.1", description="Address for http and sse; beyond loopback only with tokens.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port for http and sse.")
    path: str = Field(default="/mcp", pattern=r"^/[A-Za-z0-9_/-]*$", description="Path of the http endpoint.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Names by which clients reach http and sse besides loopback and host, e.g. memory; by commas.",
    )
    tokens_file: Path | None = Field(
        default=None, description="File with tokens of who may connect; tokens.json in data_dir if that is there."
    )
    tokens: SecretStr | None = Field(
        default=None, description="Tokens beside that file: a JSON list, as `tokens create --entry` prints one."
    )
    connections: int | None = Field(
        default=None,
        ge=16,
        description="Most connections to http and sse at once, in each worker. Without it 4,096, or fewer if the limit "
        "of open files leaves fewer.",
    )
    connections_without_token: int | None = Field(
        default=None,
        ge=1,
        description="Most of these over which no valid token has come yet, by default half of them. Beyond that the "
        "oldest is closed.",
    )
    connections_per_address: int | None = Field(
        default=None,
        ge=1,
        description="Likewise, most of these from one address (of IPv6: one /64 network), by default half of those.",
    )
    head_seconds: float = Field(
        default=10.0, ge=1, description="How long a client may take to send a request up to its body, in seconds."
    )
    body_seconds: float = Field(
        default=60.0,
        ge=1,
        description="Likewise, to send the body; and how long it may read nothing of an answer that waits for it.",
    )
    sessions: int = Field(
        default=1_000, ge=1, description="Most sessions over http at once; beyond that the one unused longest ends."
    )
    sessions_per_token: int = Field(default=250, ge=1, description="Likewise, those of one token.")
    session_idle_seconds: float = Field(
        default=1_800.0, gt=0, description="A session over http that has not been used for so long ends, in seconds."
    )
    calls_per_minute: int = Field(
        default=300, ge=1, description="Most calls a minute of one principal, the local one excepted."
    )
    writes_per_minute: int = Field(default=120, ge=1, description="Likewise, of calls that change something.")
    characters_per_call: int = Field(default=500_000, ge=1_000, description="Likewise, characters of one call.")
    call_seconds: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="How long a call may take, in seconds, besides a wait that it asks for. A read is then stopped; a "
        "write is stopped before it is stored, or answered as kept while it is completed.",
    )
    toolsets: tuple[str, ...] = Field(default=("memory",), description="Toolsets to offer, separated by commas.")
    tools: tuple[str, ...] = Field(default=(), description="Only these tools of the toolsets, separated by commas.")
    exclude_tools: tuple[str, ...] = Field(default=(), description="Tools to leave out, separated by commas.")
    read_only: bool = Field(default=False, description="Offer only tools that change nothing.")
    workers: int = Field(default=1, ge=1, le=64, description="Processes that answer http; each holds the whole server.")
    drain_seconds: float = Field(
        default=20.0, ge=0, description="How long a server that is told to stop lets running calls end, in seconds."
    )
    metrics: bool = Field(default=False, description="Offer figures for Prometheus at /metrics, beside http and sse.")
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Bearer token that opens /metrics and nothing else. Without it they are shown on loopback while "
        "there are no tokens, and then to a token of the principal local.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Level of the log on stderr."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Form of that log: text for people, json for machines."
    )

    @field_validator("path")
    @classmethod
    def _own_path(cls, path: str) -> str:
        if path.strip("/").partition("/")[0] in _TAKEN:
            raise ValueError(f"{path} belongs to another endpoint of this server; choose another, such as /mcp")
        return path

    @field_validator("tokens_file")
    @classmethod
    def _absolute_tokens(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else None
