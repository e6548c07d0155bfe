"""From the start of the server to its first answer, on data that nobody has open."""

import random
import re
from array import array
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import numpy as np
from tests.benchmarks.measuring import Figure, ms
from tests.benchmarks.startup import COMMAND
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.world import NUMPY, data_directory
from tests.builders import DAY_ONE, a_passage, a_write, an_episode

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Episode, Vectors, WriteIntent
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer

SIZES = (1_000, 10_000, 100_000)
_EPISODES_A_WRITE = 50
_DIMENSION = 384
_SEARCH = "How did the harbour project go?"
_WORDS = re.findall(
    r"\w+",
    "harbour project plan coffee river meeting sleep budget team letter morning walk train garden music winter "
    "question answer paper window table doctor market summer friend travel",
)


async def figures() -> list[Figure]:
    """Each size in a data directory of its own, filled through the journal."""
    found = []
    for size in SIZES:
        with data_directory() as directory:
            await _fill(directory, size)
            whole, search = _first_answers(directory)
        what = f"cold start with {size:,} passages"
        found.append(Figure(f"{what}, to the first answer of search_episodes", ms(whole)))
        found.append(Figure(f"{what}, the next search", ms(search)))
    return found


def _first_answers(directory: Path) -> tuple[float, float]:
    """Milliseconds from the start of the process to the answer of a search, and of one more."""
    begun = perf_counter()
    with StdioServer([str(COMMAND), "serve", "--data-dir", str(directory)]) as server:
        server.initialize()
        first = server.call("search_episodes", query=_SEARCH)
        between = perf_counter()
        assert first["episodes"]
        server.call("search_episodes", query=f"{_SEARCH} And the garden?")
        after = perf_counter()
        server.close()
    return 1000 * (between - begun), 1000 * (after - between)


async def _fill(directory: Path, passages: int) -> None:
    async with open_memory(Settings(data_dir=directory, **NUMPY)) as opened:
        committer = Committer(opened.context)
        for write, vectors in _writes(passages):
            await committer.commit(write, vectors)


def _writes(passages: int) -> Iterator[tuple[WriteIntent, Vectors]]:
    draw = random.Random(passages)  # noqa: S311 the same data in every run
    directions = np.random.default_rng(passages)
    left = passages
    number = 0
    while left:
        episodes: list[Episode] = []
        sentences = []
        vectors: Vectors = {}
        while left and len(episodes) < _EPISODES_A_WRITE:
            text = " ".join(f"{' '.join(draw.choices(_WORDS, k=10)).capitalize()}." for _ in range(min(8, left)))
            episode = an_episode(
                text, group_id="default", name=f"Entry {number}", valid_at=DAY_ONE + timedelta(hours=number)
            )
            number += 1
            episodes.append(episode)
            for span in split_passages(text)[:left]:
                passage = a_passage(episode, span.start, span.end, paragraph=span.paragraph, sentence=span.sentence)
                sentences.append(passage)
                vectors[passage.uuid] = _unit_vector(directions)
                left -= 1
        yield a_write(*episodes, *sentences), vectors


def _unit_vector(draw: np.random.Generator) -> "array[float]":
    values = draw.standard_normal(_DIMENSION, dtype=np.float32)
    return array("f", (values / np.linalg.norm(values)).tobytes())
