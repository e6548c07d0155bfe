"""Writes a Mermaid flowchart, for programs that display Markdown."""

from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.errors import InvalidInput

MOST_EDGES = 500
"""Mermaid's default limit (maxEdges)."""

_CODES = str.maketrans(
    {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "|": "#124;", "\\": "#92;"}
)


def write_mermaid(content: Content) -> str:
    """Nodes with their labels, edges with their relations, and a class for each type.

    Raises:
        InvalidInput: there are more edges than Mermaid displays.
    """
    if len(content.edges) > MOST_EDGES:
        raise InvalidInput(
            f"Mermaid shows at most {MOST_EDGES} edges, and these are {len(content.edges):,}. Nothing was changed: "
            "name fewer nodes, or use the format dot."
        )
    numbers = {node.label: f"n{number}" for number, node in enumerate(content.nodes)}
    members: dict[str, list[str]] = {}
    for node in content.nodes:
        if node.type is not None:
            members.setdefault(node.type, []).append(numbers[node.label])
    lines = ["flowchart LR"]
    lines += [f'  {numbers[node.label]}["{_text(node.label)}"]' for node in content.nodes]
    lines += [
        f'  {numbers[edge.source]} -->|"{_text(edge.relation)}"| {numbers[edge.target]}' for edge in content.edges
    ]
    for number, (kind, nodes) in enumerate(members.items()):
        lines.append(f"  %% t{number} is the type {_text(kind)}")
        lines.append(f"  class {','.join(nodes)} t{number}")
    return "\n".join([*lines, ""])


def _text(text: str) -> str:
    return " ".join(text.translate(_CODES).split())
