"""The graph for ONNX Runtime, and what happens where that cannot be loaded."""

import sys

import pytest
from tests.write_onnx import content

from graphiti_pkm.embedding.local.local import LocalEmbedder, _onnx_model
from graphiti_pkm.embedding.local.onnx_minilm import GRAPH
from graphiti_pkm.settings.loader import Settings


def test_the_file_is_what_its_script_writes() -> None:
    assert GRAPH.read_bytes() == content()


def test_without_the_extra_numpy_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LocalEmbedder(Settings()).is_fast
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert not LocalEmbedder(Settings()).is_fast


def test_an_installation_that_cannot_be_loaded_is_said_and_numpy_computes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "graphiti_pkm.embedding.local.onnx_minilm", raising=False)
    assert _onnx_model() is None
    assert "NumPy computes the vectors" in caplog.text
