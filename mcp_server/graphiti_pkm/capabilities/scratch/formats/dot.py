"""Reads and writes DOT by the grammar of https://graphviz.org/doc/info/lang.html.

The reader is strict: it rejects what Graphviz rejects. It takes over nodes, edges (chains and subgraphs as ends as
well), labels, attributes that do not concern drawing, and the cluster of a node. It ignores ports, drawing attributes
and attributes of graphs. The writer quotes every name and text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NoReturn

from graphiti_pkm.capabilities.scratch.formats.collecting import UNDIRECTED, Collector, labels_of
from graphiti_pkm.capabilities.scratch.formats.dot_tokens import KEYWORDS, Token, shown, tokens
from graphiti_pkm.capabilities.scratch.formats.values import PREFIX, number_or_text, plain, unreadable
from graphiti_pkm.capabilities.scratch.limits import DEFAULT_RELATION, Content
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_DEEPEST = 50
_NAMES = frozenset({"name", "number", "quoted", "html"})
_RECORDS = frozenset({"record", "Mrecord"})
_OWN = frozenset({"label", "relation", "type", "xlabel"})

# The drawing attributes of https://graphviz.org/doc/info/attrs.html. Not among them are comment, href, tooltip, URL
# and weight, which carry information.
_DRAWING = frozenset(
    re.findall(
        r"\S+",
        """
        _background area arrowhead arrowsize arrowtail bb beautify bgcolor center charset class cluster clusterrank
        color colorscheme compound concentrate constraint Damping decorate defaultdist dim dimen dir
        diredgeconstraints distortion dpi edgehref edgetarget edgetooltip edgeURL epsilon esep fillcolor fixedsize
        fontcolor fontname fontnames fontpath fontsize forcelabels gradientangle group head_lp headclip headhref
        headlabel headport headtarget headtooltip headURL height id image imagepath imagepos imagescale inputscale K
        label label_scheme labelangle labeldistance labelfloat labelfontcolor labelfontname labelfontsize labelhref
        labeljust labelloc labeltarget labeltooltip labelURL landscape layer layerlistsep layers layerselect layersep
        layout len levels levelsgap lhead lheight linelength lp ltail lwidth margin maxiter mclimit mindist minlen
        mode model newrank nodesep nojustify normalize notranslate nslimit nslimit1 oneblock ordering orientation
        outputorder overlap overlap_scaling overlap_shrink pack packmode pad page pagedir pencolor penwidth
        peripheries pin pos quadtree quantum radius rank rankdir ranksep ratio rects regular remincross repulsiveforce
        resolution root rotate rotation samehead sametail samplepoints scale searchsize sep shape shapefile showboxes
        sides size skew smoothing sortv splines start style stylesheet tail_lp tailclip tailhref taillabel tailport
        tailtarget tailtooltip tailURL target TBbalance truecolor vertices viewport voro_margin width xdotversion
        xlabel xlp z
        """,
    )
)


@dataclass(slots=True)
class _Scope:
    """A graph or subgraph: its defaults for later statements, and its nodes."""

    node_defaults: dict[str, Token]
    edge_defaults: dict[str, Token]
    cluster: dict[str, str] | None
    nodes: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Node:
    line: int
    attributes: dict[str, Token]
    cluster: dict[str, str] | None


def read_dot(text: str, limits: ScratchLimits) -> Content:
    """The content of a DOT text.

    Raises:
        InvalidInput: the text is not DOT, or too large.
    """
    return _Reader(text, limits).read()


class _Reader:
    """A recursive-descent parser for one text."""

    def __init__(self, text: str, limits: ScratchLimits) -> None:
        self._text = text
        self._limits = limits
        self._words: Iterator[Token] = tokens(text)
        self._word = next(self._words)
        self._ahead: Token | None = None
        self._collector = Collector(limits)
        self._nodes: dict[str, _Node] = {}
        self._edges: list[tuple[str, str, Mapping[str, Token], int]] = []
        self._directed = True

    def read(self) -> Content:
        if self._is_keyword("strict"):
            self._take()
        if not (self._is_keyword("graph") or self._is_keyword("digraph")):
            self._refuse("a DOT text begins with digraph { or graph {")
        self._directed = self._take().text == "digraph"
        if self._word.kind in _NAMES:
            self._id()
        self._sign("{")
        self._statements(_Scope({}, {}, None), 0)
        self._sign("}")
        if self._word.kind != "end":
            self._refuse("text follows after the end of the graph; a text may contain only one graph")
        return self._content()

    def _statements(self, scope: _Scope, depth: int) -> None:
        while not self._is_sign("}"):
            if self._word.kind == "end":
                self._refuse("the text ends within a graph; a } is missing")
            self._statement(scope, depth)
            if self._is_sign(";"):
                self._take()

    def _statement(self, scope: _Scope, depth: int) -> None:
        word = self._word
        if word.kind == "keyword" and word.text in ("graph", "node", "edge"):
            self._take()
            if not self._is_sign("["):
                self._refuse(f"{word.text} is a keyword; to use it as a name, put it in quotes")
            attributes = self._attributes()
            if word.text == "graph":
                self._name_cluster(scope, attributes.get("label"))
            else:
                (scope.node_defaults if word.text == "node" else scope.edge_defaults).update(attributes)
        elif word.kind in _NAMES and self._next_is_equals():
            name = self._id().text
            self._sign("=")
            value = self._id()
            self._name_cluster(scope, value if name == "label" else None)
        else:
            self._chain(scope, depth)

    def _chain(self, scope: _Scope, depth: int) -> None:
        """A node, a subgraph, or edges between them."""
        ends = [self._end(scope, depth)]
        line = self._word.line
        while self._word.kind == "op":
            if (self._take().text == "->") != self._directed:
                self._refuse("an edge is written -> in a digraph and -- in a graph")
            ends.append(self._end(scope, depth))
        own = self._attributes() if self._is_sign("[") else {}
        if len(ends) > 1:
            attributes = self._with(scope.edge_defaults, own)
            for (sources, _), (targets, _) in pairwise(ends):
                if len(self._edges) + len(sources) * len(targets) > self._limits.edges:
                    self._refuse(f"there are more than {self._limits.edges:,} edges, the most that a graph may have")
                self._edges += [(source, target, attributes, line) for source in sources for target in targets]
        elif ends[0][1] is not None:
            self._nodes[ends[0][1]].attributes.update(own)

    def _end(self, scope: _Scope, depth: int) -> tuple[dict[str, None], str | None]:
        """The nodes of one end of an edge, and the name of the node if the end is not a subgraph."""
        if self._is_sign("{") or self._is_keyword("subgraph"):
            return self._subgraph(scope, depth), None
        if self._word.kind not in _NAMES:
            self._refuse("a node or a subgraph is expected here")
        name = self._id()
        for _ in range(2):
            if self._is_sign(":"):
                self._take()
                self._id()
        node = name.text
        if node not in self._nodes:
            if len(self._nodes) >= self._limits.nodes:
                self._refuse(f"there are more than {self._limits.nodes:,} nodes, the most that a graph may have")
            self._nodes[node] = _Node(name.line, self._with(scope.node_defaults, {}), scope.cluster)
        elif self._nodes[node].cluster is None:
            self._nodes[node].cluster = scope.cluster
        scope.nodes[node] = None
        return {node: None}, node

    def _subgraph(self, scope: _Scope, depth: int) -> dict[str, None]:
        if depth >= _DEEPEST:
            self._refuse(f"subgraphs are nested more than {_DEEPEST} deep")
        cluster = scope.cluster
        if self._is_keyword("subgraph"):
            self._take()
            name = self._id().text if self._word.kind in _NAMES else ""
            cluster = {"label": name.removeprefix("cluster").strip("_ ")} if name.startswith("cluster") else cluster
        self._collector.charge(len(scope.node_defaults) + len(scope.edge_defaults))
        inner = _Scope(dict(scope.node_defaults), dict(scope.edge_defaults), cluster)
        self._sign("{")
        self._statements(inner, depth + 1)
        self._sign("}")
        scope.nodes.update(inner.nodes)
        return inner.nodes

    def _attributes(self) -> dict[str, Token]:
        found: dict[str, Token] = {}
        while self._is_sign("["):
            self._take()
            while not self._is_sign("]"):
                name = self._id().text
                self._sign("=")
                found[name] = self._id()
                if self._is_sign(",") or self._is_sign(";"):
                    self._take()
            self._take()
        return found

    def _id(self) -> Token:
        """A name; quoted parts may be concatenated with +."""
        if self._word.kind not in _NAMES:
            self._refuse("a name is expected here")
        word = self._take()
        if word.kind != "quoted" or not self._is_sign("+"):
            return word
        parts = [word.text]
        while self._is_sign("+"):
            self._take()
            if self._word.kind != "quoted":
                self._refuse("+ joins quoted texts; another quoted text is expected here")
            parts.append(self._take().text)
        return Token("quoted", "".join(parts), word.line, word.at)

    def _with(self, defaults: dict[str, Token], own: dict[str, Token]) -> dict[str, Token]:
        self._collector.charge(len(defaults))
        return {**defaults, **own}

    @staticmethod
    def _name_cluster(scope: _Scope, label: Token | None) -> None:
        if label is not None and scope.cluster is not None and label.text.strip():
            scope.cluster["label"] = " ".join(shown(label.text, "").split())

    def _content(self) -> Content:
        wanted = {node: _label(node, found.attributes) for node, found in self._nodes.items()}
        labels = labels_of(wanted.items())
        for node, found in self._nodes.items():
            kind, properties = _properties_of(found.attributes)
            label = wanted[node]
            if label is not None and label.strip() != labels[node]:
                properties["label"] = label
                self._collector.warn("Several nodes have the same label; they are known by their ids.")
            if found.cluster is not None and found.cluster["label"]:
                properties.setdefault("cluster", found.cluster["label"])
            labels[node] = self._collector.node(shown(labels[node], node), kind, properties, found.line)
        read: dict[int, tuple[str, dict[str, Any]]] = {}
        for source, target, attributes, line in self._edges:
            relation, properties = read.get(id(attributes)) or read.setdefault(id(attributes), _edge_of(attributes))
            self._collector.edge(labels[source], labels[target], relation, properties, line, directed=self._directed)
            if "dir" in attributes:
                self._collector.warn("The attribute dir is not taken over; edges go as they are written.")
        if not self._directed and self._edges:
            self._collector.warn(UNDIRECTED)
        return self._collector.content()

    def _next_is_equals(self) -> bool:
        if self._ahead is None:
            self._ahead = next(self._words)
        return self._ahead.kind == "sign" and self._ahead.text == "="

    def _is_sign(self, sign: str) -> bool:
        return self._word.kind == "sign" and self._word.text == sign

    def _is_keyword(self, word: str) -> bool:
        return self._word.kind == "keyword" and self._word.text == word

    def _sign(self, sign: str) -> None:
        if not self._is_sign(sign):
            self._refuse(f"{sign} is expected here")
        self._take()

    def _take(self) -> Token:
        word = self._word
        if word.kind == "end":
            self._refuse("the text ends too early")
        self._word, self._ahead = self._ahead or next(self._words), None
        return word

    def _refuse(self, what: str) -> NoReturn:
        raise unreadable(self._word.line, what, self._text[self._word.at : self._word.at + 80])


def _label(node: str, attributes: Mapping[str, Token]) -> str | None:
    """The label of a node; that of a record describes its layout and is ignored."""
    label, shape = attributes.get("label"), attributes.get("shape")
    if label is None or (shape is not None and shape.text in _RECORDS and label.kind != "html"):
        return None
    said = label.text if label.kind == "html" else shown(label.text, node)
    return said.strip() or None


def _edge_of(attributes: Mapping[str, Token]) -> tuple[str, dict[str, Any]]:
    relation = ""
    for name in ("label", "relation", "xlabel"):
        if name in attributes and not relation:
            relation = shown(attributes[name].text, "").strip()
    kind, properties = _properties_of({name: value for name, value in attributes.items() if name != "relation"})
    return relation or DEFAULT_RELATION, properties if kind is None else {**properties, "type": kind}


def _properties_of(attributes: Mapping[str, Token]) -> tuple[str | None, dict[str, Any]]:
    """Type and properties of a node or edge."""
    kind = attributes.get("type")
    properties = {
        name.removeprefix(PREFIX): _read_value(name, token)
        for name, token in attributes.items()
        if name not in _DRAWING and name != "type"
    }
    return (None if kind is None else shown(kind.text, "")), properties


def _read_value(name: str, token: Token) -> Any:
    if token.kind == "number" or name == "weight":
        return number_or_text(shown(token.text, ""))
    if token.kind == "name" and token.text in ("true", "false"):
        return token.text == "true"
    return shown(token.text, "") if token.kind == "quoted" else token.text


def write_dot(content: Content) -> str:
    """A digraph with every node and edge; the label of an edge is its relation.

    A property with the name of a drawing attribute gets a prefix, so that it does not affect the drawing.
    """
    lines = ["digraph {"]
    for node in content.nodes:
        attributes = ({} if node.type is None else {"type": node.type}) | _named(node.properties)
        lines.append(f"  {_quoted(node.label)}{_attributes(attributes)};")
    for edge in content.edges:
        attributes = {"label": edge.relation} | _named(edge.properties)
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{_attributes(attributes)};")
    return "\n".join([*lines, "}", ""])


def _named(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        PREFIX + name if name in _DRAWING or name in _OWN or name.startswith(PREFIX) else name: value
        for name, value in properties.items()
    }


def _attributes(attributes: Mapping[str, Any]) -> str:
    if not attributes:
        return ""
    return " [" + ", ".join(f"{_name(name)}={_written(value)}" for name, value in attributes.items()) + "]"


def _name(name: str) -> str:
    is_plain = name.isascii() and name.isidentifier() and name.lower() not in KEYWORDS
    return name if is_plain else _quoted(name)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        written = repr(value)
        return written if set(written) <= set("-.0123456789") else f'"{written}"'
    return _quoted(plain(value))


def _quoted(text: str) -> str:
    """Quotes a text and escapes what Graphviz would interpret."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
