"""Hints on the calls of one server: what to call first, and what next. They permit nothing and refuse nothing.

What a call needs is checked before and without them (``GuardedTool``).
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mcp_types import CallToolResult, ContentBlock, TextContent

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.errors import InvalidInput, PkmError, PrerequisiteSuggested
from graphiti_pkm.server.tools.recent_calls import RecentCalls
from graphiti_pkm.toolkit.schema import Json
from graphiti_pkm.toolkit.tool import ToolSpec

SUGGESTED = "suggested_next_actions"
"""The field of a successful answer with names of tools. It is in no output schema: 80 tools would pay for it."""
PREREQUISITE = "prerequisite_hint"
"""The field of an answer that says which tool should have been called first."""
CONFIRM = "confirm"
_MOST_SUGGESTED = 3
_DUPLICATES = frozenset({"similar_existing", "alias_taken", "part_of_name", "shared_name", "same_text"})
"""What ``needs_attention`` says of names and texts that a search would have found."""
_NAMES = re.compile(r"\w+")


class Advice:
    """Adds hints to the answers of the given tools."""

    def __init__(
        self,
        tools: Sequence[ToolSpec],
        offered: Callable[[Any], Collection[str]],
        recent: RecentCalls,
        *,
        holds_back: bool,
    ) -> None:
        """``offered``: the names of the tools that a request may use, whatever its tier.

        ``holds_back``: calls without a prerequisite wait for a confirmation.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._offered = offered
        self._recent = recent
        self._holds_back = holds_back
        self._watched = frozenset(name for tool in tools for name in tool.hints.prerequisites)

    def asks_back(self, tool: ToolSpec) -> bool:
        """Whether a call of the tool may have to be confirmed."""
        return self._holds_back and bool(tool.hints.prerequisites)

    def missing(self, tool: ToolSpec, caller: Caller, request: Any) -> str | None:
        """The prerequisite to suggest; None if one was called, or none can be."""
        wanted = tool.hints.prerequisites
        if not wanted or self._recent.has_any(caller, wanted):
            return None
        return next(iter(self._open_to(caller, request, wanted)), None)

    def released(self, tool: ToolSpec, caller: Caller, arguments: Json, missing: str | None, signer: Signer) -> Json:
        """The arguments for the tool, without a confirmation that was given to a hint.

        Raises:
            PrerequisiteSuggested: a prerequisite is missing and the call is not confirmed.
        """
        given = arguments.get(CONFIRM)
        has_own = CONFIRM in tool.request.model_fields
        sent = {name: value for name, value in arguments.items() if name != CONFIRM}
        token = confirmation(signer, "hints", caller.visibility, tool.name, sent)
        if given is not None and is_confirmed(str(given), token):
            return sent
        if has_own and given is not None:
            return arguments  # the confirmation of the tool's own preview
        if missing is None:
            return sent
        hint = _first_upper(tool.hints.error_hints[tool.hints.missing])
        raise PrerequisiteSuggested(
            f"PREREQUISITE_SUGGESTED: consider calling {missing} first. {hint} Nothing was done. To go on "
            f'without it, send the same call with confirm "{token}".',
            hint,
            token,
        )

    def advised(
        self, tool: ToolSpec, caller: Caller, request: Any, result: CallToolResult, missing: str | None
    ) -> CallToolResult:
        """The result with what to do next. The text has only what is missing, because its tokens are always paid."""
        if result.is_error:
            return result
        if tool.name in self._watched:
            self._recent.add(caller, tool.name)
        if tool.returns.text_form == "indented":
            return result  # exactly what another server answers
        data = dict(result.structured_content or {})
        said = _said(data)
        content = list(result.content)
        following = () if data.get("status") == "preview" else tool.hints.next_actions
        names = [one for one in self._open_to(caller, request, following) if one not in said][:_MOST_SUGGESTED]
        if names:
            data[SUGGESTED] = names
        if missing is not None and not tool.annotations.destructive_hint and not _tells_itself(data):
            hint = f"{missing} was not called before: {tool.hints.error_hints[tool.hints.missing]}"
            data[PREREQUISITE] = hint
            content[0] = _with_hint(content[0], hint)
        return result.model_copy(update={"content": content, "structured_content": data})

    def _open_to(self, caller: Caller, request: Any, names: Sequence[str]) -> list[str]:
        """Those of the tools that this caller may call with this request."""
        if not names:
            return []
        offered = self._offered(request)
        known = [self._tools[name] for name in names if name in offered]
        return [one.name for one in known if caller.may(one.tier) and not (caller.read_only and one.writes)]


def error_hint(tool: ToolSpec, error: PkmError) -> str | None:
    """What the tool's record says about an error."""
    return tool.hints.error_hints.get(error.reason) if isinstance(error, InvalidInput) else None


def _with_hint(block: ContentBlock, hint: str) -> ContentBlock:
    """The text of an answer, which is one JSON object and stays one, with the hint as its last field."""
    assert isinstance(block, TextContent)  # noqa: S101  (every answer begins with its text)
    return TextContent(type="text", text=f'{block.text[:-1]},"{PREREQUISITE}":{json.dumps(hint)}}}')


def _said(data: Json) -> frozenset[str]:
    """The words in what an answer itself says to do."""
    asked = [data.get(part) for part in ("needs_attention", "next_steps", "hint")]
    return frozenset(_NAMES.findall(json.dumps(asked)))


def _tells_itself(data: Json) -> bool:
    """Whether the answer has what the tool to call first would have shown: likely duplicates, how similar two are."""
    notices = data.get("needs_attention") or []
    return (
        bool(data.get("known_as"))
        or data.get("similarity") is not None
        or any(isinstance(one, dict) and one.get("what") in _DUPLICATES for one in notices)
    )


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
