"""Records the demo as a picture for the README: ``python -m tests.demo_picture``. A test compares it with a run."""

import os
import re
import subprocess
from html import escape
from pathlib import Path

from tests.e2e.support import COMMAND

PICTURE = Path(__file__).resolve().parents[1] / "DOCS" / "demo.svg"
STEPS = ("2.", "3.", "4.", "6.", "7.")
WIDTH = 100
_CHARACTER, _LINE, _MARGIN = 8, 19, 16
_FONT = 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13"'
_COLOURS = {"current": "#7ee787", "ended": "#ff9b8e", "event": "#79c0ff", "no longer": "#ff9b8e"}


def shown(output: str) -> list[str]:
    """The lines of the demo that the picture shows: steps whose text does not depend on the machine's speed."""
    steps = re.split(r"\n(?=\d+\. )", output.partition("\n\nYour own assistant")[0])
    chosen = [step.rstrip() for step in steps if step.startswith(STEPS)]
    return "\n\n".join(chosen).splitlines()


def svg(lines: list[str]) -> str:
    """Lines of a terminal; no font but the viewer's own, so that nothing is loaded."""
    height = _LINE * (len(lines) + 2) + 2 * _MARGIN
    rows = []
    for number, line in enumerate(["$ graphiti-pkm demo", "", *lines]):
        colour = next((value for word, value in _COLOURS.items() if line.strip().startswith(word)), "#e6edf3")
        weight = ' font-weight="bold"' if re.match(r"\d+\. |\$ ", line) else ""
        y = _MARGIN + _LINE * (number + 1) - 5
        rows.append(f'<text x="{_MARGIN}" y="{y}" fill="{colour}"{weight} xml:space="preserve">{escape(line)}</text>')
    width = _CHARACTER * WIDTH + 2 * _MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" {_FONT} role="img">',
        "<title>Output of graphiti-pkm demo</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *rows,
        "</svg>\n",
    ])  # fmt: skip


def main() -> None:
    """Run the demo and write the picture."""
    environ = os.environ | {"COLUMNS": str(WIDTH)}
    played = subprocess.run([COMMAND, "demo"], env=environ, capture_output=True, text=True, check=True)
    PICTURE.write_text(svg(shown(played.stdout)), encoding="utf-8")


if __name__ == "__main__":
    main()
