"""Keeps episodes in their order when they are copied."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import TypeVar

from graphiti_pkm.core.model.records import Episode

_T = TypeVar("_T")


def time_of(episode: Episode) -> tuple[datetime, datetime]:
    """What lists go by before the uuid."""
    return episode.valid_at, episode.created_at


def in_whole_writes(records: Iterable[_T], time: Callable[[_T], object], size: int) -> Iterator[list[_T]]:
    """Some at a time, so many or more: what has one time is not divided, since each write has a time of its own."""
    part: list[_T] = []
    for _, run in groupby(records, key=time):
        part += run
        if len(part) >= size:
            yield part
            part = []
    if part:
        yield part
