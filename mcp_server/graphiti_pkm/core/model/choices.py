"""The words that callers choose filters with, apart from the filters: the list of tools needs only these."""

from typing import Literal

Direction = Literal["both", "out", "in"]
FactStatus = Literal["current", "possible", "ended", "voided", "planned", "event", "reading", "future"]
StatusFilter = Literal[FactStatus, "open"]
"""``open``: what waits for something to happen: open plans, goals, and what has a status such as "proposed"."""
