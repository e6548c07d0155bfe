"""Reports the progress of a call that waits."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[float, float, str], Awaitable[None]]
"""Takes the seconds waited, the most seconds it will wait, and what happens, in words."""


async def no_progress(_waited: float, _most: float, _what: str) -> None:
    """The progress of a call whose client asks for none."""
