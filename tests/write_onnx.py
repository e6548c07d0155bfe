"""Writes the graph of the local model: ``python -m tests.write_onnx``. A test compares it with the file.

The file holds no weights: it says where each array begins in ``model.safetensors``, from which ONNX Runtime maps it.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphiti_pkm.embedding.local.minilm import HEAD_WIDTH, HEADS, LAYERS, WIDTH
from graphiti_pkm.embedding.local.onnx_minilm import GRAPH
from graphiti_pkm.embedding.local.weight_files import find_weights
from graphiti_pkm.settings.loader import Settings

_WEIGHTS = "model.safetensors"
_LENGTH_BYTES = 8
_OPSET, _IR_VERSION = 20, 9
"""Of ONNX 1.15, the first with Gelu: ONNX Runtime 1.17 and later read it."""
_HIDDEN = np.float32(-1e9)
"""Added to the attention scores of padding."""
_EPSILON = 1e-12
_ATTENTION = "attention.self."


class _Graph:
    """Nodes in the order in which they are computed."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            self._arrays = json.loads(file.read(length))
        self._begin = _LENGTH_BYTES + length
        self.nodes: list[object] = []
        self.initializers: list[TensorProto] = []

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, value: npt.NDArray[np.generic] | np.generic) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def indices(self, name: str, *values: int) -> str:
        return self.constant(name, np.array(values, np.int64))

    def weight(self, name: str) -> str:
        array = self._arrays[name]
        first, last = array["data_offsets"]
        kind, place = TensorProto.FLOAT, TensorProto.EXTERNAL
        tensor = TensorProto(name=name, data_type=kind, dims=array["shape"], data_location=place)
        for key, value in (("location", _WEIGHTS), ("offset", self._begin + first), ("length", last - first)):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def linear(self, rows: str, name: str) -> str:
        return self.op("Gemm", rows, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)


def model(weights: Path) -> ModelProto:
    """From token ids and marks of what is no padding, both (texts, tokens), to unit vectors (texts, 384)."""
    graph = _Graph(weights)
    zero, one = graph.indices("zero", 0), graph.indices("one", 1)
    as_rows = graph.indices("as_rows", -1, WIDTH)
    shape = graph.op("Shape", "ids")
    by_heads = graph.op("Concat", shape, graph.indices("heads", HEADS, HEAD_WIDTH), axis=0)
    by_texts = graph.op("Concat", shape, graph.indices("width", WIDTH), axis=0)
    words = graph.op("Gather", graph.weight("embeddings.word_embeddings.weight"), "ids")
    longest = graph.op("Shape", "ids", start=1, end=2)
    places = graph.op("Slice", graph.weight("embeddings.position_embeddings.weight"), zero, longest, zero)
    kind = graph.op("Slice", graph.weight("embeddings.token_type_embeddings.weight"), zero, one, zero)
    words = graph.op("Add", words, graph.op("Add", places, kind))  # all tokens are of type 0
    x = graph.op("Reshape", graph.norm(words, "embeddings.LayerNorm"), as_rows)
    padding = graph.op("Sub", graph.constant("present_mark", np.float32(1)), "present")
    hidden = graph.op("Mul", padding, graph.constant("hidden", _HIDDEN))
    hidden = graph.op("Unsqueeze", hidden, graph.indices("inner", 1, 2))
    scale = graph.constant("scale", np.float32(HEAD_WIDTH**-0.5))
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        query, key, value = (
            graph.op("Reshape", graph.linear(x, f"{layer}{_ATTENTION}{part}"), by_heads)
            for part in ("query", "key", "value")
        )
        query, value = (graph.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 2, 3, 1]))
        scores = graph.op("Add", graph.op("Mul", scores, scale), hidden)
        attended = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)
        attended = graph.op("Reshape", graph.op("Transpose", attended, perm=[0, 2, 1, 3]), as_rows)
        attended = graph.linear(attended, f"{layer}attention.output.dense")
        x = graph.norm(graph.op("Add", x, attended), f"{layer}attention.output.LayerNorm")
        wide = graph.op("Gelu", graph.linear(x, f"{layer}intermediate.dense"))
        x = graph.norm(graph.op("Add", x, graph.linear(wide, f"{layer}output.dense")), f"{layer}output.LayerNorm")
    own = graph.op("Unsqueeze", "present", graph.indices("last", 2))
    total = graph.op("ReduceSum", graph.op("Mul", graph.op("Reshape", x, by_texts), own), one, keepdims=0)
    # The sum has the direction of the mean, and only that counts.
    graph.nodes.append(helper.make_node("LpNormalization", [total], ["vectors"], axis=1, p=2))
    given = ["texts", "tokens"]
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, given),
            helper.make_tensor_value_info("present", TensorProto.FLOAT, given),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])],
        graph.initializers,
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)


def content() -> bytes:
    """What the file holds. Raises RuntimeError if this machine has no weights."""
    directory = find_weights(Settings())
    if directory is None:
        raise RuntimeError("There are no weights of the local model here.")
    return bytes(model(directory / _WEIGHTS).SerializeToString(deterministic=True))


if __name__ == "__main__":
    GRAPH.write_bytes(content())
