"""What a client asks: the request's body, read once, with the sections that Graphiti's prompts mark by tags."""

import ast
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Json = dict[str, Any]
Endpoint = Literal["chat", "responses", "embeddings"]
Mode = Literal["json_schema", "json_object", "text"]

EMBEDDINGS = "embeddings"
"""Stands for the schema's name in counts and schedules of embedding calls."""

_SUBJECT = re.compile(
    r"^[ \t]*<(CURRENT MESSAGES?|CURRENT_MESSAGE|TEXT|JSON|NEW FACT|FACTS?|MESSAGES|EPISODES)>\n"
    r"(?P<text>.*)\n[ \t]*</\1>[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
"""The first section that holds a text in question, to its last end: the text itself may look like a prompt."""
_UNTAGGED = re.compile(r"^\s*Summar(?:y|ies):\n\s*(?P<json>.+)$", re.MULTILINE)

_PARSING = threading.Lock()
"""Python 3.11 counts the depth of syntax trees for all threads together and fails if two build one."""


def _literal(text: str) -> Any:
    with _PARSING:
        return ast.literal_eval(text)


@dataclass(frozen=True)
class ModelRequest:
    """One call of a model."""

    endpoint: Endpoint
    body: Json = field(repr=False)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @cached_property
    def hash(self) -> str:
        """Of everything that was asked: equal for a repeated request."""
        whole = json.dumps([self.endpoint, self.body], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()

    @cached_property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text."""
        asked = self.body.get("input" if self.endpoint == "responses" else "messages") or []
        if isinstance(asked, str):
            return [("user", asked)]
        return [(str(one.get("role", "user")), _text(one.get("content"))) for one in asked]

    @property
    def prompt(self) -> str:
        return "\n".join(text for _, text in self.messages)

    @property
    def mode(self) -> Mode:
        """How an answer in JSON is asked for."""
        kind = self._format.get("type", "text")
        return kind if kind in ("json_schema", "json_object") else "text"

    @property
    def schema_name(self) -> str:
        """Name of the schema that the answer has to fit; its title where a client gives no name."""
        if self.endpoint == EMBEDDINGS:
            return EMBEDDINGS
        return str(self._named_schema.get("name") or (self.schema or {}).get("title") or self.mode)

    @cached_property
    def schema(self) -> Json | None:
        """From the request's format; in ``json_object`` mode from the prompt, where clients write it."""
        given = self._named_schema.get("schema")
        if isinstance(given, dict) or self.mode != "json_object":
            return given
        return next(filter(None, (_schema_in(text) for _, text in reversed(self.messages))), None)

    @cached_property
    def subject(self) -> str:
        """The one text that the prompt is about: the current episode, a new fact, the summaries to be joined.

        Earlier episodes stand in the same prompt as context and are no part of it.
        """
        asked = [text for role, text in self.messages if role == "user"]
        for text in asked:
            if section := _SUBJECT.search(text):
                return _current(section["text"].strip())
        for text in asked:
            if summaries := _UNTAGGED.search(text):
                return _summaries(summaries["json"])
        return self.prompt

    def section(self, tag: str) -> str | None:
        """What stands between the lines ``<tag>`` and ``</tag>`` of the user's prompt."""
        pattern = re.compile(rf"^[ \t]*<{tag}>\n(.*)\n[ \t]*</{tag}>[ \t]*$", re.MULTILINE | re.DOTALL)
        found = (pattern.search(text) for role, text in self.messages if role == "user")
        return next((match[1].strip() for match in found if match), None)

    def data(self, tag: str) -> Any:
        """A section that holds data: JSON, or as Python writes it; None if it is neither."""
        text = self.section(tag)
        for parse in (json.loads, _literal):
            try:
                return parse(text or "null")
            except (ValueError, SyntaxError):
                continue
        return None

    @property
    def _format(self) -> Json:
        if self.endpoint == "responses":
            return (self.body.get("text") or {}).get("format") or {}
        return self.body.get("response_format") or {}

    @property
    def _named_schema(self) -> Json:
        """Responses have name and schema beside the type, chat completions one level down."""
        return self._format if self.endpoint == "responses" else self._format.get("json_schema") or {}


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _current(text: str) -> str:
    """Of earlier episodes and the current one, a line of JSON each, the last; any other text as it is."""
    lines = text.split("\n")
    try:
        earlier, current = map(json.loads, lines)
    except ValueError:
        return text
    return current if isinstance(earlier, list) and isinstance(current, str) else text


def _summaries(text: str) -> str:
    """The summaries themselves, a line each."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    many = value if isinstance(value, list) else [value]
    return "\n".join(str(one.get("summary", "")) if isinstance(one, dict) else str(one) for one in many)


def _schema_in(text: str) -> Json | None:
    """The last JSON schema of an object that a text holds."""
    found, start = None, text.find("{")
    while start >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            if value.get("type") == "object" and "properties" in value:
                found = value
        start = text.find("{", end)
    return found
