"""Pictures: SVG, a tree in characters, and Mermaid."""

import math
import random
import re
from collections import Counter
from itertools import combinations, pairwise
from xml.parsers import expat

import pytest

from graphiti_pkm.capabilities.scratch.drawing.picture_texts import FONT_SIZE, LINE, boxed, cut_to, width_of
from graphiti_pkm.capabilities.scratch.formats.registry import write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.errors import InvalidInput

SAMPLE = re.compile(r"M-?\d+ -?\d+h28")
"""A line of the legend."""
_WORDS = ("auth", "user", "order", "payment", "invoice", "mail", "search", "cart", "stock", "session", "token", "queue")


def some_graph(nodes: int, edges: int, seed: int, *, circles: bool) -> Content:
    """A graph that goes one way, or not."""
    chance = random.Random(seed)  # noqa: S311
    labels = [f"{chance.choice(_WORDS).title()}{chance.choice(_WORDS).title()} {number}" for number in range(nodes)]
    drawn = [chance.sample(range(nodes), 2) for _ in range(edges)]
    ends = {(one, other) if circles else (min(one, other), max(one, other)) for one, other in drawn}
    relations = ("calls", "queries", "depends on", "calls, queries and depends on for ever")
    return Content(
        tuple(ScratchNode(label, chance.choice((None, "service", "database", "t<x>"))) for label in labels),
        tuple(ScratchEdge(labels[one], labels[other], chance.choice(relations)) for one, other in sorted(ends)),
    )


