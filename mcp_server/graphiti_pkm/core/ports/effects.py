"""A write's effect on a graph that lies in the journal's own file: both are one transaction there."""

from collections.abc import Callable
from typing import Any, TypeAlias

Effect: TypeAlias = Callable[[Any], None]
"""Applies a write within a transaction that the journal began; its argument is the journal's connection.

Raises WriteFailed: then nothing of the write is kept, in the journal neither.
"""
