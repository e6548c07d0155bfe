"""The question set fits the journal it was written over."""

import json

import pytest
from tests.acceptance.shared_data import shared_data
from tests.questions.question_set import FEW, Split, questions, shared_words


@pytest.mark.parametrize("split", ["tune", "held"])
def test_every_gold_entry_exists_and_half_of_the_questions_are_paraphrases(split: Split) -> None:
    lines = shared_data("journal", "journal-1660-1664.jsonl").read_text(encoding="utf-8").splitlines()
    entries = {entry["date"]: entry["text"] for entry in map(json.loads, lines)}
    asked = questions(split)
    shared = [shared_words(each.question, [entries[date] for date in each.gold]) for each in asked]
    assert sum(count <= FEW for count in shared) >= len(asked) / 2
