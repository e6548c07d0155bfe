"""Cutting texts into sentences."""

import pytest

from graphiti_pkm.core.model import passages
from graphiti_pkm.core.model.passages import BUDGET, embedded_text, is_heading, split_passages


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_passages(text)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("I met Dr. Smith at 5 p.m. on Monday. He left.", ["I met Dr. Smith at 5 p.m. on Monday.", "He left."]),
        ("We came at 5 p.m. Then it rained.", ["We came at 5 p.m.", "Then it rained."]),
        ("Received 60l. for my Lord. Home.", ["Received 60l. for my Lord.", "Home."]),
        ("J. Smith came. So did I. Then K. left.", ["J. Smith came.", "So did I.", "Then K. left."]),
        ("Version 1.2 of node.js is out. Good.", ["Version 1.2 of node.js is out.", "Good."]),
        ('He said: "Really?" and left. "Go!" I went.', ['He said: "Really?" and left.', '"Go!"', "I went."]),
        ("“Stop.” We did. (Later.) Fine.", ["“Stop.”", "We did.", "(Later.)", "Fine."]),
        ("i slept badly. then i ran, approx. 5 km", ["i slept badly.", "then i ran, approx. 5 km"]),
        ("The end... or not? yes.", ["The end... or not?", "yes."]),
        ("今日は晴れ。明日は雨です！と言った", ["今日は晴れ。", "明日は雨です！", "と言った"]),
        ("ذهبت إلى السوق؟ نعم.", ["ذهبت إلى السوق؟", "نعم."]),
        ("Slept 6h\nRan 5 km\nMood 7/10", ["Slept 6h", "Ran 5 km", "Mood 7/10"]),
        ("- one\n- two. Three.\n1. first\n2) second", ["- one", "- two.", "Three.", "1. first", "2) second"]),
        ("user: hi\nassistant: hello. You?", ["user: hi", "assistant: hello.", "You?"]),
        ("😀👍", ["😀👍"]),
        ("---", ["---"]),
        ("  \n one \n ", ["one"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


def test_a_hard_wrapped_sentence_stays_one_and_a_heading_is_apart() -> None:
    text = "## Context\nWe use both MySQL and PostgreSQL in our stack for different applications. These\nare old.\n"
    assert sentences(text) == [
        "## Context",
        "We use both MySQL and PostgreSQL in our stack for different applications.",
        "These\nare old.",
    ]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("rule", ["===", "------", "  ==== "])
def test_all_of_an_underlined_heading_is_one_and_what_is_beneath_is_not(line_break: str, rule: str) -> None:
    text = line_break.join(["Use it.", "", "One store", rule, "One file.", ""])
    heading = range(text.index("One store"), text.index(rule) + len(rule))
    words = [at for at, char in enumerate(text) if char not in line_break]
    assert [at for at in words if is_heading(text, at)] == [at for at in words if at in heading]


@pytest.mark.parametrize("rule", ["===", "---"])
def test_what_is_said_beneath_a_rule_is_apart_from_it(rule: str) -> None:
    title = "A title that is long enough to go on in the next line of it"
    assert sentences(f"{title}\n{rule}\nsmall words.") == [f"{title}\n{rule}", "small words."]
    assert sentences(f"One\n{rule}\nsmall words.") == ["One", "small words."]


def test_paragraphs_and_sentences_are_counted_from_zero() -> None:
    spans = split_passages("One. Two.\n\n---\n\nThree.\r\n\r\nFour.")
    assert [(span.paragraph, span.sentence) for span in spans] == [(0, 0), (0, 1), (1, 0), (2, 0)]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
def test_white_space_has_no_passages(text: str) -> None:
    assert split_passages(text) == []


def test_offsets_are_code_points_of_the_text_as_given() -> None:
    text = "😀 Zwei\u0308 a. Drei."
    assert sentences(text) == ["😀 Zwei\u0308 a.", "Drei."] or sentences(text) == [text]
    assert all(0 <= span.start < span.end <= len(text) for span in split_passages(text))


@pytest.mark.parametrize(
    "text",
    ["word " * 1_000, "one two three, " * 400, "x" * 5_000, "好" * 3_000, "слово " * 1_000, "1234,5678;" * 500],
)
def test_an_over_long_sentence_is_cut_and_nothing_is_left_out(text: str) -> None:
    spans = split_passages(text)
    assert {span.sentence for span in spans} == {0}
    assert all(len(text[span.start : span.end]) <= BUDGET for span in spans)
    left = list(text)
    for span in spans:
        left[span.start : span.end] = " " * (span.end - span.start)
    assert "".join(left).strip() == ""


def test_a_long_sentence_is_cut_at_a_clause_before_a_word() -> None:
    text = "a" * 500 + "; " + "b " * 300
    assert sentences(text)[0] == "a" * 500 + ";"
    words = sentences("lorem ipsum " * 200)
    assert all(piece.endswith(("lorem", "ipsum")) for piece in words)


def test_the_number_of_passages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "MOST_PASSAGES", 10)
    text = "Go.\n\n" * 2_000
    spans = split_passages(text)
    assert len(spans) < 20
    assert (spans[0].start, spans[-1].end) == (0, len(text.rstrip()))


@pytest.mark.parametrize("text", ["!" * 200_000, "。" * 200_000, "-" * 200_000, ". " * 100_000, "\n " * 100_000])
def test_punctuation_alone_is_cut_in_linear_time(text: str) -> None:
    assert len(split_passages(text)) < 1_000


def test_what_is_embedded_of_a_message_has_its_speaker_in_front() -> None:
    text = "Anna Ruiz: We land at nine. Who drives?\nI can.\n\nTom: Fine. See https://a.example/b: it says so."
    spoken = [embedded_text(text, "message", span.start, span.end) for span in split_passages(text)]
    assert spoken == [
        "Anna Ruiz: We land at nine.",
        "Anna Ruiz: Who drives?",
        "Anna Ruiz: I can.",
        "Tom: Fine.",
        "Tom: See https://a.example/b: it says so.",
    ]


def test_other_episodes_and_messages_without_a_speaker_are_embedded_as_they_stand() -> None:
    text = "Dinner: fish. It was good."
    for source in ("text", "json"):
        assert embedded_text(text, source, 14, len(text)) == "It was good."
    assert embedded_text("Yes. Two of them.", "message", 5, 17) == "Two of them."
