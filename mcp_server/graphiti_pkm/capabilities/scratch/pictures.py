"""Addresses of pictures, which clients read as resources: a picture takes no room in a conversation.

An address holds all that was asked for: the server keeps nothing, and draws the graph as it is when it is read.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote, urlencode

from graphiti_pkm.errors import TooLarge

if TYPE_CHECKING:  # the server imports this module also where no scratch graphs are offered
    from graphiti_pkm.capabilities.scratch.requests import GraphPart

PictureFormat: TypeAlias = Literal["svg", "png"]
BEGIN = "pkm://scratch/"
CHOICES = ("nodes", "hops", "relation", "rank", "reduce")
"""What an address may say besides; values are percent-encoded, and ``nodes`` is a list in JSON."""
_LONGEST = 4_000


def address(name: str, request: "GraphPart", named: Sequence[str], picture_format: PictureFormat) -> str:
    """The address of the picture that a request asks for of the graph ``name``; ``named``: the labels of its nodes.

    Raises:
        TooLarge: the labels make it longer than clients like.
    """
    asked = {
        "nodes": json.dumps(named, ensure_ascii=False, separators=(",", ":")) if named else None,
        "hops": request.hops or None,
        "relation": request.relation,
        "rank": request.rank,
        "reduce": "true" if request.reduce else None,
    }
    query = urlencode({name: value for name, value in asked.items() if value is not None}, quote_via=quote)
    whole = f"{BEGIN}{quote(name, safe='')}.{picture_format}{'?' if query else ''}{query}"
    if len(whole) > _LONGEST:
        raise TooLarge(
            f"The labels in nodes make an address of {len(whole):,} characters, and {_LONGEST:,} are the most. Name "
            "fewer and add what is near with hops, or send rank instead."
        )
    return whole


def renders_png() -> bool:
    """Whether pictures can also be rendered as PNG here."""
    from graphiti_pkm.capabilities.scratch.drawing.png import installed  # noqa: PLC0415  (only where it is asked for)

    return installed() is not None
