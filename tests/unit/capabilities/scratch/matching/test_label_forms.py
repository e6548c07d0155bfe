"""When labels are the same, when one finds the other, and how alike they are."""

from itertools import combinations

import pytest

from graphiti_pkm.capabilities.scratch.graphs.label_forms import Likeness, loose_key, words
from graphiti_pkm.core.model.names import same_key


def similarity(first: str, second: str) -> float:
    return Likeness(first).to(second)


@pytest.mark.parametrize(
    "spellings",
    [
        ("AuthService", "auth service", "AUTH-SERVICE", "auth_service", " Auth – Service "),
        ("Straße", "STRASSE"),
        ("Café", "Cafe\u0301", "CAFÉ"),
        ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("zero\u200bwidth", "ZeroWidth"),
        ("rack-1-12", "Rack 1_12"),
        ("step-1", "step 1"),
    ],
)
def test_case_spaces_hyphens_and_underscores_make_no_other_node(spellings: tuple[str, ...]) -> None:
    assert len({same_key(label) for label in spellings}) == 1


@pytest.mark.parametrize(
    "labels",
    [
        ("rack-1-12", "rack-11-2", "rack 112"),
        ("return code -1", "return code 1", "−2", "2"),
        ("release 2026-1-11", "release 2026-11-1"),
        ("C", "C++", "C#"),
        (".env", "env"),
        ("v1.2", "v12"),
        ("->", "=>", "-", "_"),
        ("日本", "日本語"),
        ("Cafe", "Café"),
    ],
)
def test_what_punctuation_tells_apart_stays_apart(labels: tuple[str, ...]) -> None:
    assert len({same_key(label) for label in labels}) == len(labels)
    assert all(same_key(label) for label in labels)


def test_punctuation_is_left_out_to_find_and_nothing_is_found_by_nothing() -> None:
    assert {loose_key(label) for label in ("C", "C++", "C#", "c.")} == {"c"}
    assert loose_key(".env") == loose_key("env")
    assert loose_key("->") == loose_key("🔥") == ""
    assert loose_key("हिन्दी!") == "हिन्दी"
    assert similarity("->", "=>") == 0.0


@pytest.mark.parametrize(
    ("label", "phrase"),
    [
        ("AuthService", "Auth Service"),
        ("userRepository", "user Repository"),
        ("HTTPServer", "HTTP Server"),
        ("OAuth2Client", "OAuth2 Client"),
        ("PostgresDB", "Postgres DB"),
        ("login_controller", "login controller"),
        ("graphiti_pkm.core.ports.ports", "graphiti pkm core ports ports"),
        ("std::vector", "std vector"),
        ("v1.2", "v1.2"),
        ("C++", "C++"),
        ("ÜberPrüfung", "Über Prüfung"),
        ("It fails at night.", "It fails at night."),
        ("---", "---"),
    ],
)
def test_a_name_is_embedded_as_words(label: str, phrase: str) -> None:
    assert words(label) == phrase


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("user repo", "UserRepository"),
        ("the authentication service", "AuthService"),
        ("auth servce", "AuthService"),
        ("postgress", "PostgresDB"),
        ("service auth", "AuthService"),
    ],
)
def test_what_was_meant_is_likest_and_likely(query: str, label: str) -> None:
    labels = ["AuthService", "UserRepository", "LoginController", "PostgresDB", "UserService", "PaymentService"]
    likeness = Likeness(query)
    likest = max(labels, key=likeness.to)
    assert likest == label
    assert 0.75 <= likeness.to(label) < 1


def test_likeness_is_mutual_and_one_only_but_for_punctuation() -> None:
    labels = [
        "AuthService",
        "auth.service",
        "UserRepository",
        "user repo",
        "C",
        "C++",
        "x" * 300,
        "the",
        "->",
        "日本語",
    ]
    for first, second in combinations(labels, 2):
        assert similarity(first, second) == pytest.approx(similarity(second, first))
        assert (similarity(first, second) == 1.0) == (loose_key(first) == loose_key(second) != "")
    assert similarity("red fox", "quarterly budget") < 0.3


def test_long_labels_are_compared_by_words_alone() -> None:
    sentence = "the parser loses its place after a comment " * 11
    assert similarity(sentence, sentence + "again") > 0.9
    assert similarity("a" * 500, "a" * 499 + "b") == 0.0


def test_letters_are_alike_by_how_many_would_have_to_be_changed() -> None:
    assert similarity("kitten", "mitten") == pytest.approx(1 - 1 / 6)
    assert similarity("café", "cafe") == pytest.approx(1 - 1 / 4)
    assert similarity("ab", "xbcdefgh") == 0.0
