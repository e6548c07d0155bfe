"""all-MiniLM-L6-v2 in NumPy: a BERT of six layers, mean pooling, unit vectors.

Linear layers run on the packed tokens of all texts of a batch, attention on a padded copy, so that a batch of
mixed lengths wastes little. Everything is float32.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.embedding.local.safetensors import read_float_arrays
from graphiti_pkm.embedding.local.wordpiece import WordPiece

Floats = npt.NDArray[np.float32]

WIDTH = 384
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
LAYERS = 6

BATCH_TOKENS = 1024
"""Padded tokens per forward pass: enough to keep the cores busy, while its arrays fit into the processor's cache."""

_EPSILON = np.float32(1e-12)
_HIDDEN = np.float32(-1e9)
"""Added to the attention scores of padding."""


@dataclass(frozen=True, slots=True)
class _Norm:
    scale: Floats
    shift: Floats


@dataclass(frozen=True, slots=True)
class _Linear:
    weight: Floats
    """(inputs, outputs), contiguous."""
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        y: Floats = x @ self.weight
        y += self.bias
        return y


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: _Linear
    """Query, key and value in one product; queries are already scaled."""
    attention_out: _Linear
    attention_norm: _Norm
    wide: _Linear
    narrow: _Linear
    norm: _Norm


class SentenceEncoder(ABC):
    """The tokens and batches of a model; what computes its vectors is a subclass."""

    runtime: str
    """What computes them."""

    def __init__(self, directory: Path) -> None:
        self._wordpiece = WordPiece((directory / "vocab.txt").read_text(encoding="utf-8"))

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector per text, in order."""
        tokens = [self._wordpiece.encode(text) for text in texts]
        vectors: list[Vector] = [array("f")] * len(texts)
        for batch in _batches([len(ids) for ids in tokens]):
            pooled = self._forward([tokens[index] for index in batch])
            for index, row in zip(batch, pooled, strict=True):
                vectors[index] = array("f", row.tobytes())
        return vectors

    @abstractmethod
    def _forward(self, texts: list[list[int]]) -> Floats:
        """An array (texts, 384) for token ids of similar length."""


class MiniLM(SentenceEncoder):
    """The loaded model. Not thread-safe."""

    runtime = "NumPy"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        arrays = read_float_arrays(directory / "model.safetensors")
        self._words = arrays["embeddings.word_embeddings.weight"]
        # All tokens have type 0, so its embedding is added to those of the positions.
        self._positions = (
            arrays["embeddings.position_embeddings.weight"] + arrays["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(arrays, "embeddings.LayerNorm")
        self._layers = [_layer(arrays, f"encoder.layer.{number}.") for number in range(LAYERS)]

    def _forward(self, texts: list[list[int]]) -> Floats:
        lengths = np.array([len(ids) for ids in texts])
        grid = _Grid(lengths)
        ids = np.fromiter((token for ids in texts for token in ids), np.int64, int(lengths.sum()))
        x = _normalise(self._words[ids] + self._positions[grid.columns], self._norm)
        for layer in self._layers:
            attended = layer.attention_out(_attend(layer.query_key_value(x), grid))
            attended += x
            x = _normalise(attended, layer.attention_norm)
            wide = layer.wide(x)
            _gelu(wide)
            narrow = layer.narrow(wide)
            narrow += x
            x = _normalise(narrow, layer.norm)
        starts = np.cumsum(lengths) - lengths
        mean = np.add.reduceat(x, starts, axis=0) / lengths[:, None].astype(np.float32)
        unit: Floats = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), _EPSILON)
        return unit


class _Grid:
    """The positions of a batch's packed tokens in its padded form of (texts, longest)."""

    def __init__(self, lengths: npt.NDArray[np.int64]) -> None:
        self.texts, self.longest = len(lengths), int(lengths.max())
        taken = np.arange(self.longest)[None] < lengths[:, None]
        self.columns = np.nonzero(taken)[1]
        self.cells: npt.NDArray[np.int64] | None = None
        """Padded index of each packed token; None if all texts are of one length."""
        if not taken.all():
            self.cells = np.flatnonzero(taken)
            self._mask = np.where(taken, np.float32(0), _HIDDEN)[:, None, None, :]
            self._padded = np.zeros((taken.size, 3 * WIDTH), np.float32)

    def pad(self, packed: Floats) -> Floats:
        """Convert to the padded form with zeros as padding. The next layer reuses the buffer."""
        if self.cells is None:
            return packed
        self._padded[self.cells] = packed
        return self._padded

    def hide_padding(self, scores: Floats) -> None:
        """Mask padding in scores of (texts, heads, longest, longest), in place."""
        if self.cells is not None:
            scores += self._mask

    def pack(self, padded: Floats) -> Floats:
        return padded if self.cells is None else padded[self.cells]


