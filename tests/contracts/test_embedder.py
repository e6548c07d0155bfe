"""Contract of ``Embedder``: one unit vector a text, in order, the same in every company."""

import asyncio
import math
from itertools import pairwise

import pytest

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.ports import Embedder

TEXTS = ["Sarah moved to Berlin.", "The weather was fine.", "Tom likes trains."]
AS_GOOD_AS_EQUAL = 0.99999


def cosine(left: Vector, right: Vector) -> float:
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))


async def test_an_embedder_names_its_model_and_dimension(embedder: Embedder) -> None:
    assert embedder.model
    assert embedder.dimension > 0
    assert await embedder.available()


async def test_every_text_gets_one_unit_vector_of_floats_in_order(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    for vector in vectors:
        assert (len(vector), vector.typecode) == (embedder.dimension, "f")
        assert math.fsum(value * value for value in vector) == pytest.approx(1, abs=1e-5)
    alone = [(await embedder.embed([text]))[0] for text in TEXTS]
    assert all(cosine(one, other) >= AS_GOOD_AS_EQUAL for one, other in zip(vectors, alone, strict=True))


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_a_vector_does_not_depend_on_the_company_of_its_text(embedder: Embedder) -> None:
    (alone,) = await embedder.embed([TEXTS[0]])
    crowd = await embedder.embed(["a " * 300, *TEXTS, "x", TEXTS[0]])
    assert cosine(alone, crowd[1]) >= AS_GOOD_AS_EQUAL
    assert cosine(alone, crowd[-1]) >= AS_GOOD_AS_EQUAL


async def test_concurrent_calls_get_their_own_vectors(embedder: Embedder) -> None:
    expected = await embedder.embed(TEXTS)
    found = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS * 4))
    for (vector,), wanted in zip(found, expected * 4, strict=True):
        assert cosine(vector, wanted) >= AS_GOOD_AS_EQUAL


async def test_texts_that_share_words_are_nearer_than_others(embedder: Embedder) -> None:
    one, near, far = await embedder.embed(["Sarah moved to Berlin", "Sarah moved to Bonn", "quarterly tax figures"])
    assert cosine(one, near) > cosine(one, far)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "🙂", "?!", "東京に住んでいます", "שלום", "x" * 3000, "\x07", "e\u0301", "word " * 2000]
)
async def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    (vector,) = await embedder.embed([text])
    assert len(vector) == embedder.dimension
    assert all(math.isfinite(value) for value in vector)
    assert math.fsum(value * value for value in vector) == pytest.approx(1, abs=1e-5)


async def test_case_is_the_only_thing_that_may_be_ignored(embedder: Embedder) -> None:
    vectors = await embedder.embed(["coffee at home", "tea at home", "coffee in town"])
    assert all(cosine(one, other) < AS_GOOD_AS_EQUAL for one, other in pairwise(vectors))
