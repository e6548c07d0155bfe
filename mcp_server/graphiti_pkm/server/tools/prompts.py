"""The prompts of all capabilities, in the form the SDK needs."""

from collections.abc import Collection
from typing import cast

from mcp.server.mcpserver.prompts import Prompt

from graphiti_pkm.server.tools.registry import CAPABILITIES, known_tools
from graphiti_pkm.server.tools.texts import only_naming
from graphiti_pkm.toolkit.prompt import PromptLine

PROMPTS: tuple[PromptLine, ...] = tuple(prompt for capability in CAPABILITIES for prompt in capability.prompts)
"""In the order of the registry."""


def build_prompts(enabled: Collection[str]) -> list[Prompt]:
    """The prompts for which all tools are enabled."""
    return [_build(line, enabled) for line in PROMPTS if line.needs <= set(enabled)]


def _build(line: PromptLine, enabled: Collection[str]) -> Prompt:
    prompt = Prompt.from_function(line.values, title=line.title, description=line.description)
    text = only_naming(line.text, known_tools(), enabled)
    values = prompt.fn

    def render(**arguments: str) -> str:
        return text.format(**cast("dict[str, str]", values(**arguments)))

    prompt.fn = render
    return prompt
