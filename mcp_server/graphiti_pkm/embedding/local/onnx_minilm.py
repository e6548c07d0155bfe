"""all-MiniLM-L6-v2 on ONNX Runtime, which the extra ``fast`` installs: the same vectors as in NumPy, in less time.

``minilm.onnx`` is the graph; the weights are mapped from their own file. ``tests/write_onnx.py`` writes it.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnxruntime import InferenceSession, SessionOptions

from graphiti_pkm.embedding.local.minilm import Floats, SentenceEncoder

GRAPH = Path(__file__).with_name("minilm.onnx")


class OnnxMiniLM(SentenceEncoder):
    """The loaded model. Not thread-safe."""

    runtime = "ONNX Runtime"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        options: Any = SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OPENBLAS_NUM_THREADS") or 0)  # as many as NumPy would use
        # A thread that spins while it waits takes a processor from the others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(directory))
        self._session: Any = InferenceSession(GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])

    def _forward(self, texts: list[list[int]]) -> Floats:
        shape = len(texts), max(map(len, texts))
        ids: npt.NDArray[np.int64] = np.zeros(shape, np.int64)
        present: Floats = np.zeros(shape, np.float32)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
            present[row, : len(text)] = 1
        (vectors,) = self._session.run(["vectors"], {"ids": ids, "present": present})
        found: Floats = vectors
        return found
