"""Paragraphs of the specification's own examples: each alone is one block of the page that the specification gives."""

import re
from pathlib import Path

import pytest
from justhtml import JustHTML
from markdown_it import MarkdownIt
from tests.unit.capabilities.sources.test_layout import places_of

DATA = Path(__file__).resolve().parents[3] / "data"
FRONT_MATTER = 96
"""The number of the example that is front matter here: it begins with a heading between two lines of three hyphens."""
EXAMPLES = re.findall(
    r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$",
    (DATA / "commonmark_examples.txt").read_text(encoding="utf-8").replace("→", "\t"),
    re.DOTALL | re.MULTILINE,
)
PARSER = MarkdownIt("commonmark")


def normalised(page: str) -> str:
    """Without rules, which are no paragraphs, and without the white space between elements."""
    return " ".join(page.replace("<hr />", "").split()).replace("> <", "><")


def blocks_in(page: str) -> int:
    """Of a paragraph the count of its tags: those that the author wrote in it may never end."""
    if page.startswith("<p>"):
        return page.count("<p>")
    root = JustHTML(page, fragment=True, sanitize=False).root
    return sum(one.name != "#text" for one in root.children or ())


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_each_example_has_the_paragraphs_that_the_specification_shows(line_break: str) -> None:
    assert len(EXAMPLES) == 652
    for number, (source, page) in enumerate(EXAMPLES, 1):
        if number == FRONT_MATTER:
            continue
        text = source.replace("\n", line_break)
        definitions: dict[str, object] = {}
        PARSER.parse(source, definitions)
        shown = []
        for start, end in places_of(text).values():
            line = max(text.rfind(mark, 0, start) for mark in "\r\n") + 1
            shown.append(PARSER.render(text[line:end].replace(line_break, "\n") + "\n", definitions.copy()))
        assert normalised("".join(shown)) == normalised(page), (number, source)
        assert max(map(blocks_in, shown), default=0) <= 1, (number, shown)
