"""Two conversations, told by a sensible model: the state after each note, and the answers to what was asked later."""

import asyncio
import sys
from statistics import mean
from typing import Any

import pytest
from tests.acceptance.shared_data import shared_data
from tests.acceptance.trials.playing import Call, Played, items, lines_of, player, script, span

pytestmark = pytest.mark.timeout(300)

SCRIPTS = {name: script(name) for name in ("coaching", "decisions")}
MOST_CALLS = 1.5
"""Calls that answer a question, on average: 24 for eleven questions and 33 for fourteen, when two models tried."""
MOST_READ = 27_000 / 2
"""Tokens of the answers to the questions of a conversation: half of what the eleven cost."""
MOST_TOLD_BACK = 350
"""Tokens of an answer of add_memory, on average."""

Json = dict[str, Any]


def each(part: str) -> list[Any]:
    """The notes or questions of both conversations, each with its place."""
    return [
        pytest.param(name, place, one, id=f"{name}-{place + 1}-{one.get('date') or one.get('about') or one['query']}")
        for name, plan in SCRIPTS.items()
        for place, one in enumerate(plan[part])
    ]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """Both conversations, each in a memory of its own."""
    shared_data("trials")

    async def play(name: str) -> Played:
        async with player(tmp_path_factory.mktemp(name)) as one:
            return await one.play(name)

    return {name: asyncio.run(play(name)) for name in SCRIPTS}


def words_of(name: str, wanted: str) -> str:
    """Words that an answer must hold; "A … B" stands for those of the notes."""
    return span(wanted, " ".join(lines_of(name, "messages"))) if " … " in wanted else wanted


def missing(name: str, answers: list[Call], wanted: list[Any]) -> list[Any]:
    """What no item of the answers says with all its words together."""
    found = items(answers)
    groups = [[words_of(name, word) for word in ([one] if isinstance(one, str) else one)] for one in wanted]
    return [group for group in groups if not any(all(word in item for word in group) for item in found)]


@pytest.mark.parametrize(("name", "place", "note"), each("notes"))
def test_a_note_is_answered_with_the_notices_that_it_needs(
    played: dict[str, Played], name: str, place: int, note: Json
) -> None:
    notices = played[name].told[place].data["needs_attention"]
    assert sorted(notice["what"] for notice in notices) == sorted(note["attention"]), notices


@pytest.mark.parametrize(("name", "place", "note"), each("notes"))
def test_a_note_is_linked_to_whom_and_what_it_mentions(
    played: dict[str, Played], name: str, place: int, note: Json
) -> None:
    assert played[name].mentions[place] == sorted(note["mentions"])


@pytest.mark.parametrize(("name", "place", "note"), each("notes"))
def test_the_state_after_a_note_is_right(played: dict[str, Played], name: str, place: int, note: Json) -> None:
    expected = {key: sorted(facts) for key, facts in note.get("state", {}).items()} | note.get("readings", {})
    assert played[name].states[place] == expected


@pytest.mark.parametrize(("name", "place", "note"), each("notes"))
def test_what_a_note_asks_for_is_read(played: dict[str, Played], name: str, place: int, note: Json) -> None:
    assert missing(name, played[name].before[place], note.get("read", [])) == []


@pytest.mark.parametrize(("name", "place", "question"), each("questions"))
def test_a_question_is_answered(played: dict[str, Played], name: str, place: int, question: Json) -> None:
    answers = played[name].answers[place]
    assert missing(name, answers, question["answer"]) == []
    for word in question.get("never", ()):
        assert not any(word in answer.text for answer in answers)
    for field, value in question.get("found", {}).items():
        assert str(answers[0].data[field]).startswith(value)


@pytest.mark.parametrize(("name", "place", "search"), each("searches"))
def test_a_search_for_an_entity_ends_where_nothing_fits(
    played: dict[str, Played], name: str, place: int, search: Json
) -> None:
    """What is only as near as everything else is counted; it comes with the cursor."""
    page = played[name].searches[place].data
    assert [node["name"] for node in page["nodes"]][: len(search["first"])] == search["first"]
    assert len(page["nodes"]) <= int(search["most"])
    assert page["weaker"] > 0


def test_every_question_of_the_trials_is_asked(played: dict[str, Played]) -> None:
    for name, plan in SCRIPTS.items():
        assert len(played[name].answers) == len(plan["questions"]) == len(lines_of(name, "questions"))


def test_what_was_not_to_be_kept_is_nowhere(played: dict[str, Played]) -> None:
    conversation = played["coaching"]
    said = [*conversation.told, *(call for calls in [*conversation.before, *conversation.answers] for call in calls)]
    assert not any("Parkinson" in call.text for call in said)


@pytest.mark.parametrize("name", SCRIPTS)
def test_few_calls_and_few_tokens_answer_the_questions(
    played: dict[str, Played], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = played[name]
    told = [call.tokens for call in one.told]
    calls = sum(map(len, one.answers))
    read = sum(call.tokens for answer in one.answers for call in answer)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {len(told)} notes, add_memory answers {mean(told):.0f} tokens (most {max(told):.0f}), "
        )
        sys.stdout.write(
            f"{len(one.notices)} notices; {len(one.answers)} questions, {calls} calls, {read:.0f} tokens\n"
        )
        for question, answer in zip(SCRIPTS[name]["questions"], one.answers, strict=True):
            sizes = " + ".join(f"{call.tokens:.0f}" for call in answer)
            sys.stdout.write(f"  {question['about']:24}{sizes}\n")
    assert calls / len(one.answers) <= MOST_CALLS
    assert read <= MOST_READ
    assert mean(told) <= MOST_TOLD_BACK
