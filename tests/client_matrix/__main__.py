"""``python -m tests.client_matrix``: the tables of DOCS/clients.md; ``--write`` puts them there."""

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.client_matrix.configurations import connected
from tests.client_matrix.frameworks import FRAMEWORKS, Converted, converted, lost
from tests.protocol.support import SPECS, definition_named

PAGE = Path(__file__).resolve().parents[2] / "DOCS" / "clients.md"
FROM, TO = "<!-- matrix, by `make clients` -->", "<!-- end of matrix -->"


def matrix() -> str:
    """Both tables."""
    originals = asyncio.run(_originals())
    lines = ["| framework | tools | what a schema loses |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as directory:
        for framework in FRAMEWORKS:
            made = converted(framework, Path(directory) / "data")
            assert made.called, f"{framework.name} could not call a tool"
            assert made.tools.keys() == originals.keys(), f"{framework.name} does not take every tool"
            lines.append(f"| {framework.name} ({_versions(made)}) | {_taken(made)} | {_lost(made, originals)} |")
        lines += ["", "| configuration | over | tools | answers |", "|---|---|---|---|"]
        lines += [
            f"| {_linked(one.file)} | {one.over} | {one.tools} | {'yes' if one.answers else 'NO'} |"
            for one in connected(Path(directory))
        ]
    return "\n".join(lines)


async def _originals() -> dict[str, dict[str, object]]:
    return {name: (await definition_named(name))["inputSchema"] for name in SPECS}


def _linked(file: str) -> str:
    return f"[{file}](../examples/clients/{file})"


def _versions(made: Converted) -> str:
    return ", ".join(f"{name} {version}" for name, version in made.versions.items())


def _taken(made: Converted) -> str:
    return f"all; as they are: {', '.join(made.unchanged)}" if made.unchanged else "all"


def _lost(made: Converted, originals: dict[str, dict[str, object]]) -> str:
    keywords: Counter[str] = Counter()
    for name, schema in made.tools.items():
        if schema is not None:
            keywords += lost(originals[name], schema)
    return ", ".join(f"`{key}`" for key in sorted(keywords)) or "nothing"


def written(page: str, tables: str) -> str:
    """The page with these tables between its marks."""
    before, _, rest = page.partition(FROM)
    return f"{before}{FROM}\n{tables}\n{TO}{rest.partition(TO)[2]}"


if __name__ == "__main__":
    found = matrix()
    sys.stdout.write(found + "\n")
    if "--write" in sys.argv:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
