"""Reads and writes edge lists as CSV and TSV: source, target, relation, and properties in further columns."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphiti_pkm.capabilities.scratch.formats.collecting import UNDIRECTED, Collector
from graphiti_pkm.capabilities.scratch.formats.values import PREFIX, number_or_text, plain, unreadable
from graphiti_pkm.capabilities.scratch.limits import DEFAULT_RELATION, Content
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_ENDS = ("source", "target")
_OWN = (*_ENDS, "relation")
_OF_NODES = ("label",)
_OTHER_ENDS = {"from": "source", "to": "target"}
_RELATIONS = ("label", "type")
"""Columns that are read as the relation if there is none of that name; Gephi writes ``label``."""
_DIRECTIONS = frozenset({"directed", "undirected"})
_SEPARATOR = re.compile(r'"?sep=([,;\t])"?[,;\t ]*\r?\n', re.IGNORECASE)
"""A line that Excel writes before the header."""
_DELIMITERS = ",\t;"
_MOST_COLUMNS = 200


def read_table(text: str, limits: ScratchLimits, nodes: str | None = None) -> Content:
    """The content of an edge list and, if given, of a list of nodes; the delimiters are inferred from the headers.

    Raises:
        InvalidInput: a text is no such list, or too large.
    """
    collector, is_empty = Collector(limits), True
    if nodes is not None:
        _read_nodes(nodes, collector)
    rows, line, header = _table(text)
    columns = _columns(line, header, text)
    has_relation = "relation" in columns
    for line, row in rows:
        is_empty = False
        if any(cell.strip() for cell in row[len(columns) :]):
            raise unreadable(line, f"there are {len(row)} columns, and the header has {len(columns)}", ", ".join(row))
        cells = {name: said for name, cell in zip(columns, row, strict=False) if (said := cell.strip())}
        missing = next((name for name in _ENDS if name not in cells), None)
        if missing:
            raise unreadable(line, f"the row has no {missing}", ", ".join(row))
        source, target = cells.pop("source"), cells.pop("target")
        is_directed = has_relation or _is_directed(cells)
        name = "relation" if has_relation else next((name for name in _RELATIONS if name in columns), "")
        relation = cells.pop(name, DEFAULT_RELATION)
        properties = {name.removeprefix(PREFIX): number_or_text(cell) for name, cell in cells.items()}
        collector.edge(source, target, relation, properties, line, directed=is_directed)
        if not is_directed:
            collector.warn(UNDIRECTED)
    if is_empty:
        collector.warn("The table has a header and no rows; nothing was in it.")
    return collector.content()


def _read_nodes(text: str, collector: Collector) -> None:
    """Nodes from a table with the columns label and perhaps type; further columns are properties."""
    rows, line, header = _table(text)
    columns = _named(line, header, (*_OF_NODES, "type"), "label,type", _OF_NODES)
    for line, row in rows:
        if any(cell.strip() for cell in row[len(columns) :]):
            raise unreadable(line, f"there are {len(row)} columns, and the header has {len(columns)}", ", ".join(row))
        cells = {name: said for name, cell in zip(columns, row, strict=False) if (said := cell.strip())}
        if "label" not in cells:
            raise unreadable(line, "the row has no label", ", ".join(row))
        label, kind = cells.pop("label"), cells.pop("type", None)
        properties = {name.removeprefix(PREFIX): number_or_text(cell) for name, cell in cells.items()}
        collector.node(label, kind, properties, line)


def _table(text: str) -> tuple[Iterator[tuple[int, list[str]]], int, list[str]]:
    """The rows of a table, and the line and names of its header."""
    lines = text.removeprefix("\ufeff")
    separator = _SEPARATOR.match(lines)
    rows = _rows(lines, separator[1] if separator else _delimiter(lines))
    if separator:
        next(rows)
    return rows, *next(rows, (1, []))


def _is_directed(cells: dict[str, str]) -> bool:
    """The direction that Gephi writes in the column ``type``; the cell is removed."""
    said = cells.get("type", "").lower()
    if said in _DIRECTIONS:
        del cells["type"]
    return said != "undirected"


def write_csv(content: Content) -> str:
    """The edges with their properties; nodes without edges are omitted."""
    return _written(content, ",")


def write_tsv(content: Content) -> str:
    """As CSV, but separated by tabs."""
    return _written(content, "\t")


def not_in_tables(content: Content) -> list[str]:
    """Warnings about the parts of a graph that an edge list does not contain."""
    ends = {label for edge in content.edges for label in (edge.source, edge.target)}
    alone = sum(1 for node in content.nodes if node.label not in ends)
    typed = sum(1 for node in content.nodes if node.type is not None)
    described = sum(1 for node in content.nodes if node.properties)
    more = [f"types ({counted(typed, 'node')})"] if typed else []
    more += [f"properties of nodes ({counted(described, 'node')})"] if described else []
    if not (alone or more):
        return []
    what = " and ".join(more)
    if alone:
        verb = "are" if alone > 1 else "is"
        told = f"{counted(alone, 'node')} without edges {verb} not in the table{f', nor are {what}' if what else ''}"
    else:
        told = f"{what[0].upper()}{what[1:]} are not in the table"
    return [f"{told}; json and graphml hold everything."]


def _delimiter(text: str) -> str:
    """The delimiter that the header uses most."""
    header = text.lstrip().partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The non-empty rows with their line numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise unreadable(reader.line_num, f"the quotes in this row are invalid ({error})") from None
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _columns(line: int, header: Sequence[str], text: str) -> list[str]:
    lower = [name.strip().lower() for name in header]
    known = _OWN if "relation" in lower else (*_OWN, *_RELATIONS, "weight")
    renamed = [_end_of(name.strip(), lower) for name in header]
    return _named(line, renamed, known, "source,target,relation", _ENDS, text)


def _end_of(name: str, lower: Sequence[str]) -> str:
    end = _OTHER_ENDS.get(name.lower())
    return name if end is None or end in lower else end


def _named(
    line: int, header: Sequence[str], known: Sequence[str], begins: str, needed: Sequence[str], text: str | None = None
) -> list[str]:
    """The names of the columns; those that are ``known`` in lower case."""
    named = [name.strip() for name in header]
    while named and not named[-1]:  # trailing empty columns, as spreadsheets write them
        named.pop()
    columns = [name.lower() if name.lower() in known else name for name in named]
    for one in needed:
        if one not in columns:
            shown = ",".join(header) if text is None else text
            raise unreadable(line, f"the header has no column {one}; it begins with {begins}", shown[:80])
    if len(columns) > _MOST_COLUMNS:
        raise unreadable(line, f"there are {len(columns)} columns, at most {_MOST_COLUMNS} are read")
    twice = next((name for name in columns if not name or columns.count(name) > 1), None)
    if twice is not None:
        raise unreadable(line, "a column has no name" if not twice else "two columns have the same name", twice)
    return columns


def _written(content: Content, delimiter: str) -> str:
    names = dict.fromkeys(name for edge in content.edges for name in edge.properties)
    if len(names) > _MOST_COLUMNS:
        raise InvalidInput(
            f"The edges have properties of {len(names)} different names, but a table has at most {_MOST_COLUMNS} "
            "columns. Use the format json instead, or narrow it with nodes."
        )
    rows = [[*_OWN, *map(_column, names)]]
    rows += [
        [edge.source, edge.target, edge.relation, *(_cell(edge.properties, name) for name in names)]
        for edge in content.edges
    ]
    return "".join(delimiter.join(_quoted(cell, delimiter) for cell in row) + "\n" for row in rows)


def _quoted(cell: str, delimiter: str) -> str:
    """Quotes a cell if necessary. Python's writer does not quote a lone carriage return, which its reader rejects."""
    return '"' + cell.replace('"', '""') + '"' if any(char in cell for char in f'{delimiter}"\r\n') else cell


def _column(name: str) -> str:
    return PREFIX + name if name.lower() in _OWN or name.startswith(PREFIX) or name != name.strip() else name


def _cell(properties: Mapping[str, Any], name: str) -> str:
    return plain(properties[name]) if name in properties else ""