def _attend(query_key_value: Floats, grid: _Grid) -> Floats:
    """Attention from (tokens, 3 * 384) to (tokens, 384)."""
    shape = (grid.texts, grid.longest, 3, HEADS, HEAD_WIDTH)
    query, key, value = grid.pad(query_key_value).reshape(shape).transpose(2, 0, 3, 1, 4)
    scores: Floats = query @ key.transpose(0, 1, 3, 2)
    grid.hide_padding(scores)
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    attended: Floats = scores @ value
    return grid.pack(attended.transpose(0, 2, 1, 3).reshape(-1, WIDTH))


def _normalise(x: Floats, norm: _Norm) -> Floats:
    """Layer normalisation, in place."""
    x -= x.mean(-1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(WIDTH)
    x *= np.float32(1) / np.sqrt(variance + _EPSILON)
    x *= norm.scale
    x += norm.shift
    return x


_GELU_BLOCK = 32_768
"""Values processed at a time, so that intermediate results stay in the processor's cache."""


def _gelu(x: Floats) -> None:
    """Gaussian error linear unit, in place: x * (1 + erf(x / sqrt(2))) / 2."""
    flat = x.reshape(-1)
    for begin in range(0, flat.size, _GELU_BLOCK):
        block = flat[begin : begin + _GELU_BLOCK]
        factor = _erf(block * np.float32(0.5**0.5))
        factor += 1
        factor *= np.float32(0.5)
        block *= factor


# erf(x) = x * top(x²) / bottom(x²), highest power first: the approximation that Eigen and XNNPACK use.
_ERF_TOP = np.array(
    [
        -2.72614225801306e-10,
        2.77068142495902e-08,
        -2.10102402082508e-06,
        -5.69250639462346e-05,
        -7.34990630326855e-04,
        -2.95459980854025e-03,
        -1.60960333262415e-02,
    ],
    np.float32,
)
_ERF_BOTTOM = np.array(
    [
        -1.45660718464996e-05,
        -2.13374055278905e-04,
        -1.68282697438203e-03,
        -7.37332916720468e-03,
        -1.42647390514189e-02,
    ],
    np.float32,
)


def _erf(x: Floats) -> Floats:
    """Error function to float32 precision, in place; beyond ±4 it is ±1."""
    np.clip(x, -4, 4, out=x)
    square = x * x
    x *= _polynomial(_ERF_TOP, square)
    x /= _polynomial(_ERF_BOTTOM, square)
    return x


def _polynomial(coefficients: Floats, x: Floats) -> Floats:
    """Horner's rule, highest power first."""
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += coefficient
    return result


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts of similar length, shortest first, within the token budget."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _norm(arrays: dict[str, Floats], name: str) -> _Norm:
    return _Norm(arrays[f"{name}.weight"], arrays[f"{name}.bias"])


def _linear(arrays: dict[str, Floats], name: str) -> _Linear:
    return _Linear(np.ascontiguousarray(arrays[f"{name}.weight"].T), arrays[f"{name}.bias"])


def _layer(arrays: dict[str, Floats], prefix: str) -> _Layer:
    own = f"{prefix}attention.self."
    scale = np.float32(HEAD_WIDTH**-0.5)
    weights = [arrays[f"{own}{part}.weight"] for part in ("query", "key", "value")]
    biases = [arrays[f"{own}{part}.bias"] for part in ("query", "key", "value")]
    weights[0], biases[0] = weights[0] * scale, biases[0] * scale
    return _Layer(
        query_key_value=_Linear(np.ascontiguousarray(np.concatenate(weights).T), np.concatenate(biases)),
        attention_out=_linear(arrays, f"{prefix}attention.output.dense"),
        attention_norm=_norm(arrays, f"{prefix}attention.output.LayerNorm"),
        wide=_linear(arrays, f"{prefix}intermediate.dense"),
        narrow=_linear(arrays, f"{prefix}output.dense"),
        norm=_norm(arrays, f"{prefix}output.LayerNorm"),
    )
