"""Takes lines out of the episodes of these tools: what is left, and where it stands then. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from graphiti_pkm.capabilities.compat.plan import type_line
from graphiti_pkm.core.model.records import Episode, EpisodeText, Fact, Passage

_QUOTE = ("quote", "quote_start", "quote_end", "quote_episode_uuid")


@dataclass(frozen=True)
class Lines:
    """An episode of these tools by its lines, each a paragraph of its passages."""

    episode: Episode
    passages: Sequence[Passage]

    @cached_property
    def starts(self) -> list[tuple[int, int]]:
        """Where each line begins, and the number of its paragraph; in order."""
        first = {one.paragraph: one.start for one in reversed(self.passages)}
        return sorted((start, number) for number, start in first.items())

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        """The lines by what they say."""
        ends = {one.paragraph: one.end for one in self.passages}
        found: dict[str, list[int]] = {}
        for start, number in self.starts:
            found.setdefault(self.episode.content[start : ends[number]], []).append(number)
        return found

    def of_fact(self, fact: Fact) -> int | None:
        """The line that a fact quotes."""
        if fact.quote_episode_uuid != self.episode.uuid or fact.quote_start is None:
            return None
        place = bisect_right(self.starts, (fact.quote_start, len(self.episode.content)))
        return self.starts[place - 1][1] if place else None

    def of_type(self, names: Iterable[str], kind: str) -> set[int]:
        """The lines that say what an entity of these names is."""
        return {number for name in names for number in self._by_text.get(type_line(name, kind), ())}


@dataclass(frozen=True)
class Cut:
    """An episode without some of its lines."""

    lines: Lines
    gone: frozenset[int]

    @property
    def episode(self) -> Episode:
        return self.lines.episode

    @property
    def is_all(self) -> bool:
        """Whether no line is left."""
        return self.gone >= {number for _, number in self.lines.starts}

    @cached_property
    def _stretches(self) -> list[tuple[int, int]]:
        """The ranges that go, each up to the beginning of the next line."""
        starts = self.lines.starts
        ends = [*(start for start, _ in starts[1:]), len(self.episode.content)]
        return [(start, end) for (start, number), end in zip(starts, ends, strict=True) if number in self.gone]

    @cached_property
    def _lost(self) -> tuple[list[int], list[int]]:
        """The ends of those ranges, and the characters that are gone by then."""
        sizes = (end - start for start, end in self._stretches)
        return [end for _, end in self._stretches], list(accumulate(sizes, initial=0))

    @cached_property
    def content(self) -> str:
        """What is left, without the line break before a last line that went."""
        parts, at = [], 0
        for start, end in self._stretches:
            parts.append(self.episode.content[at:start])
            at = end
        left = "".join([*parts, self.episode.content[at:]])
        return left.removesuffix("\n") if at == len(self.episode.content) else left

    def shifted(self, offset: int) -> int:
        """The new offset of a position in a line that stays."""
        ends, lost = self._lost
        return offset - lost[bisect_right(ends, offset)]

    @property
    def text(self) -> EpisodeText:
        episode = self.episode
        return EpisodeText(
            uuid=episode.uuid, name=episode.name, content=self.content, source_description=episode.source_description
        )

    @property
    def passages(self) -> list[Passage]:
        """Those that stay, where they stand then."""
        return [
            one.model_copy(update={"start": self.shifted(one.start), "end": self.shifted(one.end)})
            for one in self.lines.passages
            if one.paragraph not in self.gone
        ]

    @property
    def lost_passages(self) -> list[str]:
        return [one.uuid for one in self.lines.passages if one.paragraph in self.gone]

    def requoted(self, fact: Fact) -> Fact:
        """A fact that stays, with its quote where it stands then."""
        if fact.quote_episode_uuid != self.episode.uuid or fact.quote_start is None or fact.quote_end is None:
            return fact
        if self.lines.of_fact(fact) in self.gone:
            return fact.model_copy(update=dict.fromkeys(_QUOTE))
        moved = {"quote_start": self.shifted(fact.quote_start), "quote_end": self.shifted(fact.quote_end)}
        return fact.model_copy(update=moved)


def unmentioned(
    cuts: Sequence[Cut],
    gone: Sequence[Fact],
    left: Sequence[Fact],
    named: Callable[[str], Collection[str]],
    deleted: Collection[str],
) -> list[tuple[str, str]]:
    """Mentions of which nothing in the episode is left: episode and entity.

    ``named``: the entities that a text names; those ``deleted`` lose their mentions anyway.
    """
    ends: Mapping[str, set[str]] = {cut.episode.uuid: set() for cut in cuts}
    for fact in left:
        for uuid in fact.episodes:
            if uuid in ends:
                ends[uuid].update((fact.source_uuid, fact.target_uuid))
    lost: list[tuple[str, str]] = []
    for cut in cuts:
        if cut.is_all:
            continue
        stays = ends[cut.episode.uuid] | set(named(cut.content)) | set(deleted)
        touched = {
            uuid for fact in gone if cut.episode.uuid in fact.episodes for uuid in (fact.source_uuid, fact.target_uuid)
        }
        lost += [(cut.episode.uuid, uuid) for uuid in sorted(touched - stays)]
    return lost
