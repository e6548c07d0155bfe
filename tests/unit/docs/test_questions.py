"""The question set of the retrieval benchmark: enough of them, half kept aside, nothing of the journal in them."""

from collections import Counter

from tests.acceptance.decisions import TOLD
from tests.questions.question_set import fact_questions, journal_facts, questions, shared_words


def test_there_are_enough_questions_and_half_are_kept_aside() -> None:
    every = questions()
    assert len(every) >= 150
    assert len({each.question for each in every}) == len({each.id for each in every}) == len(every)
    assert abs(len(questions("held")) - len(questions("tune"))) <= len({each.kind for each in every})


def test_both_halves_hold_the_same_kinds() -> None:
    tune, held = (Counter(each.kind for each in questions(split)) for split in ("tune", "held"))
    assert tune.keys() == held.keys()
    assert all(abs(tune[kind] - held[kind]) <= 1 for kind in tune)


def test_words_are_counted_by_stem_and_small_ones_do_not_count() -> None:
    assert shared_words("What were the horses of the old King?", ["An old horse.", "A kings horse is old"]) == 3


def test_every_question_about_facts_is_answered_by_facts_that_are_told() -> None:
    told = {(fact["source"], fact["relation"], fact["target"]) for fact in journal_facts()}
    decided = [fact for one in TOLD.values() for fact in one["facts"]]
    told |= {(fact["source"], fact["relation"], fact.get("value") or fact["target"]) for fact in decided}
    asked = fact_questions()
    assert len({one.question for one in asked}) == len(asked) == 100
    assert [one.id for one in asked if not one.gold or not one.gold <= told] == []
    assert sum(one.kind == "paraphrase" for one in asked) == len(asked) / 2
