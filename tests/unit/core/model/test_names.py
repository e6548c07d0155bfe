"""How names are compared and what full text is made of."""

import itertools
import re

import pytest

from graphiti_pkm.core.model.names import (
    beginning_term,
    display_name,
    fold,
    joined_words,
    name_beginnings,
    name_key,
    normalise_name,
    part_terms,
    relation_name,
    search_terms,
    word_parts,
)


@pytest.mark.parametrize(
    "spelling", ["user service", "User-Service", "userservice", "USER_SERVICE", " user\tservice\n"]
)
def test_spellings_that_differ_in_case_and_joiners_are_one_name(spelling: str) -> None:
    assert normalise_name(spelling) == "userservice"


@pytest.mark.parametrize(("one", "other"), [("Mu\u0308ller", "M\u00fcller"), ("ＡＢ", "ab"), ("Straße", "STRASSE")])
def test_one_name_in_two_encodings_is_one_name(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other)


def test_other_punctuation_makes_other_names() -> None:
    assert len({normalise_name(name) for name in ("C", "C++", "C#", "Müller", "Muller")}) == 5


@pytest.mark.parametrize(
    "spellings",
    [
        ("rack-1-12", "rack 1 12", "Rack_1\u201212", "rack1 - 12", "rack 1-\u200b12"),
        ("GPT-4", "GPT 4", "gpt4"),
        ("v1-2", "v1 2"),
        ("C++-11", "C++ 11", "c++11"),
        ("2026-05-10", "2026 05 10", "２０２６-05\u201110"),
        ("-1 °C", "\u22121 °c", "\u20131 °C"),
        ("+49 170 1234567", "+491701234567", "+49-170-123 45 67"),
    ],
)
def test_a_number_is_one_however_what_joins_it_is_written(spellings: tuple[str, ...]) -> None:
    assert len(set(map(normalise_name, spellings))) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("rack-1-12", "rack 11-2", "rack 112"),
        ("release 1.1-2", "release 1.12", "release 1-1.2"),
        ("-1", "1", "+1"),
        ("x=-1", "x=1"),
        ("[-1, 2]", "[1, 2]", "[1, -2]"),
        ("2026-05-10", "2026.05.10", "2026-0-510"),
        ("0170 1234567", "01701 234567"),
        ("1\u00b710", "1-10"),
    ],
)
def test_different_numbers_are_different_names(names: tuple[str, ...]) -> None:
    assert len(set(map(normalise_name, names))) == len(names)


def _numbers_and_letters(name: str) -> list[str]:
    """What makes a name: what it has but joiners, each number by itself and with its sign."""
    signed = re.sub(r"(^|[ (])-(?=[12])", r"\1 minus ", re.sub(r"(?<=[12])[ -]+(?=[12])", " ", name))
    found: list[str] = []
    for word in re.split(r"[ -]+", signed):
        parts = re.findall(r"minus|[12]+|[a(]", word)
        is_new_number = bool(found) and found[-1].isdecimal() and parts and parts[0].isdecimal()
        found += ["|", *parts] if is_new_number else parts
    return found


def test_two_names_are_one_if_and_only_if_letters_and_numbers_are_the_same() -> None:
    """Of all names up to six characters from letters, digits, joiners and an opening mark."""
    names = ["".join(one) for length in range(7) for one in itertools.product("a12 -(", repeat=length)]
    keys = {name: normalise_name(name) for name in names}
    meant = {name: " ".join(_numbers_and_letters(name)) for name in names}
    pairs = {(keys[name], meant[name]) for name in names}
    assert len(pairs) == len({key for key, _ in pairs}) == len({what for _, what in pairs})
    assert all(normalise_name(key) == key for key, _ in pairs)


def test_control_characters_are_no_part_of_a_name() -> None:
    assert normalise_name("a\x01b\x1fc\x7f\x85d") == "abcd"


def test_a_key_has_the_group_and_the_name() -> None:
    assert name_key("t1", "User Service") == "t1\x1fuserservice"
    assert name_key("t1", "a\x1fb") != name_key("t1\x1fa", "b")


