"""Forms in which a name may stand; what a whole call makes of them is tested with forgetting."""

from collections.abc import Callable

import pytest
from tests.growth import growth

from graphiti_pkm.core.model.name_forms import NameForms

SIZES = (64, 256, 1_024, 4_096, 16_384)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("Hildburg", "hildburg"),
        ("Hildburg", "hildburg2 "),
        ("Hildburg", "h-i-l-d-b-u-r-g "),
        ("Hildburg", "hildbur g"),
        ("Anna Maria Wenger", "Anna Maria "),
        ("Anna Maria Wenger", "Annas Marias Wengers "),
        ("a" * 60, "a"),
        ("a" * 60, "a "),
        ("AaAaAa", "Aa"),
        ("Ünal", "Uenalü"),
        ("7", "7"),
        ("R2D2", "r2d2-x"),
        ("rack 1-12", "rack 1 12 "),
        ("王小明", "小明"),
        ("Bo", "bO"),
    ],
)
def test_a_text_is_searched_in_linear_time(name: str, unit: str) -> None:
    forms = NameForms([name])

    def work(size: int) -> Callable[[], object]:
        text = unit * size
        return lambda: forms.found(text)

    assert growth(work, SIZES) is None


@pytest.mark.parametrize(
    ("name", "identifier", "left"),
    [
        ("Bertrada", "ASKED_BERTRADA", "ASKED"),
        ("Bertrada", "askedBertradaTwice", "ASKED_TWICE"),
        ("Bertrada", "BERTRADA_AND_BERTRADA", "AND"),
        ("Bertrada", "Bertrada", "RELATES_TO"),
        ("Bertrada Stein", "ASKED_BERTRADA_STEIN", "ASKED"),
        ("Ünal", "ASKED_ÜNAL", "ASKED"),
        ("Bertrada", "ASKED_BERTRADA2", "ASKED_BERTRADA2"),
        ("Bertrada", "ASKEDBERTRADA", "ASKEDBERTRADA"),
        ("Bertrada Stein", "ASKED_STEIN_BERTRADA", "ASKED_STEIN_BERTRADA"),
        ("Bertrada Stein", "ASKED_STEIN", "ASKED_STEIN"),
        ("", "ASKED", "ASKED"),
    ],
)
def test_an_identifier_loses_the_words_that_surely_are_the_name(name: str, identifier: str, left: str) -> None:
    assert NameForms([name], [name]).without(identifier) == left


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Анна Смирнова", "Это дом Анны Смирновой.", ["Анны Смирновой"]),
        ("Anna", "ANNA, (Anna) anna! An\u200bna", ["ANNA", "Anna", "anna"]),
        ("Hildburg", "hildburgis@example.org", ["hildburgis@example.org"]),
        ("王小明", "王小明和小明", ["王小明", "小明"]),
        ("Unit 7", "Unit7 and Unit 70 and Unit71", ["Unit7"]),
        ("Bo", "Bob or b o or BoJack", ["BoJack"]),
        ("", "Anna", []),
        ("...", "Anna ...", []),
    ],
)
def test_forms_are_listed_as_they_are_written(name: str, text: str, found: list[str]) -> None:
    assert NameForms([name]).found(text) == found
