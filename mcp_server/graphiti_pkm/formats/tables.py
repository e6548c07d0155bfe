"""Lists of edges as CSV and TSV: a header with source, target and relation; further columns are properties."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphiti_pkm.domain.scratch import DEFAULT_RELATION, Content, ScratchLimits
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.formats.collecting import Collector
from graphiti_pkm.formats.values import PREFIX, number_or_text, plain, unreadable

_ENDS = ("source", "target")
_OWN = (*_ENDS, "relation")
_DELIMITERS = ",\t;"
_MOST_COLUMNS = 200


def read_table(text: str, limits: ScratchLimits) -> Content:
    """What a list of edges says; the header tells which character stands between its columns.

    Raises:
        InvalidInput: it is none, or too large.
    """
    lines = text.removeprefix("\ufeff")
    rows = _rows(lines, _delimiter(lines))
    line, header = next(rows, (1, []))
    columns = _columns(line, header, lines)
    collector = Collector(limits)
    for line, row in rows:
        if len(row) > len(columns):
            raise unreadable(line, f"there are {len(row)} columns, and the header has {len(columns)}", ", ".join(row))
        cells = {name: cell.strip() for name, cell in zip(columns, row, strict=False)}
        missing = next((name for name in _ENDS if not cells.get(name)), None)
        if missing:
            raise unreadable(line, f"there is no {missing}", ", ".join(row))
        properties = {
            name.removeprefix(PREFIX): number_or_text(cell) for name, cell in cells.items() if cell and name not in _OWN
        }
        relation = cells.get("relation") or DEFAULT_RELATION
        collector.edge(cells["source"], cells["target"], relation, properties, line)
    return collector.content()


def write_csv(content: Content) -> str:
    """The edges, with their properties; nodes without edges are not in it."""
    return _written(content, ",")


def write_tsv(content: Content) -> str:
    """As CSV, with tabs between the columns."""
    return _written(content, "\t")


def _delimiter(text: str) -> str:
    """The one that the header's names stand between."""
    header = text.lstrip().partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the number of its line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise unreadable(reader.line_num, f"the quotes of this row are not right ({error})") from None
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _columns(line: int, header: Sequence[str], text: str) -> list[str]:
    named = [name.strip() for name in header]
    columns = [name.lower() if name.lower() in _OWN else name for name in named]
    for end in _ENDS:
        if end not in columns:
            raise unreadable(line, f"the header has no column {end}; it begins with source,target,relation", text[:80])
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
            f"The edges have {len(names)} properties of different names, and a table has at most {_MOST_COLUMNS} "
            "columns. Use the format json instead, or narrow it with nodes."
        )
    rows = [[*_OWN, *(_column(name) for name in names)]]
    for edge in content.edges:
        rows.append([edge.source, edge.target, edge.relation, *(_cell(edge.properties, name) for name in names)])
    return "".join(delimiter.join(_quoted(cell, delimiter) for cell in row) + "\n" for row in rows)


def _quoted(cell: str, delimiter: str) -> str:
    """In quotes where it needs them; Python's writer leaves a lone carriage return, which its reader refuses."""
    return '"' + cell.replace('"', '""') + '"' if any(char in cell for char in f'{delimiter}"\r\n') else cell


def _column(name: str) -> str:
    return PREFIX + name if name.lower() in _OWN or name.startswith(PREFIX) or name != name.strip() else name


def _cell(properties: Mapping[str, Any], name: str) -> str:
    return plain(properties[name]) if name in properties else ""
