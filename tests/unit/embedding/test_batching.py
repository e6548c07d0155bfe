import threading
from array import array
from collections.abc import Iterator, Sequence

import pytest

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.embedding.batching import PASS_TOKENS, Batcher, Encoder
from graphiti_pkm.errors import Unavailable

ANSWER = 10.0
"""Seconds after which a test that hangs fails."""


class LengthEncoder:
    """An embedder whose vector is the text's length; holds every pass until it is let go."""

    def __init__(self) -> None:
        self.passes: list[list[str]] = []
        self.inside = threading.Semaphore(0)
        self.allowed = threading.Semaphore(0)

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        self.passes.append(list(texts))
        self.inside.release()
        assert self.allowed.acquire(timeout=ANSWER)
        if "broken" in texts:
            raise ValueError("the text itself")
        return [array("f", [len(text)]) for text in texts]

    def wait_for_a_pass(self) -> None:
        assert self.inside.acquire(timeout=ANSWER)

    def let_go(self) -> None:
        self.allowed.release(10_000)


@pytest.fixture
def encoder() -> LengthEncoder:
    return LengthEncoder()


@pytest.fixture
def batcher(encoder: LengthEncoder) -> Iterator[Batcher]:
    batcher = Batcher(lambda: encoder)
    yield batcher
    encoder.let_go()
    batcher.close()


def lengths(vectors: Sequence[Vector]) -> list[int]:
    return [int(vector[0]) for vector in vectors]


def test_every_caller_gets_the_vectors_of_its_own_texts_in_order(batcher: Batcher, encoder: LengthEncoder) -> None:
    requests = [["x" * ((7 * caller + 3 * text) % 600) for text in range(caller + 1)] for caller in range(40)]
    futures = [batcher.submit(texts) for texts in requests]
    encoder.let_go()
    assert [lengths(future.result(ANSWER)) for future in futures] == [[len(t) for t in texts] for texts in requests]


def test_what_waits_during_a_pass_shares_the_next_one(batcher: Batcher, encoder: LengthEncoder) -> None:
    batcher.submit(["first"])
    encoder.wait_for_a_pass()
    futures = [batcher.submit([f"line {number}"]) for number in range(5)]
    encoder.let_go()
    for future in futures:
        future.result(ANSWER)
    assert [len(texts) for texts in encoder.passes] == [1, 5]


def test_one_line_passes_a_thousand_sentences(batcher: Batcher, encoder: LengthEncoder) -> None:
    thousand = batcher.submit(["a sentence of some words " * 4] * 1000)
    encoder.wait_for_a_pass()
    line = batcher.submit(["one line"])
    encoder.let_go()
    line.result(ANSWER)
    thousand.result(ANSWER)
    assert next(number for number, texts in enumerate(encoder.passes) if "one line" in texts) <= 2


def test_a_thousand_sentences_go_on_while_lines_keep_coming(batcher: Batcher, encoder: LengthEncoder) -> None:
    thousand = batcher.submit(["a sentence of some words " * 4] * 100)
    encoder.wait_for_a_pass()
    while not thousand.done():
        batcher.submit(["line"] * (PASS_TOKENS // 4))
        encoder.allowed.release()
        if not thousand.done():
            encoder.wait_for_a_pass()
        assert len(encoder.passes) < 50
    assert len(thousand.result(ANSWER)) == 100


def test_a_pass_stays_within_its_budget(batcher: Batcher, encoder: LengthEncoder) -> None:
    future = batcher.submit(["word " * 2000] * 50)
    encoder.let_go()
    future.result(ANSWER)
    assert max(len(texts) for texts in encoder.passes) == PASS_TOKENS // 256


def test_a_cancelled_request_is_dropped_and_others_are_answered(batcher: Batcher, encoder: LengthEncoder) -> None:
    batcher.submit(["first"])
    encoder.wait_for_a_pass()
    given_up = batcher.submit(["given up"])
    other = batcher.submit(["other"])
    assert given_up.cancel()
    encoder.let_go()
    assert lengths(other.result(ANSWER)) == [5]
    assert "given up" not in [text for texts in encoder.passes for text in texts]


def test_a_request_cancelled_during_its_pass_harms_nobody(batcher: Batcher, encoder: LengthEncoder) -> None:
    given_up = batcher.submit(["given up"])
    encoder.wait_for_a_pass()
    assert given_up.cancel()
    encoder.let_go()
    assert lengths(batcher.submit(["other"]).result(ANSWER)) == [5]


def test_a_failing_pass_fails_its_callers_without_content_and_the_next_one_works(
    batcher: Batcher, encoder: LengthEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    broken = batcher.submit(["broken"])
    encoder.let_go()
    with pytest.raises(Unavailable, match="ValueError") as failure:
        broken.result(ANSWER)
    assert "the text itself" not in failure.value.message + caplog.text
    assert lengths(batcher.submit(["next"]).result(ANSWER)) == [4]


def test_a_failing_load_fails_the_caller_and_is_tried_again(encoder: LengthEncoder) -> None:
    outcomes: list[Exception | Encoder] = [Unavailable("no weights"), encoder]

    def load() -> Encoder:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    batcher = Batcher(load)
    encoder.let_go()
    with pytest.raises(Unavailable, match="no weights"):
        batcher.submit(["one"]).result(ANSWER)
    assert lengths(batcher.submit(["two"]).result(ANSWER)) == [3]
    batcher.close()


def test_the_model_is_loaded_once_and_only_with_the_first_request(encoder: LengthEncoder) -> None:
    loads: list[str] = []

    def load() -> Encoder:
        loads.append(threading.current_thread().name)
        return encoder

    batcher = Batcher(load)
    encoder.let_go()
    assert loads == []
    for text in ("one", "two"):
        batcher.submit([text]).result(ANSWER)
    assert loads == ["embedder"]
    batcher.close()


def test_closing_fails_what_waits_and_refuses_what_comes(batcher: Batcher, encoder: LengthEncoder) -> None:
    running = batcher.submit(["running"])
    encoder.wait_for_a_pass()
    waiting = batcher.submit(["waiting"])
    closing = threading.Thread(target=batcher.close)
    closing.start()
    while not batcher._closed:
        closing.join(0.001)
    encoder.let_go()
    closing.join(ANSWER)
    assert lengths(running.result(ANSWER)) == [7]
    with pytest.raises(Unavailable, match="shutting down"):
        waiting.result(ANSWER)
    with pytest.raises(Unavailable, match="shutting down"):
        batcher.submit(["late"])
    batcher.close()


def test_closing_an_unused_one_is_harmless(encoder: LengthEncoder) -> None:
    Batcher(lambda: encoder).close()
