"""Removes sentences from texts: what is left, and its new positions. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from uuid import UUID, uuid5

from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.passages import embedded_text, split_passages
from graphiti_pkm.core.model.records import Episode, EpisodeText, Fact, Passage
from graphiti_pkm.core.model.redaction import FORGOTTEN

TextPredicate = Callable[[str], bool]
"""Whether a text states what is to be forgotten."""

_DISTINCTIVE = 12
"""A shorter text from a forgotten sentence may occur anywhere."""
_MOST_LINES = 4
"""Over which a name may go."""
_LINE_ENDS = re.compile(r"[^\S\n\r]*(?:\r\n?|\n)[^\S\n\r]*")
_CUT_SHORT = "….-– "


@dataclass(frozen=True)
class Sentence:
    """One sentence of an episode with its passages: several, if it is longer than an embedding can represent."""

    start: int
    end: int
    passages: tuple[Passage, ...]
    text: str


def sentences_of(episode: Episode, passages: Sequence[Passage]) -> list[Sentence]:
    """The sentences in order; an episode without passages, written by Graphiti, is split here."""
    parts: Iterable[Passage] = passages or (
        Passage(uuid="", episode_uuid=episode.uuid, **span.model_dump()) for span in split_passages(episode.content)
    )
    found = []
    for _, listed in groupby(parts, lambda part: (part.paragraph, part.sentence)):
        own = tuple(listed)
        start, end = own[0].start, own[-1].end
        known = tuple(part for part in own if part.uuid)
        found.append(Sentence(start, end, known, episode.content[start:end]))
    return found


def across_lines(content: str, sentences: Sequence[Sentence], gone: frozenset[int], named: TextPredicate) -> set[int]:
    """Sentences that name it only together: a line may end inside a name, and ends what is no wrapped sentence."""
    found: set[int] = set()
    if not named(content):
        return found
    for count in range(2, _MOST_LINES + 1):
        for first in range(len(sentences) - count + 1):
            places = range(first, first + count)
            between = (content[sentences[at].end : sentences[at + 1].start] for at in places[:-1])
            is_left = found.isdisjoint(places) and gone.isdisjoint(places)
            whole = content[sentences[first].start : sentences[places[-1]].end]
            if is_left and all(map(_LINE_ENDS.fullmatch, between)) and named(whole):
                found.update(places)
    return found


@dataclass(frozen=True)
class Redaction:
    """An episode that loses some sentences."""

    episode: Episode
    sentences: Sequence[Sentence]
    gone: frozenset[int]
    """Indexes of the removed sentences."""
    named: Sequence[frozenset[str]] = field(default=())
    """Entities that each sentence names."""
    is_titled: bool = False
    """Its title states it and is removed even if no sentence is."""

    @property
    def is_all(self) -> bool:
        return bool(self.gone) and len(self.gone) == len(self.sentences)

    @property
    def removed(self) -> list[Sentence]:
        return [self.sentences[place] for place in sorted(self.gone)]

    @property
    def kept(self) -> list[Sentence]:
        return [sentence for place, sentence in enumerate(self.sentences) if place not in self.gone]

    @cached_property
    def _stretches(self) -> list[tuple[int, int]]:
        """The replaced ranges; adjacent removed sentences and the space between are one range."""
        stretches: list[tuple[int, int]] = []
        before = -2
        for place in sorted(self.gone):
            sentence = self.sentences[place]
            if place == before + 1:
                stretches[-1] = (stretches[-1][0], sentence.end)
            else:
                stretches.append((sentence.start, sentence.end))
            before = place
        return stretches

    @cached_property
    def content(self) -> str:
        """The remaining text."""
        parts, at = [], 0
        for start, end in self._stretches:
            parts += [self.episode.content[at:start], FORGOTTEN]
            at = end
        return "".join([*parts, self.episode.content[at:]])

    def shifted(self, offset: int) -> int:
        """The new offset of a position outside the removed text."""
        last = bisect_right([end for _, end in self._stretches], offset)
        return offset + sum(len(FORGOTTEN) - (end - start) for start, end in self._stretches[:last])

    def takes(self, start: int, end: int) -> bool:
        """Whether any part of a range of the text is removed."""
        return any(start < last and first < end for first, last in self._stretches)

    def text(self, says: TextPredicate) -> EpisodeText:
        """The episode's texts afterwards; a title made of removed text is removed with it."""
        episode = self.episode
        begun = fold(episode.name.rstrip(_CUT_SHORT))
        is_told = self.is_all or says(episode.name) or bool(begun and begun in fold(self.words))
        source = "" if says(episode.source_description) or self.is_all else episode.source_description
        name = FORGOTTEN if is_told else episode.name
        return EpisodeText(uuid=episode.uuid, name=name, content=self.content, source_description=source)

    @cached_property
    def words(self) -> str:
        return " ".join(sentence.text for sentence in self.removed)

    @cached_property
    def passages(self) -> list[Passage]:
        """The remaining passages at their new positions.

        One whose vector holds the name of a speaker that stands in a removed sentence is another one from now on, so
        that the vector goes and a new one is made.
        """
        return [
            moved if self._embeds(moved, self.content) == self._embeds(part, self.episode.content) else _renewed(moved)
            for sentence in self.kept
            for part in sentence.passages
            for moved in [part.model_copy(update={"start": self.shifted(part.start), "end": self.shifted(part.end)})]
        ]

    @property
    def passages_gone(self) -> list[str]:
        """Uuids of the removed passages, and of those that others take the place of."""
        left = {part.uuid for part in self.passages}
        return [uuid for uuid in self.passages_held if uuid not in left]

    @property
    def passages_held(self) -> list[str]:
        """Uuids of all passages of the episode."""
        return [part.uuid for one in self.sentences for part in one.passages]

    def _embeds(self, part: Passage, content: str) -> str:
        return embedded_text(content, self.episode.source, part.start, part.end)

    def requoted(self, fact: Fact) -> Fact:
        """The fact with its quote at the new position, or without the quote if it is from removed text."""
        if fact.quote_episode_uuid != self.episode.uuid:
            return fact
        if self.takes_quote(fact):
            nothing = dict.fromkeys(("quote", "quote_start", "quote_end", "quote_episode_uuid"))
            return fact.model_copy(update=nothing)
        if fact.quote_start is None or fact.quote_end is None:
            return fact
        moved = {"quote_start": self.shifted(fact.quote_start), "quote_end": self.shifted(fact.quote_end)}
        return fact.model_copy(update=moved)

    def takes_quote(self, fact: Fact) -> bool:
        """Whether words that the fact quotes from this episode are removed."""
        if fact.quote_episode_uuid != self.episode.uuid or not fact.quote:
            return False
        if fact.quote_start is None or fact.quote_end is None:
            return fold(fact.quote) in fold(self.words)
        return self.takes(fact.quote_start, fact.quote_end)

    def takes_support(self, fact: Fact, ends: frozenset[str]) -> bool:
        """Whether the fact loses this episode's support: its quote, else all sentences naming most of its entities."""
        if self.is_all:
            return True
        if fact.quote_episode_uuid == self.episode.uuid and fact.quote:
            return self.takes_quote(fact)
        shares = [len(ends & named) for named in self.named]
        most = max(shares, default=0)
        return most > 0 and {place for place, share in enumerate(shares) if share == most} <= self.gone


def _renewed(part: Passage) -> Passage:
    return part.model_copy(update={"uuid": str(uuid5(UUID(part.uuid), "renewed"))})  # the same in preview and write


def sentences_in(text: str) -> list[str]:
    """The sentences of any text."""
    spans = split_passages(text)
    groups = [list(own) for _, own in groupby(spans, lambda span: (span.paragraph, span.sentence))]
    return [text[own[0].start : own[-1].end] for own in groups]


def without(text: str, says: TextPredicate) -> str:
    """A text without the sentences that state it; empty if it states it only as a whole."""
    sentences = sentences_in(text)
    left = [sentence for sentence in sentences if not says(sentence)]
    rest = " ".join(left)
    return "" if len(left) == len(sentences) or says(rest) else rest


def repeats(removed: Iterable[Sentence]) -> TextPredicate:
    """Whether a text repeats a removed sentence, or a distinctive part of one, ignoring case and punctuation."""
    folded = [form for sentence in removed if (form := fold(sentence.text))]

    def says(text: str) -> bool:
        own = fold(text)
        return any(
            (len(form) >= _DISTINCTIVE and form in own) or (len(own) >= _DISTINCTIVE and own in form) for form in folded
        )

    return says
