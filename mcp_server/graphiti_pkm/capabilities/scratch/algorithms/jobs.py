"""How a request and its view go to the worker process over a pipe, and which functions it may ask for.

A frame is eight bytes of length and that many bytes. A request is a frame of JSON and one of the view's arrays. What
comes back are frames of JSON: ``{"ready"}`` once, ``{"find"}`` for each find, then ``{"end"}``.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.view import View

Job: TypeAlias = Callable[..., Iterator[Any]]
"""A generator of JSON values; takes a view, if there is one, and JSON arguments by name."""

LENGTH = Struct(">Q")
_PACKAGES = ("graphiti_pkm.capabilities.scratch.algorithms.", "graphiti_pkm.capabilities.scratch.drawing.")


@dataclass(frozen=True)
class Request:
    """One job, as the worker process gets it."""

    job: str
    """``module:function``."""
    arguments: Mapping[str, Any]
    seconds: float
    most: int | None
    """Finds after which to stop; None: no bound."""
    view: View | None


def framed(*parts: bytes) -> bytes:
    """A frame of these bytes."""
    return b"".join((LENGTH.pack(sum(map(len, parts))), *parts))


def packed(request: Request) -> bytes:
    """The frames of a request."""
    view = request.view
    head = {"job": request.job, "arguments": request.arguments, "seconds": request.seconds, "most": request.most}
    if view is None:
        return framed(json.dumps(head).encode()) + framed()
    shape = {"n": view.n, "edges": len(view.sources), "gathered": view.gathered}
    arrays = [view.sources, view.targets] + ([] if view.weights is None else [view.weights])
    return framed(json.dumps(head | {"view": shape}).encode()) + framed(*(array.tobytes() for array in arrays))


def unpacked(head: bytes, arrays: bytes) -> Request:
    """The request of two frames; its view numbers the nodes as the sender's does."""
    told = json.loads(head)
    shape = told.get("view")
    view = None if shape is None else _view(shape["n"], shape["edges"], shape["gathered"], arrays)
    return Request(told["job"], told["arguments"], told["seconds"], told["most"], view)


def function_of(job: str) -> Job:
    """The function to run, one of those packages that only compute."""
    module, _, name = job.partition(":")
    if not module.startswith(_PACKAGES):
        raise ValueError("not a job")
    function: Job = getattr(import_module(module), name)
    return function


def _view(n: int, edges: int, gathered: Any, arrays: bytes) -> View:
    ends = np.frombuffer(arrays, np.int64, 2 * edges)
    has_weights = len(arrays) > ends.nbytes
    weights = np.frombuffer(arrays, np.float64, offset=ends.nbytes) if has_weights else None
    return View(n, ends[:edges], ends[edges:], weights, np.arange(n), gathered)
