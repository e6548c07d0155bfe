"""The real weights: golden vectors, whatever the batch; callers, cache, cancellation, closing."""

import asyncio
import base64
import json
import math
import subprocess
import sys
from array import array
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.embedding.local.vector_cache import _TEXTS, VectorCache
from graphiti_pkm.embedding.local.weight_files import MINILM, find_weights
from graphiti_pkm.embedding.local.wordpiece import WordPiece
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import Settings

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden_vectors.json").read_text(encoding="utf-8"))["texts"]
TEXTS = [golden["text"] for golden in GOLDEN]
EXPECTED = [array("f", base64.b64decode(golden["vector"])) for golden in GOLDEN]


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=["auto", "numpy"])
async def embedder(cache_dir: Path, request: pytest.FixtureRequest) -> AsyncIterator[LocalEmbedder]:
    """In ONNX Runtime, which the tests have, and in NumPy."""
    embedder = LocalEmbedder(Settings(cache_dir=cache_dir, local_runtime=request.param))
    assert embedder.is_fast == (request.param == "auto")
    yield embedder
    await embedder.close()


def cosine(one: Vector, other: Vector) -> float:
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms


def assert_golden(vectors: list[Vector]) -> None:
    for text, vector, expected in zip(TEXTS, vectors, EXPECTED, strict=True):
        assert cosine(vector, expected) >= 0.99999, text


def test_tokens_equal_those_of_the_reference_tokenizer(cache_dir: Path) -> None:
    directory = find_weights(Settings(cache_dir=cache_dir))
    assert directory is not None
    wordpiece = WordPiece((directory / "vocab.txt").read_text(encoding="utf-8"))
    assert [wordpiece.encode(text) for text in TEXTS] == [golden["token_ids"] for golden in GOLDEN]


async def test_vectors_are_the_golden_ones_in_one_batch(embedder: LocalEmbedder) -> None:
    assert_golden(await embedder.embed(TEXTS))


async def test_vectors_are_the_golden_ones_one_at_a_time(embedder: LocalEmbedder) -> None:
    assert_golden([(await embedder.embed([text]))[0] for text in TEXTS])


async def test_vectors_are_the_golden_ones_among_many_others(embedder: LocalEmbedder) -> None:
    others = [f"Filler number {number} " + "and so on " * (number % 50) for number in range(60)]
    vectors = await embedder.embed([*others[:30], *TEXTS, *others[30:]])
    assert_golden(vectors[30 : 30 + len(TEXTS)])


async def test_concurrent_callers_each_get_their_own_vectors(embedder: LocalEmbedder) -> None:
    turns = [TEXTS[shift:] + TEXTS[:shift] for shift in range(len(TEXTS))]
    answers = await asyncio.gather(*(embedder.embed(turn) for turn in turns))
    for shift, answer in enumerate(answers):
        assert_golden(answer[len(TEXTS) - shift :] + answer[: len(TEXTS) - shift])


async def test_vectors_are_unit_float32_of_the_dimension(embedder: LocalEmbedder) -> None:
    for vector in await embedder.embed(TEXTS):
        assert (vector.typecode, len(vector)) == ("f", embedder.dimension) == ("f", 384)
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_near_meanings_are_near(embedder: LocalEmbedder) -> None:
    cat, kitten, contract = await embedder.embed(["A cat sleeps.", "The kitten is napping.", "The contract ended."])
    assert cosine(cat, kitten) > cosine(cat, contract) + 0.3


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\ud800", "a\0b\udfff", "word " * 200_000, "x" * 1_000_000, "\u202e\u200d"]
)
async def test_odd_texts_get_a_vector(embedder: LocalEmbedder, text: str) -> None:
    (vector,) = await embedder.embed([text])
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_no_texts_give_no_vectors(embedder: LocalEmbedder) -> None:
    assert await embedder.embed([]) == []


async def test_repeated_texts_give_equal_vectors_that_callers_own(embedder: LocalEmbedder) -> None:
    one, other = await embedder.embed(["Sofia", "Sofia"])
    one[0] = 9
    assert other[0] != 9
    assert await embedder.embed(["Sofia"]) == [other]


async def test_a_cancelled_caller_does_not_break_the_others(embedder: LocalEmbedder) -> None:
    await embedder.embed(["loaded"])
    given_up = asyncio.create_task(embedder.embed([f"{text} again" for text in TEXTS]))
    other = asyncio.create_task(embedder.embed(TEXTS))
    await asyncio.sleep(0)
    given_up.cancel()
    assert_golden(await other)
    with pytest.raises(asyncio.CancelledError):
        await given_up


async def test_a_closed_embedder_says_so(cache_dir: Path) -> None:
    embedder = LocalEmbedder(Settings(cache_dir=cache_dir))
    await embedder.embed(["one"])
    await embedder.close()
    await embedder.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await embedder.embed(["two"])


def test_model_and_dimension_are_known_without_loading(tmp_path: Path) -> None:
    embedder: Embedder = LocalEmbedder(Settings(cache_dir=tmp_path))
    assert (embedder.model, embedder.dimension) == ("all-MiniLM-L6-v2", 384)
    assert list(tmp_path.iterdir()) == []


async def test_without_weights_it_says_how_to_get_them(tmp_path: Path) -> None:
    nowhere = type(MINILM)(MINILM.model, ("no_such_package_of_weights",), MINILM.digests)
    embedder = LocalEmbedder(Settings(cache_dir=tmp_path), nowhere)
    assert not await embedder.available()
    with pytest.raises(Unavailable, match="graphiti-pkm fetch-model"):
        await embedder.embed(["one"])
    await embedder.close()


def test_making_one_imports_no_numpy() -> None:
    program = (
        "import sys; from graphiti_pkm.settings.loader import Settings; "
        "from graphiti_pkm.embedding.local.local import LocalEmbedder; "
        "LocalEmbedder(Settings()); print('numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50)
    assert result.stdout == "False\n"


def test_the_cache_forgets_the_least_recently_used_and_takes_no_long_texts() -> None:
    cache = VectorCache()
    vector: Vector = array("f", [1])
    cache.put({str(number): vector for number in range(_TEXTS)})
    cache.get(["0"])
    cache.put({"new": vector, "long " * 100: vector})
    assert list(cache.get(["0", "1", "new", "long " * 100])) == ["0", "new"]
