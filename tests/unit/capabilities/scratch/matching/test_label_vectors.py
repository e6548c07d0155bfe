"""Vectors of labels: the nearest ones as computed one by one, through additions and removals."""

import math
import random

import pytest

from graphiti_pkm.capabilities.scratch.graphs.label_vectors import LabelVectors


def _cosine(first: list[float], second: list[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(first, second, strict=True))
    return dot / (math.hypot(*first) * math.hypot(*second))


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_are_those_of_a_plain_walk_through_what_is_left(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a walk to repeat, no secret
    vectors, look_up_records = LabelVectors(), dict[int, list[float]]()
    for node in range(300):
        vectors.expect(node)
        vectors.add(node, look_up_records.setdefault(node, [dice.gauss(0, 1) for _ in range(8)]))
        if dice.random() < (0.3 if node < 200 else 0.9):
            gone = dice.choice(list(look_up_records))
            del look_up_records[gone]
            vectors.drop(gone)
    asked = [[dice.gauss(0, 1) for _ in range(8)] for _ in range(5)]
    for query, found in zip(asked, vectors.nearest_of(asked, 7), strict=True):
        expected = sorted(((_cosine(query, vector), node) for node, vector in look_up_records.items()), reverse=True)[
            :7
        ]
        assert [node for node, _ in found] == [node for _, node in expected]
        assert [cosine for _, cosine in found] == pytest.approx([cosine for cosine, _ in expected], abs=1e-5)
        assert dict(vectors.cosines(query)).keys() == look_up_records.keys()


def test_what_is_dropped_is_neither_found_nor_waited_for() -> None:
    vectors = LabelVectors()
    for node in (3, 5, 7):
        vectors.expect(node)
    vectors.add(3, [1, 0])
    vectors.add(5, [0, 2])
    assert list(vectors.pending) == [7]
    vectors.drop(3)
    vectors.drop(7)
    assert vectors.nearest([1, 0], 5) == [(5, 0.0)]
    assert not vectors.pending


def test_a_second_vector_replaces_the_first() -> None:
    vectors = LabelVectors()
    vectors.add(1, [1, 0])
    vectors.add(1, [0, 1])
    assert vectors.nearest([0, 3], 5) == [(1, 1.0)]
    assert len(vectors) == 1


def test_no_vectors_have_no_nearest() -> None:
    vectors = LabelVectors()
    assert vectors.nearest([1, 0], 5) == []
    vectors.add(1, [0, 0])
    assert vectors.nearest([1, 0], 5) == [(1, 0.0)]


def test_vectors_of_another_length_are_refused() -> None:
    vectors = LabelVectors()
    vectors.add(1, [1, 0])
    with pytest.raises(ValueError, match="3 numbers among vectors of 2"):
        vectors.add(2, [1, 0, 0])


def test_the_matrix_shrinks_when_most_are_gone() -> None:
    vectors = LabelVectors()
    for node in range(1000):
        vectors.add(node, [1.0, float(node)])
    most = vectors.bytes
    for node in range(990):
        vectors.drop(node)
    assert vectors.bytes < most / 10
    assert {node for node, _ in vectors.nearest([1, 0], 20)} == set(range(990, 1000))
