"""The checks that ``curate run`` knows."""

from typing import Literal, TypeAlias, get_args

Check: TypeAlias = Literal["orphans", "low-confidence", "stale-plans", "duplicates", "placement"]
CHECKS: tuple[Check, ...] = get_args(Check)
"""In the order in which they run: those that need no embedding model first."""
