"""The capabilities of this product and the toolsets of their tools. A new one is an import and a place here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from graphiti_pkm.capabilities.compat.capability import CAPABILITY as COMPAT
from graphiti_pkm.capabilities.curation.capability import CAPABILITY as CURATION
from graphiti_pkm.capabilities.explore.capability import CAPABILITY as EXPLORE
from graphiti_pkm.capabilities.extraction.capability import CAPABILITY as EXTRACTION
from graphiti_pkm.capabilities.forget.capability import CAPABILITY as FORGET
from graphiti_pkm.capabilities.history.capability import CAPABILITY as HISTORY
from graphiti_pkm.capabilities.projects.capability import CAPABILITY as PROJECTS
from graphiti_pkm.capabilities.remember.capability import CAPABILITY as REMEMBER
from graphiti_pkm.capabilities.sagas.capability import CAPABILITY as SAGAS
from graphiti_pkm.capabilities.scratch.capability import CAPABILITY as SCRATCH
from graphiti_pkm.capabilities.search.capability import CAPABILITY as SEARCH
from graphiti_pkm.capabilities.sources.capability import CAPABILITY as SOURCES
from graphiti_pkm.capabilities.staging.capability import CAPABILITY as STAGING
from graphiti_pkm.capabilities.status.capability import CAPABILITY as STATUS
from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.core.model.requests import ONLY_WITH_BOOST, ONLY_WITH_MODEL, ONLY_WITH_SAGAS, SELDOM_NEEDED
from graphiti_pkm.errors import InvalidInput, InvalidSettings
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ToolSpec

CAPABILITIES: tuple[Capability, ...] = (
    *(REMEMBER, SEARCH, EXPLORE, EXTRACTION, SAGAS, HISTORY, FORGET, STATUS),
    *(COMPAT, PROJECTS, CURATION, SOURCES, STAGING, SCRATCH),
)
"""In the order in which tools are listed and services are built; each may use the services of earlier ones."""

_TOOLSET_DESCRIPTIONS = {
    "memory": "Store, search and explore episodes, entities and facts.",
    "graph": "Walk over several facts at once; write one fact as it is; sum up with a model; empty whole groups.",
    "compat": "The tools of mcp-neo4j-memory: entities with observations, and relations, by exact names.",
    "reference": "The tools of the reference memory server, which have names of other toolsets: not beside them.",
    "projects": "Texts in projects: write entries, find them by meaning or by what they mention, see what matters.",
    "curation": "Keep a memory good: flag entities, say how sure they are, find likely duplicates, quote documents.",
    "reasoning": "Scratch graphs: transient graphs to think with, apart from memory, addressed by labels.",
}
"""What each toolset is for, in the order in which clients list them."""


@dataclass(frozen=True)
class Toolset:
    """Tools that are enabled and disabled together."""

    name: str
    about: str
    tools: tuple[ToolSpec, ...]

    def same_names(self, other: "Toolset") -> list[str]:
        """Tools of both that have one name and are not the same."""
        own = {tool.name for tool in self.tools}
        return [] if other.name == self.name else sorted(tool.name for tool in other.tools if tool.name in own)


TOOLSETS: tuple[Toolset, ...] = tuple(
    Toolset(name, about, tuple(tool for capability in CAPABILITIES for tool in capability.tools.get(name, ())))
    for name, about in _TOOLSET_DESCRIPTIONS.items()
)


FORMER = {name: now for capability in CAPABILITIES for name, now in capability.former.items()}
"""Tools that have joined others, with their names now; they are accepted and not listed."""


def current(name: str, arguments: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    """The name of a tool today, and what to call it with."""
    now, more = FORMER.get(name, (name, {}))
    return now, {**more, **arguments}


def known_tools(toolsets: Sequence[Toolset] = TOOLSETS) -> frozenset[str]:
    """The names of all tools, enabled or not."""
    return frozenset(tool.name for toolset in toolsets for tool in toolset.tools)


def select(settings: Settings, toolsets: Sequence[Toolset] = TOOLSETS) -> tuple[ToolSpec, ...]:
    """The tools that the settings enable, in the order of the list.

    Raises:
        InvalidSettings: a setting names an unknown toolset or tool, two toolsets have tools of one name, or no tool
            is left.
    """
    _must_be_known("toolsets", settings.toolsets, [toolset.name for toolset in toolsets])
    _must_fit_together([toolset for toolset in toolsets if toolset.name in settings.toolsets])
    chosen = [tool for toolset in toolsets if toolset.name in settings.toolsets for tool in toolset.tools]
    wanted = [current(name, {})[0] for name in settings.tools]
    _must_be_known("tools", wanted, [tool.name for tool in chosen])
    _must_be_known("exclude_tools", settings.exclude_tools, sorted(known_tools(toolsets) | FORMER.keys()))
    kept = tuple(
        tool
        for tool in chosen
        if (not wanted or tool.name in wanted)
        and tool.name not in settings.exclude_tools
        and not (settings.read_only and tool.writes)
    )
    if not kept:
        raise InvalidSettings("The settings toolsets, tools, exclude_tools and read_only leave no tool.")
    return kept


def unshown_marks(settings: Settings) -> frozenset[str]:
    """Marks of the parameters that no model needs under these settings."""
    unshown = {SELDOM_NEEDED}
    if settings.fitness != "boost":
        unshown.add(ONLY_WITH_BOOST)
    if settings.llm_model is None:
        unshown |= {ONLY_WITH_MODEL} if "graph" in settings.toolsets else {ONLY_WITH_MODEL, ONLY_WITH_SAGAS}
    return frozenset(unshown)


def permitted(tools: Sequence[ToolSpec], tier: Tier) -> tuple[ToolSpec, ...]:
    """The tools that a token of this tier may call."""
    return tuple(tool for tool in tools if TIERS.index(tool.tier) <= TIERS.index(tier))


def narrowed(tools: Sequence[ToolSpec], header: str, toolsets: Sequence[Toolset] = TOOLSETS) -> tuple[ToolSpec, ...]:
    """The tools that belong to the toolsets named in an ``X-MCP-Toolsets`` header.

    Raises:
        InvalidInput: the header names a toolset that does not exist.
    """
    named = [part.strip() for part in header.split(",") if part.strip()]
    known = [toolset.name for toolset in toolsets]
    if any(name not in known for name in named):
        raise InvalidInput(f"X-MCP-Toolsets names an unknown toolset. Known: {', '.join(known)}.")
    allowed = [tool for toolset in toolsets if toolset.name in named for tool in toolset.tools]
    return tuple(tool for tool in tools if tool in allowed)


def _must_fit_together(toolsets: Sequence[Toolset]) -> None:
    for one, other in combinations(toolsets, 2):
        if names := one.same_names(other):
            raise InvalidSettings(
                f"toolsets names {one.name} and {other.name}, which both have {', '.join(names)}: a tool name "
                "stands for one tool. Leave one of the two out."
            )


def _must_be_known(setting: str, names: Iterable[str], known: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidSettings(f"{setting} names {', '.join(unknown)}. Known: {', '.join(known)}.")
