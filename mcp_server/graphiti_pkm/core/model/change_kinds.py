"""What may become of a fact or an entity."""

from typing import Literal, get_args

AskedChange = Literal["added", "retired", "voided", "restored", "dated", "deleted", "proposed", "rejected", "updated"]
ReviewChange = Literal["flagged", "cleared", "rated", "biased"]
"""What a librarian or curator said of an entity; ``reason`` begins with the number of a confidence or bias."""
ChangeKind = Literal[AskedChange, "merged", "unmerged", "split", "migrated", ReviewChange]
"""Kinds of changes of a fact. ``added`` is derived from the fact and never stored as an event; ``dated``: an unknown
start became known, or an earlier time at which it held. From ``updated`` on they are changes of an entity; ``merged``:
of the one that another was merged into, which ``replaced_by`` names; ``split``: of the one that another was split off;
``migrated``: it came from another group."""
REVIEW_CHANGES: tuple[ReviewChange, ...] = get_args(ReviewChange)
OTHER_CHANGES: tuple[ChangeKind, ...] = tuple(kind for kind in get_args(ChangeKind) if kind not in REVIEW_CHANGES)
