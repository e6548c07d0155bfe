"""Which attributes of DOT say something about a node or edge, and which only how it is drawn."""

import re
from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.scratch.formats.dot_tokens import Token, shown
from graphiti_pkm.capabilities.scratch.formats.values import PREFIX, number_or_text

# https://graphviz.org/doc/info/attrs.html, without comment, href, tooltip, URL and weight, which say something.
DRAWING = frozenset(
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


def properties_of(attributes: Mapping[str, Token]) -> tuple[str | None, dict[str, Any]]:
    """Type and properties of a node or edge."""
    kind = attributes.get("type")
    properties = {
        name.removeprefix(PREFIX): _value(name, token)
        for name, token in attributes.items()
        if name not in DRAWING and name != "type"
    }
    return (None if kind is None else shown(kind.text, "")), properties


def _value(name: str, token: Token) -> Any:
    if token.kind == "number" or name == "weight":
        return number_or_text(shown(token.text, ""))
    if token.kind == "name" and token.text in ("true", "false"):
        return token.text == "true"
    return shown(token.text, "") if token.kind == "quoted" else token.text
