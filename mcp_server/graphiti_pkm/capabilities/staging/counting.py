"""Counts, and bounded lists, of what a copy did."""

from dataclasses import dataclass, field

from graphiti_pkm.capabilities.staging.models import Attached
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.queries import GroupSize

_LISTED = 20


@dataclass
class Found:
    """Lines for a report, of which the first are kept, and how many there are."""

    lines: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, line: str) -> None:
        """One more."""
        self.total += 1
        if len(self.lines) < _LISTED:
            self.lines.append(line)


@dataclass
class Counts:
    """How many records of each kind."""

    episodes: int = 0
    entities: int = 0
    facts: int = 0

    @property
    def size(self) -> GroupSize:
        """As an answer has it."""
        return GroupSize(episodes=self.episodes, entities=self.entities, facts=self.facts)


def attached_in_words(counts: Attached) -> str:
    """E.g. "1 document, 3 quotes"; empty if there is nothing."""
    found = ((counts.documents, "document"), (counts.quotes, "quote"), (counts.sagas, "saga"))
    return ", ".join(counted(count, what) for count, what in found if count)