def boxes_of(picture: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every box, the legend's as well."""
    shapes = re.findall(r"<rect x='(-?\d+)' y='(-?\d+)' width='(\d+)' height='(\d+)'", picture)
    numbers = [tuple(map(float, shape)) for shape in shapes]
    return [(x, y, x + width, y + height) for x, y, width, height in numbers]


def relations_of(picture: str) -> list[tuple[float, float, float, float]]:
    """The room of every text that stands at a line."""
    return [area for area, _ in labelled(picture)]


def labelled(picture: str) -> list[tuple[tuple[float, float, float, float], str]]:
    """The room of every text that stands at a line, and the text."""
    groups = re.findall(r"<g fill='#[0-9a-f]+' font-size='11' text-anchor='middle'>(.*?)</g>", picture, re.DOTALL)
    texts = re.findall(r"<text x='(-?\d+)' y='(-?\d+)'>([^<]*)</text>", "".join(groups))
    found = []
    for x, y, text in texts:
        half = width_of(text) / 2
        area = (float(x) - half, float(y) - LINE * 0.75, float(x) + half, float(y) + LINE * 0.25)
        found.append((area, text))
    return found


def lines_of(picture: str) -> list[list[tuple[float, float]]]:
    """Points along every edge, close to each other, in the order of the picture."""
    lines = []
    for path in re.findall(r"<path d='(M[^'z]*)'", picture):
        if SAMPLE.fullmatch(path):
            continue
        at, points = (0.0, 0.0), list[tuple[float, float]]()
        for command, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
            numbers = [float(number) for number in re.findall(r"-?\d+", text)]
            places = list(zip(numbers[::2], numbers[1::2], strict=True))
            if command == "c":
                places = [(x + at[0], y + at[1]) for x, y in places]
            corners = [at, *places] if command != "M" else places
            points += [_on_curve(corners, step / 100) for step in range(101)]
            at = corners[-1]
        lines.append(points)
    return lines


def _on_curve(corners: list[tuple[float, float]], share: float) -> tuple[float, float]:
    """A point of a Bézier curve of any degree (de Casteljau)."""
    while len(corners) > 1:
        corners = [
            (one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share)
            for one, other in pairwise(corners)
        ]
    return corners[0]


def apart(area: tuple[float, float, float, float], points: list[tuple[float, float]]) -> float:
    """The distance of a line from an area."""
    return min(math.hypot(max(area[0] - x, 0, x - area[2]), max(area[1] - y, 0, y - area[3])) for x, y in points)


def overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def frame_of(picture: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what is seen."""
    left, top, width, height = map(float, re.findall(r"viewBox='(-?\d+) (-?\d+) (\d+) (\d+)'", picture)[0])
    return left, top, left + width, top + height


def is_within(inner: tuple[float, float, float, float], outer: tuple[float, float, float, float]) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (2, 1), (6, 8), (40, 60), (120, 200), (300, 400)])
@pytest.mark.parametrize("circles", [False, True])
def test_nothing_covers_anything_and_all_of_it_is_in_the_picture(nodes: int, edges: int, circles: bool) -> None:
    content = some_graph(nodes, edges if nodes > 1 else 0, nodes, circles=circles)
    picture = write(content, "svg")
    boxes, relations = boxes_of(picture), relations_of(picture)
    assert len(boxes) >= nodes
    assert not any(overlap(one, other) for one, other in combinations(boxes[:nodes], 2))
    assert not any(overlap(box, relation) for box in boxes[:nodes] for relation in relations)
    assert not any(overlap(one, other) for one, other in combinations(relations, 2))
    assert all(is_within(area, frame_of(picture)) for area in (*boxes, *relations))
    assert len(lines_of(picture)) == len(content.edges)
    assert write(content, "svg") == picture


@pytest.mark.parametrize(("nodes", "edges"), [(8, 14), (25, 40), (60, 110)])
@pytest.mark.parametrize("circles", [False, True])
def test_no_label_stands_nearer_to_the_edge_of_another(nodes: int, edges: int, circles: bool) -> None:
    content = some_graph(nodes, edges, nodes, circles=circles)
    own = tuple(
        ScratchEdge(edge.source, edge.target, f"is relation {number}") for number, edge in enumerate(content.edges)
    )
    picture = write(Content(content.nodes, own), "svg")
    lines, labels = lines_of(picture), labelled(picture)
    assert len(lines) == len(own)
    assert len(labels) > len(own) / 3
    for area, text in labels:
        number = int(text.rpartition(" ")[2])
        others = min(apart(area, line) for at, line in enumerate(lines) if at != number)
        assert apart(area, lines[number]) < others, text


@pytest.mark.parametrize("circles", [False, True])
def test_most_relations_of_a_middling_graph_find_room(circles: bool) -> None:
    content = some_graph(40, 50, 4, circles=circles)
    assert len(relations_of(write(content, "svg"))) > 0.7 * len(content.edges)  # the others have a colour


def test_a_picture_is_harmless_xml_whatever_labels_say() -> None:
    nasty = ["<script>alert(1)</script>", "' onload='x", '" &amp; ]]>', "\x01\x0b", "a\nb", "", "\u202ertl", "𝔘"]
    nodes = tuple(ScratchNode(f"{text}{number}", text or None) for number, text in enumerate(nasty))
    labels = [node.label for node in nodes]
    edges = tuple(ScratchEdge(one, other, one) for one, other in zip(labels, labels[1:] + labels[:1], strict=True))
    picture = write(Content(nodes, (*edges, ScratchEdge(labels[0], labels[0], "to <itself>"))), "svg")
    elements: Counter[str] = Counter()
    attributes: set[str] = set()
    said: list[str] = []

    def start(name: str, given: dict[str, str]) -> None:
        elements[name] += 1
        attributes.update(given)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.CharacterDataHandler = said.append
    parser.Parse(picture, True)  # noqa: FBT003
    assert set(elements) == {"svg", "title", "defs", "marker", "path", "g", "rect", "text"}
    assert not any(name.startswith("on") or "href" in name for name in attributes)
    assert "<script>alert(1)</script>0" in "".join(said).replace("\n", "")


def test_one_relation_is_told_once_and_types_have_a_legend() -> None:
    picture = write(Content((ScratchNode("A", "x"), ScratchNode("B")), (ScratchEdge("A", "B", "uses"),)), "svg")
    assert picture.count("uses") == 1
    assert ">every edge: uses</text>" in picture
    assert [name in picture for name in (">x</text>", ">no type</text>", ">other types</text>")] == [True, True, False]
    many = write(Content(tuple(ScratchNode(f"n{one}", f"t{one}") for one in range(14))), "svg")
    assert many.count(">other types</text>") == 1


def test_a_relation_without_room_can_still_be_read_at_its_line() -> None:
    nodes = tuple(ScratchNode(f"n{number}") for number in range(12))
    edges = tuple(
        ScratchEdge(one.label, other.label, f"r{one.label}") for one in nodes for other in nodes if one != other
    )
    picture = write(Content(nodes, edges), "svg")
    assert len(relations_of(picture)) + picture.count("</title></path>") == len(edges)
    assert picture.count("</title></path>") > 0


def test_too_much_for_a_picture_is_an_error_that_says_what_to_do() -> None:
    many = tuple(ScratchNode(f"n{number}") for number in range(301))
    for shape, most in (("svg", "at most 300 nodes"), ("text", "at most 200 nodes")):
        with pytest.raises(InvalidInput, match=most):
            write(Content(many), shape)  # type: ignore[arg-type]
    edges = tuple(ScratchEdge("n0", one.label, f"r{number}") for one in many[:100] for number in range(11))
    with pytest.raises(InvalidInput, match="at most 1,000 edges"):
        write(Content(many[:100], edges), "svg")
    with pytest.raises(InvalidInput, match="at most 500 edges"):
        write(Content(many[:100], edges), "mermaid")


def test_labels_are_broken_into_at_most_three_lines() -> None:
    assert boxed("AuthService").lines == ("AuthService",)
    assert boxed("PricePaymentTransactionRepository").lines == ("PricePayment", "TransactionRepository")
    long = boxed("w" * 500)
    assert (len(long.lines), long.is_cut, long.lines[-1][-1]) == (3, True, "…")
    assert all(width_of(line) <= 160 for line in long.lines)
    assert width_of("日本") > width_of("ab") > width_of("il") > 0
    assert width_of(cut_to("x" * 500, 130)) <= 130
    assert cut_to(" a\nb ", 130) == "a b"
    assert FONT_SIZE < LINE


def test_a_tree_in_characters_shows_every_edge_once() -> None:
    for seed in range(200):
        content = some_graph(2 + seed % 30, seed % 45, seed, circles=seed % 2 == 0)
        lines = write(content, "text").splitlines()
        arrows = [line for line in lines if "→" in line]
        shown = sum(len(re.split(r", (?!queries and)", line.split("─ ")[1].split(" → ")[0])) for line in arrows)
        assert shown == len(content.edges), seed
        for node in content.nodes:
            assert any(node.label in line for line in lines), seed


def test_a_tree_goes_on_below_where_it_gets_too_deep_and_points_back_in_circles() -> None:
    chain = tuple(ScratchNode(f"n{number}") for number in range(60))
    edges = tuple(ScratchEdge(f"n{at}", f"n{at + 1}", "to") for at in range(59))
    lines = write(Content(chain, edges), "text").splitlines()
    assert max(map(len, lines)) < 120
    assert [line for line in lines if line.endswith("↓")] == [f"{'   ' * 30}└─ to → n31 ↓"]
    assert "n31" in lines
    circle = Content(
        chain[:2], (ScratchEdge("n0", "n1", "a"), ScratchEdge("n1", "n0", "b"), ScratchEdge("n1", "n1", "c"))
    )
    assert write(circle, "text") == "n0\n└─ a → n1\n   ├─ b → n0 ↑\n   └─ c → n1 ↑\n"


def test_mermaid_says_labels_in_its_codes() -> None:
    nodes = (ScratchNode('say "hi" #1', "the [type]"), ScratchNode("`end`\n<b>"))
    text = write(Content(nodes, (ScratchEdge(nodes[0].label, nodes[1].label, 'is "|" so'),)), "mermaid")
    assert text.splitlines() == [
        "flowchart LR",
        '  n0["say #quot;hi#quot; #35;1"]',
        '  n1["#96;end#96; #lt;b#gt;"]',
        '  n0 -->|"is #quot;#124;#quot; so"| n1',
        "  %% t0 is the type the [type]",
        "  class n0 t0",
    ]


def test_a_relation_of_most_edges_is_said_once_and_the_others_are_drawn_apart() -> None:
    imports = [ScratchEdge(one, other, "imports") for one, other in pairwise("abcdefg")]
    edges = (*imports, ScratchEdge("a", "g", "calls"), ScratchEdge("d", "h", "tests"), ScratchEdge("c", "d", "calls"))
    svg = write(Content(tuple(ScratchNode(label) for label in "abcdefgh"), edges), "svg")
    assert svg.count("imports") == 2  # below the picture, and on the line that stands for two relations
    assert ">unlabelled: imports<" in svg
    assert ">imports, calls<" in svg
    assert ">tests<" in svg
    dashed = re.findall(r"stroke='(#[0-9a-f]+)' stroke-width='1.3' stroke-dasharray='([0-9 ]+)'", svg)
    assert len(dashed) == len({colour for colour, _ in dashed}) == len({dash for _, dash in dashed}) == 2
    for colour, _ in dashed:
        assert f"id='tip{colour[1:]}'" in svg
        assert f"url(#tip{colour[1:]})" in svg


def test_relations_without_room_are_told_by_colour_and_legend() -> None:
    nodes = tuple(ScratchNode(f"n{number}") for number in range(12))
    names = ("causes", "prevents", "explains")
    edges = tuple(
        ScratchEdge(one.label, other.label, names[(at + to) % 3])
        for at, one in enumerate(nodes)
        for to, other in enumerate(nodes)
        if at != to
    )
    svg = write(Content(nodes, edges), "svg")
    samples = re.findall(r"stroke='(#[0-9a-f]+)'[^>]*>\n<path d='M-?\d+ -?\d+h28'/>\n</g>\n<text[^>]*>([a-z]+)<", svg)
    assert sorted(name for _, name in samples) == sorted(names)
    assert len({colour for colour, _ in samples}) == 3
    for colour, name in samples:
        drawn = re.search(rf"<g fill='none' stroke='{colour}'[^>]*>\n(.*?)\n</g>", svg, re.DOTALL)
        assert drawn is not None
        assert drawn[1].count("<path") == sum(edge.relation == name for edge in edges)


def test_without_a_relation_of_most_edges_every_line_has_its_label() -> None:
    edges = (ScratchEdge("a", "b", "calls"), ScratchEdge("b", "c", "reads"))
    svg = write(Content(tuple(ScratchNode(label) for label in "abc"), edges), "svg")
    assert "unlabelled" not in svg
    assert "dasharray" not in svg
    assert all(f">{relation}<" in svg for relation in ("calls", "reads"))


def test_a_line_with_a_gap_for_its_label_keeps_the_dashes_of_its_relation() -> None:
    content = some_graph(60, 110, 60, circles=False)
    picture = write(content, "svg")
    kept = []
    for dash, group in re.findall(
        r"<g fill='none' [^>]*stroke-dasharray='([0-9 ]+)'[^>]*>\n(.*?)\n</g>", picture, re.DOTALL
    ):
        pattern = list(map(int, dash.split()))
        for own in re.findall(r"<path [^>]*stroke-dasharray='([0-9 ]+)'", group):
            lengths = list(map(int, own.split()))
            assert len(lengths) % 2 == 0
            assert lengths[-1] == 9999
            kept.append(lengths[: len(pattern)] == pattern or lengths[0] < pattern[0])
    assert len(kept) > 5
    assert all(kept)


def test_a_legend_says_how_many_labels_have_no_room() -> None:
    content = some_graph(60, 110, 60, circles=False)
    picture = write(content, "svg")
    missing = picture.count("</title></path>") - sum(text.endswith("…") for _, text in labelled(picture))
    assert missing > 1
    assert f">{missing} labels left out: colours tell their relations</text>" in picture
    nodes = tuple(ScratchNode(f"n{number}") for number in range(12))
    ends = [(one.label, other.label) for one in nodes for other in nodes if one != other]
    many = write(Content(nodes, tuple(ScratchEdge(*pair, f"r{number}") for number, pair in enumerate(ends))), "svg")
    missing = many.count("</title></path>")
    assert f">{missing} labels left out: each is shown when the pointer is over its line</text>" in many
