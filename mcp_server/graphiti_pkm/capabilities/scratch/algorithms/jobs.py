"""The protocol between the server and a worker process, and the functions that a request may name.

A frame is a length of eight bytes followed by that many bytes. A request consists of a frame of JSON and a frame with
the arrays of the view. The worker answers with frames of JSON: ``{"ready"}`` once, then for each request one
``{"find"}`` per result and a final ``{"end"}``.
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
"""A generator of JSON values; takes the view, if the request has one, and JSON keyword arguments."""

LENGTH = Struct(">Q")
_PACKAGES = ("graphiti_pkm.capabilities.scratch.algorithms.", "graphiti_pkm.capabilities.scratch.drawing.")


@dataclass(frozen=True)
class Request:
    """One job for the worker process."""

    job: str
    """``module:function``."""
    arguments: Mapping[str, Any]
    seconds: float
    most: int | None
    """Results after which to stop; None means no limit."""
    view: View | None


def framed(*parts: bytes) -> bytes:
    return b"".join((LENGTH.pack(sum(map(len, parts))), *parts))


def packed(request: Request) -> bytes:
    view = request.view
    head = {"job": request.job, "arguments": request.arguments, "seconds": request.seconds, "most": request.most}
    if view is None:
        return framed(json.dumps(head).encode()) + framed()
    shape = {"n": view.n, "edges": len(view.sources), "gathered": view.gathered}
    arrays = [view.sources, view.targets] + ([] if view.weights is None else [view.weights])
    return framed(json.dumps(head | {"view": shape}).encode()) + framed(*(array.tobytes() for array in arrays))


def unpacked(head: bytes, arrays: bytes) -> Request:
    """The request from its two frames; the view keeps the sender's node numbers."""
    told = json.loads(head)
    shape = told.get("view")
    view = None if shape is None else _view(shape["n"], shape["edges"], shape["gathered"], arrays)
    return Request(told["job"], told["arguments"], told["seconds"], told["most"], view)


def function_of(job: str) -> Job:
    """The function that a job names. Only packages that do nothing but compute are allowed."""
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
