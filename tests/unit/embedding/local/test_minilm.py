import math

import numpy as np

from graphiti_pkm.embedding.local.minilm import BATCH_TOKENS, _batches, _erf, _gelu


def test_erf_is_exact_to_float32() -> None:
    x = np.linspace(-6, 6, 2001, dtype=np.float32)
    expected = np.array([math.erf(value) for value in x])
    assert np.abs(_erf(x.copy()) - expected).max() < 5e-7


def test_gelu_works_in_blocks_on_any_size() -> None:
    x = np.linspace(-5, 5, 70_001, dtype=np.float32).reshape(1, -1)
    expected = [value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in x[0]]
    _gelu(x)
    assert np.abs(x[0] - np.array(expected)).max() < 1e-6


def test_batches_hold_every_text_once_shortest_first_within_the_budget() -> None:
    lengths = [(37 * number) % 255 + 2 for number in range(300)]
    batches = list(_batches(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(300))
    assert [lengths[index] for batch in batches for index in batch] == sorted(lengths)
    assert all(len(batch) * max(lengths[index] for index in batch) <= BATCH_TOKENS for batch in batches)


def test_no_texts_make_no_batches() -> None:
    assert list(_batches([])) == []
