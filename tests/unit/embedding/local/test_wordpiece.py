import pytest

from graphiti_pkm.embedding.local.wordpiece import MAX_TOKENS, WordPiece

VOCABULARY = "[UNK]\n[CLS]\n[SEP]\nplay\n##ing\n##s\ncafe\n!\n$\n[\n]\nsep\na\n京\n都\nσ\n"
UNK, CLS, SEP = 0, 1, 2


@pytest.fixture
def small() -> WordPiece:
    return WordPiece(VOCABULARY)


def test_a_word_is_cut_into_its_longest_known_pieces(small: WordPiece) -> None:
    assert small.encode("Playing plays") == [CLS, 3, 4, 3, 5, SEP]


def test_accents_and_case_do_not_count(small: WordPiece) -> None:
    assert small.encode("CAFÉ cafe\u0301") == [CLS, 6, 6, SEP]


def test_punctuation_and_ascii_symbols_are_words(small: WordPiece) -> None:
    assert small.encode("a!$a") == [CLS, 12, 7, 8, 12, SEP]


def test_each_ideograph_is_a_word(small: WordPiece) -> None:
    assert small.encode("京都") == [CLS, 13, 14, SEP]


def test_a_final_sigma_is_an_ordinary_sigma(small: WordPiece) -> None:
    assert small.encode("Σ") == [CLS, 15, SEP]


def test_a_control_token_in_the_text_is_only_text(small: WordPiece) -> None:
    assert small.encode("[SEP]") == [CLS, 9, 11, 10, SEP]


def test_a_word_with_an_unknown_rest_is_unknown_as_a_whole(small: WordPiece) -> None:
    assert small.encode("playx") == [CLS, UNK, SEP]


@pytest.mark.parametrize("text", ["", " \t\n", "\0", "\ud800", "\u200b", "\x1c"])
def test_text_without_words_is_start_and_end(small: WordPiece, text: str) -> None:
    assert small.encode(text) == [CLS, SEP]


def test_the_replacement_character_is_left_out(small: WordPiece) -> None:
    assert small.encode("pl\ufffday") == [CLS, 3, SEP]


def test_an_overlong_word_is_unknown(small: WordPiece) -> None:
    assert small.encode("a" * 101) == [CLS, UNK, SEP]


def test_a_megabyte_is_cut_to_the_models_length(small: WordPiece) -> None:
    ids = small.encode("play " * 200_000)
    assert ids == [CLS, *[3] * (MAX_TOKENS - 2), SEP]


def test_words_across_reading_windows_stay_whole(small: WordPiece) -> None:
    assert small.encode(" " * 4093 + "playing" + " " * 5000 + "plays") == [CLS, 3, 4, 3, 5, SEP]


def test_a_megabyte_of_different_characters_does_not_grow_the_caches_without_bound(small: WordPiece) -> None:
    small.encode("".join(chr(code) for code in range(0x20000, 0x30000)))
    assert len(small._cleaned) <= 50_000
