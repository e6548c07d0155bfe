"""The blocks of a Markdown file as pandoc sees them: a parser of another make."""

import json
import re
import subprocess
from typing import Any

import pypandoc

_MARKS = re.compile(r"\]\([^)]*\)|<https?://[^>]*>|\\")
_NO_WORD = re.compile(r"[\W_]+")


def paragraphs(text: str) -> list[str]:
    """The words of each block in order, folded as by ``folded``; rules are none."""
    read = subprocess.run(
        [pypandoc.get_pandoc_path(), "--from", "commonmark+pipe_tables", "--to", "json"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return [folded(" ".join(_words(one))) for one in json.loads(read.stdout)["blocks"] if one["t"] != "HorizontalRule"]


def folded(words: str) -> str:
    """Letters and digits alone, without addresses of links: what two parsers have in common."""
    return _NO_WORD.sub("", _MARKS.sub("", words)).lower()


def _words(node: Any) -> list[str]:
    if isinstance(node, list):
        return [word for one in node for word in _words(one)]
    if not isinstance(node, dict):
        return []
    if node.get("t") == "Str":
        return [node["c"]]
    if node.get("t") in {"Code", "CodeBlock", "RawBlock", "RawInline"}:
        return [node["c"][1]]
    return _words(node.get("c"))
