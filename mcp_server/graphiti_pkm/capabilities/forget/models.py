"""Answers of forgetting: the preview, or what was removed and what a search finds afterwards."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer

EpisodesMode = Literal["redact", "delete", "keep"]
"""What happens to episodes: sentences are removed, whole episodes are removed, or their texts stay."""


class ForgetResponse(Answer):
    message: str
    status: Literal["preview", "nothing", "forgotten", "pending"]
    """pending: removed from every answer, but not yet from every file."""
    removed: dict[str, int]
    """Counts by kind: sentences, titles, episodes, facts, entities, mentions, summaries, aliases, reasons,
    relations, types and sagas that stay without the words, metadata of projects, entries and documents,
    saved_graphs.

    journal: earlier texts and deleted facts that nothing but the journal held.
    """
    confirm: str | None = None
    """With a preview: the token for the call that forgets; valid only for what is shown."""
    sentences: list[str] | None = None
    """Preview: date, episode and words (at most 50)."""
    facts: list[str] | None = None
    """Preview, with their dates (at most 50)."""
    entities: list[str] | None = None
    summaries: list[str] | None = None
    """Entities whose summary or attributes lose a part (all of it where it cannot be separated), or that lose a
    name."""
    saved_graphs: list[str] | None = None
    """Saved scratch graphs that contain it and are removed completely (at most 20)."""
    stays: list[str] | None = None
    """What was recorded with it and stays, and why (at most 20)."""
    ask_user: list[str] | None = None
    """What may still refer to it, or contains a word that occurs nowhere else (at most 20): ask whether to remove
    it."""
    restorable: list[str] | None = None
    """Facts that the removed ones had ended; restore_fact brings them back (at most 20)."""
    found_afterwards: list[str] | None = None
    """Where the removed words, or forms that may mean the same, still occur, and the call for each (at most 10)."""
