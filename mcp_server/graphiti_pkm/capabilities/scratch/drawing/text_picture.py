"""A small graph as text: trees from the nodes without incoming edges, with references to nodes drawn before."""

from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge
from graphiti_pkm.errors import InvalidInput

MOST_NODES = 200
_DEEPEST = 30


def write_text(content: Content) -> str:
    """Each edge once, below its source; ↑ and ↓ say that the edges of a node are listed above or below.

    Raises:
        InvalidInput: the graph is too large to be readable.
    """
    if len(content.nodes) > MOST_NODES:
        raise InvalidInput(
            f"A text picture shows at most {MOST_NODES} nodes, and these are {len(content.nodes):,}. Nothing was "
            "changed: name fewer nodes, or use the format svg or dot."
        )
    return _Picture(content).drawn()


class _Picture:
    """One picture; the edges of a node are listed where it first appears."""

    def __init__(self, content: Content) -> None:
        self._types = {node.label: node.type for node in content.nodes}
        self._edges: dict[str, list[ScratchEdge]] = {node.label: [] for node in content.nodes}
        for edge in content.edges:
            self._edges[edge.source].append(edge)
        reached = {edge.target for edge in content.edges if edge.target != edge.source}
        self._roots = [label for label in self._edges if label not in reached]
        self._drawn: set[str] = set()
        self._later: list[str] = []
        self._lines: list[str] = []

    def drawn(self) -> str:
        for label in [*self._roots, *self._edges]:
            self._tree(label)
            while self._later:
                self._tree(self._later.pop(0))
        return "\n".join([*self._lines, ""])

    def _tree(self, root: str) -> None:
        if root in self._drawn:
            return
        self._drawn.add(root)
        self._lines.append(self._told(root))
        self._branches(root, "")

    def _branches(self, source: str, indent: str) -> None:
        targets: dict[str, list[str]] = {}
        for edge in self._edges[source]:
            targets.setdefault(edge.target, []).append(_line(edge.relation))
        for number, (target, relations) in enumerate(targets.items(), 1):
            is_last = number == len(targets)
            arrow = f"{indent}{'└' if is_last else '├'}─ {', '.join(relations)} → "
            if target in self._drawn:
                self._lines.append(f"{arrow}{_line(target)}{' ↑' if self._edges[target] else ''}")
            elif self._edges[target] and len(indent) >= 3 * _DEEPEST:
                self._later.append(target)
                self._lines.append(f"{arrow}{_line(target)} ↓")
            else:
                self._drawn.add(target)
                self._lines.append(arrow + self._told(target))
                self._branches(target, indent + ("   " if is_last else "│  "))

    def _told(self, label: str) -> str:
        kind = self._types[label]
        return _line(label) if kind is None else f"{_line(label)} ({_line(kind)})"


def _line(text: str) -> str:
    return " ".join(text.split())
