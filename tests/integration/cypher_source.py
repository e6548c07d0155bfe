"""What the queries of the product touch, read from their texts: labels and relation types, made and deleted."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import graphiti_pkm.storage.graph
from graphiti_pkm.storage.graph import vector_indexes
from graphiti_pkm.storage.graph.queries import write as queries_write

_CYPHER = re.compile(r"\b(MATCH|MERGE|CREATE|UNWIND|CALL) ?(\(|\{|\$|db)")
_NODE = re.compile(r"\(\w*:`?([A-Z]\w*)")
_RELATION = re.compile(r"\[\w*:`?([A-Z]\w*)")
_MADE_NODE = re.compile(r"(?:MERGE|CREATE) \(\w*:([A-Z]\w*)")
_MADE_RELATION = re.compile(r"(?:MERGE|CREATE) \(\w*\)-\[\w*:([A-Z]\w*)")
_PROCEDURE = re.compile(r"\bCALL (db[\w.]+)\(")
_DELETED = re.compile(r"\bDELETE (\w+)")


@dataclass(frozen=True)
class Parts:
    """Labels of nodes and types of relations."""

    nodes: frozenset[str]
    relations: frozenset[str]


def product_texts() -> list[str]:
    """Every Cypher text of the graph layer."""
    (directory,) = graphiti_pkm.storage.graph.__path__
    modules = Path(directory).rglob("*.py")
    texts = [text for path in modules for text in _strings(ast.parse(path.read_text())) if _CYPHER.search(text)]
    # Of these the names are put in where they are used.
    return [*texts, *queries_write.CLEAR_GROUP, *(kind.hits for kind in vector_indexes.ALL)]


def named(texts: Iterable[str]) -> Parts:
    return _parts(texts, _NODE, _RELATION)


def made(texts: Iterable[str]) -> Parts:
    return _parts(texts, _MADE_NODE, _MADE_RELATION)


def deleted(texts: Iterable[str]) -> Parts:
    """Of each variable that is deleted: what the same text binds it to."""
    nodes: set[str] = set()
    relations: set[str] = set()
    for text in texts:
        for name in _DELETED.findall(text):
            nodes.update(re.findall(rf"\({name}:([A-Z]\w*)", text))
            relations.update(re.findall(rf"\[{name}:([A-Z]\w*)", text))
    return Parts(frozenset(nodes), frozenset(relations))


def procedures(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _PROCEDURE.findall(text)}


def _parts(texts: Iterable[str], node: re.Pattern[str], relation: re.Pattern[str]) -> Parts:
    texts = list(texts)
    return Parts(
        frozenset(label for text in texts for label in node.findall(text)),
        frozenset(label for text in texts for label in relation.findall(text)),
    )


def _strings(tree: ast.AST) -> Iterator[str]:
    """Literals; what a formatted one puts in stands as "…"."""
    for child in ast.iter_child_nodes(tree):
        match child:
            case ast.JoinedStr(values):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in values)
            case ast.Constant(value=str() as text):
                yield text
            case _:
                yield from _strings(child)
