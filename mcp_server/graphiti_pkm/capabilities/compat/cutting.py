"""Takes lines out of the episodes of these tools: what is left, and where it stands then. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphiti_pkm.capabilities.compat.plan import type_line
from graphiti_pkm.core.model.records import Episode, EpisodeText, Fact, Passage

_QUOTE = ("quote", "quote_start", "quote_end", "quote_episode_uuid")


@dataclass(frozen=True)
class Lines:
    """An episode of these tools by its lines, each a paragraph of its passages."""

    episode: Episode
    passages: Sequence[Passage]

    @cached_property
    def starts(self) -> dict[int, int]:
        """Where each line begins, by the number of its paragraph."""
        return {one.paragraph: one.start for one in reversed(self.passages)}

    def text(self, number: int) -> str:
        """A line."""
        own = [one for one in self.passages if one.paragraph == number]
        return self.episode.content[own[0].start : own[-1].end]

    def of_fact(self, fact: Fact) -> int | None:
        """The line that a fact quotes."""
        if fact.quote_episode_uuid != self.episode.uuid or fact.quote_start is None:
            return None
        return max((number for number, start in self.starts.items() if start <= fact.quote_start), default=None)

    def of_type(self, names: Iterable[str], kind: str) -> set[int]:
        """The lines that say what an entity of these names is."""
        said = {type_line(name, kind) for name in names}
        return {number for number in self.starts if self.text(number) in said}


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
        return self.gone >= self.lines.starts.keys()

    @cached_property
    def _stretches(self) -> list[tuple[int, int]]:
        """The ranges that go, each up to the beginning of the next line."""
        starts = sorted(self.lines.starts.items(), key=lambda one: one[1])
        ends = [*(start for _, start in starts[1:]), len(self.episode.content)]
        return [(start, end) for (number, start), end in zip(starts, ends, strict=True) if number in self.gone]

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
        return offset - sum(end - start for start, end in self._stretches if end <= offset)

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
