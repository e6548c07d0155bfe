"""Texts that are almost right: samples of each format, bent by chance."""

import json
import random
from collections.abc import Mapping

from graphiti_pkm.capabilities.scratch.formats.registry import ReadFormat

SAMPLES: Mapping[ReadFormat, tuple[str, ...]] = {
    "dot": (
        "digraph { api -> auth; api -> users; auth -> database; users -> database; }",
        """strict digraph "G" { rankdir=LR; node [shape=box, type="service"]; edge [label=calls];
          subgraph cluster_0 { label="Back end"; "auth service":f0:ne -> b:w [weight=2.5, note="say \\"hi\\""] }
          { a b } -> { c; d } -> subgraph x { e } [color=red];  # as in a shell
          <<b>bold</b> &amp; <i>more</i>> -> "long" + " name" -> -1.5; /* over
          lines */ // to the end
        }""",
        'digraph { User; user_; "us-er" [type=t]; User -> user_ -> "us er"; "User (2)" }',
        'graph { a -- b -- c; b -- a [label="knows\\nwell"]; é_1 -- "C++" }',
        'digraph { n1 [label="Auth Service"]; n2 [label="{<f0> a|b}", shape=record]; n1 -> n2 [label="uses"]; n3 }',
    ),
    "csv": (
        "source,target,relation\napi,auth,calls\nauth,database,queries\napi,users,calls\n",
        '\ufeffsource,target,relation,weight,note\r\n"a, b","say ""hi""",is,2.5,"two\r\nlines"\r\nc,d,,,\r\n',
        "Source\tTarget\tRelation\napi\tauth\tcalls\nauth\tdb\tqueries\n",
        "sep=;\nfrom;to;Type;Label;;\nInit;__init__;Undirected;x;;\n__INIT__;in it;;;;\n",
        "target;source;since\nb;a;2020\nc;b;007\n",
    ),
    "json": (
        '{"nodes": [{"name": "a"}, {"name": "A"}], "links": [{"source": 0, "target": 1}, {"source": "_a", "to": 1}]}',
        json.dumps(
            {
                "nodes": [{"label": "A", "type": "service", "properties": {"x": [1, {"y": None}]}}, "B"],
                "edges": [{"source": "A", "target": "C", "relation": "calls", "properties": {"weight": 2}}],
            }
        ),
        json.dumps(
            {
                "directed": False,
                "nodes": [{"id": 1, "label": "Auth"}, {"id": 2, "name": "Db", "size": 1.5}],
                "links": [{"source": 1, "target": 2, "value": 3}, {"from": {"id": 2}, "to": 1, "label": "é"}],
            },
            ensure_ascii=False,
            indent=1,
        ),
    ),
    "graphml": (
        """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="type" attr.type="string"><default>part</default></key>
<key id="d1" for="node" attr.name="port" attr.type="long"/>
<key id="d2" for="edge" attr.name="weight" attr.type="double"/>
<key id="d3" for="edge" attr.name="relation" attr.type="string"/><key id="p" for="all" attr.name="properties"/>
<graph edgedefault="directed"><node id="A &amp; B"><data key="d0">service</data><data key="d1">80</data></node>
<node id="C"><data key="p">{"a": [1, {"b": null}]}</data><graph><node id="C::D"/></graph></node>
<edge source="A &amp; B" target="C"><data key="d2">1.5</data><data key="d3">calls</data></edge>
<edge source="C" target="A &amp; B" directed="false"/></graph></graphml>""",
        """<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="g" for="node" yfiles.type="nodegraphics"/>
<key for="node" id="n" attr.name="name" attr.type="string"/><graph edgedefault="undirected">
<node id="n0"><data key="g"><y:ShapeNode><y:NodeLabel>Auth
 Service</y:NodeLabel></y:ShapeNode></data></node><node id="n1"><data key="n">Db</data></node>
<edge id="e0" source="n0" target="n1"><data key="g"><y:EdgeLabel>uses</y:EdgeLabel></data></edge>
<hyperedge/></graph></graphml>""",
    ),
}

_NASTY = (
    *("{" * 300, "[" * 5_000, '{"a":' * 5_000, "<graph>" * 500, "subgraph {" * 80, "<" * 400, '"' * 7, "(" * 99),
    *("9" * 5_000, "1e999", "-1e-999", "NaN", "-Infinity", "0x10", "--5", "1_000", "1.2.3", "٣", "1e5"),
    *("\0", "\ufeff", "\u202e", "\u2028", "\ud7ff", "\U0010ffff", "\ufffe", "e\u0301", "🙂", "\x0b\x0c\x1c", "\u00a0"),
    *("\\", "\\N", '\\"', "\\u0000", "\\ud800", "&#0;", "&#xd800;", "&lol;", "]]>", "<![CDATA[x]]>", "<!--", "-->"),
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
    '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
    '<?xml version="1.0" encoding="UTF-16"?>',
    *("\r", "\r\n", "\n\n", "\t", " ", ",", ";", ":", "=", "+", "->", "--", "/*", "*/", "//", "#", "'", '""', '"'),
    *(
        "null",
        "true",
        '{"id": {}}',
        "[]",
        "{}",
        '"properties": 3',
        "strict",
        "node",
        "edge [x=y]",
        "graph",
        "digraph {",
    ),
    *(
        "x" * 501,
        "é" * 501,
        "source,target\n" * 50,
        "a -> " * 200,
        "<node id='n'/>" * 90,
        "{a b c d e f} -> {g h i j k l};",
    ),
)
_MOST = 20_000


def mutated(text_format: ReadFormat, seed: int) -> str:
    """A text that is the same for the same seed."""
    chance = random.Random(f"{text_format}{seed}")  # noqa: S311
    text = chance.choice(SAMPLES[text_format])
    for _ in range(chance.choice((1, 1, 2, 3, 5, 12))):
        text = _bent(text, chance, text_format)[:_MOST]
    return text


def _bent(text: str, chance: random.Random, text_format: ReadFormat) -> str:  # noqa: PLR0911  (one a kind)
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((1, 1, 2, 5, 20, 100)))
    kind = chance.randrange(7)
    if kind == 0:  # flip bits
        data = bytearray(text.encode(errors="replace"))
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return data.decode(errors="replace")
    if kind == 1:
        return text[:start] + text[end:]
    if kind == 2:  # say it again
        return text[:end] + text[start:end] * chance.choice((1, 1, 3, 30)) + text[end:]
    if kind == 3:  # go on as another sample does
        other = chance.choice(SAMPLES[chance.choice((text_format, text_format, *SAMPLES))])
        return text[:start] + other[chance.randrange(len(other)) :]
    if kind == 4:
        return text[:start] + chr(chance.choice((chance.randrange(128), chance.randrange(0xD800)))) + text[end:]
    if kind == 5:  # swap two pieces
        middle = (start + end) // 2
        return text[:start] + text[middle:end] + text[start:middle] + text[end:]
    return text[:start] + chance.choice(_NASTY) + text[start:]
