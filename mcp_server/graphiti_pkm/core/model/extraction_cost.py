"""Splits long episodes for a model, and estimates how many calls an episode takes."""

from math import ceil

from graphiti_pkm.settings.model import PART_CHARACTERS

_CUTS = ("\n\n", "\n", ". ", "! ", "? ", "。", " ")
"""Where a text is cut, in order of preference."""
_FIXED_CALLS = 2
"""One call for entities, one for facts."""
_LIKELY_CALLS = 4
"""Plus calls for resolving entities and for summaries."""
_CHARACTERS_A_FACT = 200


def split_parts(text: str, most: int = PART_CHARACTERS) -> list[str]:
    """Parts of at most ``most`` characters that join to the text, cut between paragraphs if possible.

    No part is cut to less than half of that, so that their number is bounded.
    """
    parts: list[str] = []
    start = 0
    while len(text) - start > most:
        end = start + most
        ends = (text.rfind(cut, start + most // 2, end) + len(cut) for cut in _CUTS)
        cut_at = next((at for at in ends if at > start + most // 2), end)
        parts.append(text[start:cut_at])
        start = cut_at
    return [*parts, text[start:]]


def estimated_calls(characters: int, most: int = PART_CHARACTERS) -> tuple[int, int]:
    """The fewest calls for an episode of that length, and the likely number, which includes one per fact."""
    parts = max(1, ceil(characters / most))
    return parts * _FIXED_CALLS, parts * _LIKELY_CALLS + ceil(characters / _CHARACTERS_A_FACT)