@pytest.mark.parametrize("character", ["x", "東", "ﷺ", "\U0010ffff"])
def test_keys_of_long_names_are_short_and_differ(character: str) -> None:
    keys = [name_key("t1", character * length) for length in (200, 2000, 5000, 100_000)]
    assert len(set(keys)) == 4
    assert max(len(key.encode()) for key in keys) < 1100


@pytest.mark.parametrize("name", ["", " ", "--_", "\x01"])
def test_nothing_but_joiners_is_left_empty(name: str) -> None:
    assert normalise_name(name) == ""


def test_a_shown_name_is_composed_and_has_single_spaces() -> None:
    assert display_name("  Frau\tMu\u0308ller \n") == "Frau Müller"


@pytest.mark.parametrize(
    ("told", "stored"),
    [
        ("works at", "WORKS_AT"),
        ("worksAt", "WORKS_AT"),
        ("WORKS_AT", "WORKS_AT"),
        ("works-at!", "WORKS_AT"),
        ("größer als", "GRÖSSER_ALS"),
        ("?!", ""),
    ],
)
def test_relations_are_in_upper_snake(told: str, stored: str) -> None:
    assert relation_name(told) == stored


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("Frau Müller, Café!", "frau muller cafe"),
        ("works_at ADR-12 v15.2", "works at adr 12 v15 2"),
        ("Straße", "strasse"),
        ("東京都", "東京 京都"),
        ("京", "京"),
        ("@a:(b|c)* -d", "a b c d"),
        ("🙂 ?!", ""),
    ],
)
def test_full_text_holds_words_without_case_accents_and_syntax(text: str, indexed: str) -> None:
    assert fold(text) == indexed


def test_search_terms_are_distinct_in_order_and_limited() -> None:
    assert search_terms("b a B c", limit=2) == ["b", "a"]
    assert search_terms("?!") == []


@pytest.mark.parametrize("name", ["\u200b", "\u200d\ufe0f", "\u00ad", "\u2060 \ufeff", "\u3164", "\u2800", "\u202e-"])
def test_a_name_of_invisible_characters_is_no_name(name: str) -> None:
    assert normalise_name(name) == ""


def test_invisible_characters_make_no_other_name() -> None:
    assert normalise_name("Re\u200bdis") == normalise_name("redis\ufeff") == "redis"
    assert normalise_name("❤️") == normalise_name("❤") != ""
    assert len({normalise_name(name) for name in ("🎉", "👨‍👩‍👧", "👨", "+")}) == 4


def test_a_run_of_letters_that_is_no_word_has_no_endings() -> None:
    assert word_parts("x" * 1_000_000) == []
    assert word_parts("haushaltsplanung " + "acgt" * 10_000) == word_parts("haushaltsplanung") != []


def test_parts_of_words_are_where_another_may_begin() -> None:
    assert word_parts("Plan von Planung") == ["0planu"]
    assert set(part_terms("planung")) < set(word_parts("haushaltsplanung"))
    assert word_parts("東京都") == ["東", "京", "都"]


def test_beginnings_of_a_name_are_found_by_half_of_a_word() -> None:
    assert name_beginnings("Tobias W.") == ["1tob", "1tobi", "1tobia", "1tobias"]
    assert {beginning_term(word) for word in ("tobis", "tobian", "tobiasx")} == {"1tob"}
    assert beginning_term("constantinopolis") in name_beginnings("Constantinople")


def test_the_endings_of_a_text_of_many_long_words_are_bounded() -> None:
    letters = "abcdefghijklmnopqrst"
    words = [f"{a}{b}{c}{a}{b}{c}{c}{b}{a}{a}" for a in letters for b in letters for c in letters]
    assert len(word_parts(" ".join(words))) == 20_000


@pytest.mark.parametrize("text", ["a" * 300_000, "東" * 300_000, "fire-works " * 30_000])
def test_hyphened_words_of_a_long_text_are_found_in_one_pass(text: str) -> None:
    """What goes back over a run of letters takes the square of its length, and all other callers wait that long."""
    assert set(joined_words(text)) <= {"fireworks"}
