"""A server over the real services on the fakes, and what the protocol tests ask of it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mcp.client import Client
from mcp_types import CallToolResult, TextContent, Tool
from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.progress import Progress
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.server.app import build_server
from graphiti_pkm.server.tools.instructions import build_instructions
from graphiti_pkm.server.tools.registry import CAPABILITIES, TOOLSETS
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.usage import USAGE, UsageQueue
from graphiti_pkm.toolkit.capability import Running
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import Services
from graphiti_pkm.toolkit.tool import ToolSpec

Mode: TypeAlias = Literal["auto", "legacy"]

BUDGET = 6_000
"""Tokens (bytes / 4) that the default tools and the instructions may cost each conversation."""
DEFAULT_TOOLS = len(TOOLSETS[0].tools)
REFERENCE = Settings(toolsets=("reference",))
"""The toolset whose tools have names of others, so that it stands alone."""
EVERYTHING = Settings(toolsets=tuple(toolset.name for toolset in TOOLSETS if toolset.name != REFERENCE.toolsets[0]))
WITH_MODEL = EVERYTHING.model_copy(update={"llm_model": "a-model"})
"""Where every parameter is shown."""
"""All toolsets on."""
BESIDE = tuple(toolset for toolset in TOOLSETS if toolset.name != "reference")
"""The toolsets that may be on together."""
SPECS: Mapping[str, ToolSpec] = {
    f"reference.{tool.name}" if toolset.name == "reference" else tool.name: tool
    for toolset in TOOLSETS
    for tool in toolset.tools
}
"""All tools; those of ``reference`` under names of their own."""
TOGETHER = frozenset(name for name in SPECS if "." not in name)
"""The names of all tools but those of ``reference``."""
SNAPSHOTS = Path(__file__).with_name("snapshots")


class RecordingWriting:
    """Stands for the service ``Writing`` where only the edge is asked: keeps requests, gives one receipt."""

    def __init__(self) -> None:
        self.requests: list[AddMemory] = []
        self.waits: list[float] = []
        self.error: Exception | None = None

    async def add_memory(self, caller: Caller, request: AddMemory, progress: Progress) -> AddMemoryResponse:
        assert caller.is_local
        self.waits.append(request.wait_seconds)
        if request.wait_seconds:
            await progress(0, request.wait_seconds, "extraction queued")
        if self.error is not None:
            raise self.error
        self.requests.append(request)
        return AddMemoryResponse(
            message="Stored.",
            episode_uuid="11111111-1111-4111-8111-111111111111",
            status="stored",
            group_id=request.group_id or "default",
            name=request.name or "note",
            valid_at="2026-03-01T12:00:00+00:00",
            entities=[],
            facts=[],
            retired=[],
            needs_attention=[],
            related=[],
            linked=0,
            linking=0,
        )


@dataclass(frozen=True)
class FailingStart:
    """A start-up that fails with ``error`` each time."""

    error: Exception

    def __call__(self) -> "FailingStart":
        return self

    async def __aenter__(self) -> Services:
        raise self.error

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass
class World:
    """The fakes under a server."""

    settings: Settings = field(default_factory=Settings)
    graph: FakeGraph = field(default_factory=FakeGraph)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    clock: FakeClock = field(default_factory=FakeClock)
    writing: RecordingWriting = field(default_factory=RecordingWriting)
    signer: Signer = field(default_factory=Signer)
    """One for all servers over these fakes, as those of a data directory share one."""
    writes_really: bool = False
    """Whether add_memory stores instead of being recorded."""

    def services(self) -> Services:
        return self.running().services

    def running(self) -> Running:
        """Every capability of the registry, over the fakes."""
        journal = FakeJournal(self.clock)
        context = Context(
            graph=self.graph,
            journal=journal,
            embedder=self.embedder,
            locks=FakeLocks(),
            settings=self.settings,
            now=self.clock,
            signer=self.signer,
            elapsed=lambda: self.clock().timestamp(),
            usage=UsageQueue(journal.usage, self.graph.part(USAGE)),
        )
        groups = Groups(self.graph, self.settings)
        committer = Committer(context)
        running = Running.build(
            CAPABILITIES,
            Kernel(
                context=context,
                parts=self.graph,
                groups=groups,
                committer=committer,
                erasing=Erasing(context),
                extractions=journal.extractions,
                backlog=journal,
                saved_graphs=journal.saved_graphs,
                receipts=Receipts(context, groups, journal.extractions),
            ),
        )
        if not self.writes_really:
            running.services.add({WRITING: self.writing})
        return running

    @asynccontextmanager
    async def start(self) -> AsyncIterator[Services]:
        running = self.running()
        yield running.services
        await running.close()

    @asynccontextmanager
    async def connect(self, mode: Mode = "auto") -> AsyncIterator[Client]:
        async with Client(build_server(self.settings, self.start), mode=mode) as client:
            yield client


_told: dict[str, list[Tool]] = {}


async def definitions(settings: Settings | None = None) -> list[Tool]:
    """What tools/list answers. Asked once for the same settings: sweeps have a test for each of some fifty tools."""
    wanted = settings or Settings()
    key = wanted.model_dump_json()
    if key not in _told:
        async with World(wanted).connect() as client:
            _told[key] = (await client.list_tools()).tools
    return list(_told[key])


async def definition_named(name: str) -> dict[str, Any]:
    """The definition of one of ``SPECS``."""
    tools = await definitions(REFERENCE if "." in name else EVERYTHING)
    return next(definition_of(tool) for tool in tools if tool.name == name.rpartition(".")[2])


def definition_of(tool: Tool) -> dict[str, Any]:
    """A definition as it goes over the wire."""
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)


def text(result: CallToolResult) -> str:
    """The text of a result."""
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


def told(result: CallToolResult) -> dict[str, Any]:
    """What the text alone says."""
    data = json.loads(text(result))
    assert isinstance(data, dict)
    return data


def answered(result: CallToolResult) -> dict[str, Any]:
    """The structured content of an answer that is no error."""
    assert not result.is_error, text(result)
    assert isinstance(result.structured_content, dict)
    return dict(result.structured_content)


def error_of(result: CallToolResult) -> str:
    """The message of an error, after checking its shape."""
    assert result.is_error
    assert result.structured_content is not None
    told = dict(result.structured_content)
    assert {"error", "code"} <= set(told) <= {"error", "code", "message", "hint", "can_proceed", "confirm"}
    assert (told["code"] == "permission_denied") == (told["error"] == "PERMISSION_DENIED")
    assert told.get("message", told["error"]) == text(result)
    return text(result)


def tokens(value: str) -> float:
    """Tokens as the budget counts them: bytes / 4."""
    return len(value.encode()) / 4


def definition_tokens(tool: Tool) -> float:
    """Tokens of name, description and compact input schema."""
    shown = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return tokens(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


async def budget_used() -> dict[str, int]:
    """Tokens of each default tool's definition and of the instructions."""
    tools = await definitions()
    used = {tool.name: definition_tokens(tool) for tool in tools}
    used["instructions"] = tokens(build_instructions([tool.name for tool in tools]))
    return {name: round(size) for name, size in used.items()}
