"""What is written can be read back: everything as JSON and GraphML, the edges as DOT and CSV."""

import random
import shutil
import subprocess
from typing import Any

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import ReadFormat, parse, write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_WORDS = [
    "Auth",
    "auth service",
    "C++",
    "C#",
    "a->b",
    'say "hi"',
    "back\\slash",
    "\\n",
    "\\N",
    "<b>bold</b>",
    "a & b",
    "it's",
    "graph",
    "node",
    "1.5",
    "-3",
    "007",
    "ü",
    "日本語",
    "🙂",
    "a|b",
    "{x}",
    "two\nlines",
    "a\rb",
    "c\r\nd",
    "back\\\nslash",
    "\\\\\n",
    "tab\there",
    "a  b",
    "%%",
    "#x",
    "//",
    "/* */",
    "label",
    "a,b",
    ";",
    "[]",
    "=1+1",
    "true",
    "null",
    "...",
    "`x`",
    "&amp;",
    "]]>",
    "é",
    "\u2028",
    "\u00a0x",
]
_NAMES = [
    "weight",
    "note",
    "label",
    "relation",
    "type",
    "name",
    "source",
    "properties",
    "color",
    "a b",
    "property_x",
    "ü",
]


def _value(chance: random.Random, depth: int = 0) -> Any:
    kinds = [
        lambda: chance.choice(_WORDS),
        lambda: chance.randint(-(2**70), 2**70),
        lambda: chance.randint(-5, 5),
        lambda: chance.uniform(-1e6, 1e6),
        lambda: chance.choice([True, False, None, "", 0.1, 1e300, 1e-7]),
    ]
    if depth < 3:
        kinds.append(lambda: [_value(chance, depth + 1) for _ in range(chance.randint(0, 3))])
        kinds.append(lambda: {chance.choice(_NAMES): _value(chance, depth + 1) for _ in range(chance.randint(0, 3))})
    return chance.choice(kinds)()


def some_content(chance: random.Random) -> Content:
    """Nodes and edges with all that is hard to write."""

    def some_properties() -> dict[str, Any]:
        return {name: _value(chance) for name in chance.sample(_NAMES, chance.randint(0, 3))}

    pairs = [f"{word}{chance.choice(_WORDS)}".strip() for word in chance.sample(_WORDS, 8)]
    labels = list({same_key(label): label for label in pairs if label}.values())  # as a graph has them
    nodes = tuple(ScratchNode(one, chance.choice([None, "service", "a & b"]), some_properties()) for one in labels)
    ends = {
        (chance.choice(labels), chance.choice(labels), chance.choice(_WORDS).strip().lower() or "x"): some_properties()
        for _ in range(12)
    }
    return Content(nodes, tuple(ScratchEdge(*end, properties) for end, properties in ends.items()))


def edges(content: Content) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.relation) for edge in content.edges]


@pytest.mark.parametrize("text_format", ["json", "graphml", "dot", "csv", "tsv"])
def test_a_round_trip(text_format: ReadFormat) -> None:
    for seed in range(300):
        content = some_content(random.Random(seed))  # noqa: S311
        text = write(content, text_format)
        said = parse(text, text_format, ScratchLimits())
        assert edges(said) == edges(content), f"seed {seed}\n{text}"
        if text_format in ("json", "graphml"):
            assert said == content, f"seed {seed}\n{text}"
        if text_format == "dot":
            assert [(node.label, node.type) for node in said.nodes] == [
                (node.label, node.type) for node in content.nodes
            ]
        assert write(content, text_format) == text


def test_graphviz_accepts_what_is_written_as_dot() -> None:
    content = some_content(random.Random(1))  # noqa: S311
    text = write(content, "dot")
    assert text.startswith("digraph {\n")
    assert text.count("->") >= len(content.edges)
    program = shutil.which("dot")
    if program is not None:  # where it is installed; our own reader, as strict, has read the same text above
        done = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=30, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.count(b'class="edge"') == len(content.edges)
