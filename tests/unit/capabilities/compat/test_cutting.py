"""Lines out of an episode: what is left, and where passages and quotes stand then."""

import pytest
from tests.builders import a_fact, an_entity, an_episode

from graphiti_pkm.capabilities.compat.cutting import Cut, Lines, unmentioned
from graphiti_pkm.capabilities.compat.plan import line_spans
from graphiti_pkm.core.model.records import Fact, Passage

LINES = ["Alice (Person)", "Alice: hums. Always.\nAt night", "Alice: is kind", "Bob (Person)"]


def lines_of(said: list[str]) -> Lines:
    episode = an_episode("\n".join(said), source_description="compat")
    passages = [
        Passage(uuid=f"p{number}", episode_uuid=episode.uuid, **span) for number, span in enumerate(line_spans(said))
    ]
    return Lines(episode, passages)


def quoting(lines: Lines, text: str) -> Fact:
    entity, start = an_entity("Alice"), lines.episode.content.index(text)
    quote = {"quote": text, "quote_start": start, "quote_end": start + len(text)}
    return a_fact(entity, entity, quote_episode_uuid=lines.episode.uuid, episodes=(lines.episode.uuid,), **quote)


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ({0}, LINES[1:]),
        ({3}, LINES[:3]),
        ({1, 2}, [LINES[0], LINES[3]]),
        ({0, 3}, LINES[1:3]),
        ({2, 3}, LINES[:2]),
        ({0, 1, 2}, LINES[3:]),
        (set(), LINES),
    ],
)
def test_the_lines_that_stay_are_whole_and_their_passages_move_with_them(gone: set[int], left: list[str]) -> None:
    lines = lines_of(LINES)
    cut = Cut(lines, frozenset(gone))
    assert cut.content == "\n".join(left)
    assert not cut.is_all
    before = [lines.episode.content[one.start : one.end] for one in lines.passages if one.paragraph not in gone]
    assert [cut.content[one.start : one.end] for one in cut.passages] == before
    assert {*cut.lost_passages, *(one.uuid for one in cut.passages)} == {one.uuid for one in lines.passages}


def test_without_a_line_nothing_is_left() -> None:
    cut = Cut(lines_of(LINES), frozenset(range(4)))
    assert cut.is_all
    assert cut.content == ""


def test_an_observation_of_several_sentences_is_one_line() -> None:
    lines = lines_of(LINES)
    assert lines.of_fact(quoting(lines, "hums. Always.\nAt night")) == 1
    assert lines.of_fact(quoting(lines, "is kind")) == 2
    assert lines.of_fact(a_fact(an_entity(), an_entity())) is None


def test_a_quote_moves_or_goes_with_its_line() -> None:
    lines = lines_of(LINES)
    kind, hums = quoting(lines, "is kind"), quoting(lines, "hums. Always.\nAt night")
    cut = Cut(lines, frozenset({1}))
    moved = cut.requoted(kind)
    assert cut.content[moved.quote_start : moved.quote_end] == "is kind"
    assert cut.requoted(hums).quote is None
    other = a_fact(an_entity(), an_entity(), quote="x", quote_start=0, quote_end=1, quote_episode_uuid="another")
    assert cut.requoted(other) == other


def test_the_line_of_a_type_is_found_by_any_name() -> None:
    lines = lines_of(["Alice (Person)", "Al (Person)", "Alice (Dog)", "Alice (Person)"])
    assert lines.of_type(["Alice"], "Person") == {0, 3}
    assert lines.of_type(["Alice", "Al"], "Person") == {0, 1, 3}
    assert lines.of_type(["alice"], "Person") == set()


def test_a_mention_goes_with_the_last_line_that_needs_it() -> None:
    lines = lines_of(LINES)
    first, second = quoting(lines, "hums. Always.\nAt night"), quoting(lines, "is kind")
    alice = first.source_uuid
    second = second.model_copy(update={"source_uuid": alice, "target_uuid": alice})
    cut = Cut(lines, frozenset({1}))
    assert unmentioned([cut], [first], [second], lambda _: (), ()) == []
    assert unmentioned([cut], [first], [], lambda _: (), ()) == [(lines.episode.uuid, alice)]
    assert unmentioned([cut], [first], [], lambda _: {alice}, ()) == []
    assert unmentioned([cut], [first], [], lambda _: (), {alice}) == []
    assert unmentioned([Cut(lines, frozenset(range(4)))], [first, second], [], lambda _: (), ()) == []
