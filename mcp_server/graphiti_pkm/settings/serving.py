"""Settings of a server: transport, tokens, limits, tools, metrics and log."""

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, SecretStr, field_validator

Tier: TypeAlias = Literal["reader", "contributor", "librarian", "curator"]
"""The tiers of callers, each including the one before: read; add and make undoable changes; tidy up; delete
permanently."""

HintMode: TypeAlias = Literal["off", "advise", "confirm"]

_TAKEN = frozenset({"health", "ready", "metrics", "sse", "messages", "register", "authorize", "token"})
"""First parts of the paths of the other endpoints."""


class ServingSettings(BaseModel, defer_build=True):
    """Settings that ``serve`` needs."""

    transport: Literal["stdio", "http", "sse"] = Field(default="stdio", description="Transport: stdio, http or sse.")
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on for http and sse; other addresses than loopback need tokens.",
    )
    port: int = Field(default=8000, ge=1, le=65535, description="Port for http and sse.")
    path: str = Field(default="/mcp", pattern=r"^/[A-Za-z0-9_/-]*$", description="Path of the http endpoint.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Host names that clients may use for http and sse besides loopback and host, separated by commas.",
    )
    tokens_file: Path | None = Field(default=None, description="File with tokens. Default: tokens.json in data_dir.")
    tokens: SecretStr | None = Field(
        default=None,
        description="Tokens besides that file: a JSON list of entries that `tokens create --entry` prints.",
    )
    connections: int | None = Field(
        default=None,
        ge=16,
        description="Maximum connections to http and sse in each worker. Default: 4,096, or fewer if the limit of open "
        "files is lower.",
    )
    connections_without_token: int | None = Field(
        default=None,
        ge=1,
        description="Maximum connections that have not shown a valid token; beyond it the oldest one is closed. "
        "Default: half of connections.",
    )
    connections_per_address: int | None = Field(
        default=None,
        ge=1,
        description="Maximum connections without a valid token from one address (IPv6: one /64 network). Default: half "
        "of connections_without_token.",
    )
    head_seconds: float = Field(
        default=10.0, ge=1, description="Seconds that a client may take to send the head of a request."
    )
    body_seconds: float = Field(
        default=60.0,
        ge=1,
        description="Seconds that a client may take to send the body of a request, and to read nothing of its answer.",
    )
    sessions: int = Field(
        default=1_000, ge=1, description="Maximum sessions over http; beyond it the one that was unused longest ends."
    )
    sessions_per_token: int = Field(default=250, ge=1, description="Maximum sessions over http of one token.")
    session_idle_seconds: float = Field(
        default=1_800.0, gt=0, description="Seconds after which an unused session over http ends."
    )
    calls_per_minute: int = Field(
        default=300, ge=1, description="Maximum calls a minute of one principal; the local one has no limit."
    )
    writes_per_minute: int = Field(
        default=120, ge=1, description="Maximum calls a minute of one principal that change something."
    )
    characters_per_call: int = Field(
        default=500_000, ge=1_000, description="Maximum characters of one call of one principal."
    )
    call_seconds: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="Seconds that a call may take, besides a wait that it asks for. A read is then stopped. A write is "
        "stopped if it is not stored yet; otherwise it is answered as kept and completed.",
    )
    toolsets: tuple[str, ...] = Field(
        default=("memory",), description="Toolsets to offer, separated by commas (DOCS/tools.md lists them)."
    )
    tools: tuple[str, ...] = Field(
        default=(), description="Offer only these tools of the toolsets, separated by commas."
    )
    exclude_tools: tuple[str, ...] = Field(default=(), description="Tools to leave out, separated by commas.")
    tier: Tier = Field(
        default="curator",
        description="What the local user may do over stdio, and on a server without tokens: reader reads, contributor "
        "adds and retires, librarian deletes facts, curator deletes words for good. Tokens have tiers of their own.",
    )
    read_only: bool = Field(default=False, description="Offer only tools that change nothing.")
    hints: HintMode = Field(
        default="advise",
        description="Whether answers suggest what to call next, and what should have been called first: off; advise "
        "carries the call out and says so; confirm first asks back if that is missing.",
    )
    workers: int = Field(
        default=1, ge=1, le=64, description="Number of processes that serve http; each contains the whole server."
    )
    drain_seconds: float = Field(
        default=20.0, ge=0, description="Seconds that running calls have to finish when the server stops."
    )
    metrics: bool = Field(default=False, description="Offer metrics for Prometheus at /metrics with http and sse.")
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Bearer token that permits /metrics and nothing else. Without it, /metrics is open on loopback "
        "while there are no tokens; afterwards it needs a token of the principal local.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Level of the log on stderr."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Format of the log: text for people, json for machines."
    )

    audit_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="Days for which `audit` can show who wrote what and was refused; 0 = keep no such table.",
    )

    def offers(self, tool: str, toolset: str) -> bool:
        """Whether a tool of a toolset is offered, for advice that names it."""
        is_chosen = toolset in self.toolsets and (not self.tools or tool in self.tools)
        return is_chosen and tool not in self.exclude_tools

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
