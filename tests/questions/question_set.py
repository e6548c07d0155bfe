"""Questions over the journal in ../shared with the dates of the entries that answer them; none of its text."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphiti_pkm.core.model.names import fold, search_terms, words_of
from graphiti_pkm.core.model.stems import stem

Split = Literal["tune", "held"]

FEW = 2
"""A question that shares no more content words with each of its entries is a paraphrase."""

_FILE = Path(__file__).with_name("questions.json")
_JOURNAL_FACTS = _FILE.with_name("journal_facts.json")
_FACT_QUESTIONS = _FILE.with_name("fact_questions.json")
_SMALL_WORDS = words_of(
    """a about above after again against all am an and any are as at be because been before being below between both
    but by can could did do does doing down during each every few for from further had has have having he her here
    hers him his how i if in into is it its just me more most must my no nor not now of off on once one only or other
    our out over own same she should so some such than that the their them then there these they this those through
    to too under until up us very was we were what when where which while who whom whose why will with would you your"""
)


@dataclass(frozen=True)
class Question:
    """``reference_time`` is what words such as "last March" are counted from; None: nothing is."""

    id: str
    split: Split
    kind: str
    question: str
    reference_time: str | None
    gold: tuple[str, ...]
    """Dates of the entries that answer it; there is one entry a day."""


def questions(split: Split | None = None) -> list[Question]:
    """Those to tune with, those kept aside, or all."""
    read = json.loads(_FILE.read_text(encoding="utf-8"))
    found = [Question(**{**each, "gold": tuple(each["gold"])}) for each in read]
    return [each for each in found if split in (None, each.split)]


@dataclass(frozen=True)
class FactQuestion:
    """A question over the facts of the journal and of the decisions."""

    id: str
    kind: Literal["words", "paraphrase"]
    """Whether it has words of the fact, or says it otherwise."""
    question: str
    gold: frozenset[tuple[str, str, str]]
    """Source, relation, and target or value of the facts that answer it; "me" is who keeps the journal."""


def journal_facts() -> list[dict[str, str]]:
    """What entries of the journal state, in our words: ``date`` of the entry, and a fact as add_memory takes it."""
    read: list[dict[str, str]] = json.loads(_JOURNAL_FACTS.read_text(encoding="utf-8"))
    return read


def fact_questions() -> list[FactQuestion]:
    """All of them; nothing was tuned with any."""
    read = json.loads(_FACT_QUESTIONS.read_text(encoding="utf-8"))
    return [FactQuestion(**{**each, "gold": frozenset(map(tuple, each["gold"]))}) for each in read]


def shared_words(question: str, entries: Iterable[str]) -> int:
    """Most content words that the question has in common with one of the entries, in the product's own words."""
    asked = {stem(word) for word in search_terms(question) if len(word) > 1 and word not in _SMALL_WORDS}
    return max(len(asked & set(map(stem, fold(entry).split()))) for entry in entries)
