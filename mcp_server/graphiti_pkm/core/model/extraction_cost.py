"""How a long episode is cut for a model, and how many calls an episode takes."""

from math import ceil

from graphiti_pkm.settings.model import PART_CHARACTERS

_CUTS = ("\n\n", "\n", ". ", "! ", "? ", "。", " ")
"""Where a text is cut, best first."""
_FIXED_CALLS = 2
"""Entities, and facts."""
_LIKELY_CALLS = 4
"""Also which of the entities are known, and summaries."""
_CHARACTERS_A_FACT = 200


def split_parts(text: str, most: int = PART_CHARACTERS) -> list[str]:
    """Parts of at most ``most`` characters that are the text when joined, cut between paragraphs if that is possible.

    A part is never shorter than half of it for that, so that their number is bounded.
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
    """The fewest calls that an episode of that length takes, and how many are likely: one a fact besides."""
    parts = max(1, ceil(characters / most))
    return parts * _FIXED_CALLS, parts * _LIKELY_CALLS + ceil(characters / _CHARACTERS_A_FACT)
