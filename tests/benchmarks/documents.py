"""Ingest of 1,000 documents, variants of real records of decisions, against the embedder alone."""

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.acceptance.shared_data import shared_data
from tests.benchmarks.measuring import Figure, Target
from tests.benchmarks.world import memory

from graphiti_pkm.capabilities.sources.ingesting import Given
from graphiti_pkm.capabilities.sources.layout import divide
from graphiti_pkm.capabilities.sources.tools import INGESTING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.embedding.local.local import LocalEmbedder

DOCUMENTS = 1_000
_PIECE = 100
"""Documents of one side before it is the other's turn, so that whatever else the machine does falls on both."""
_AT_ONCE = 256
"""Sentences that the embedder alone is given at a time."""
_END = re.compile(r"([a-z])([.!?])(\s)")


async def figures(count: int = DOCUMENTS) -> list[Figure]:
    """Each different sentence counts once on both sides."""
    with TemporaryDirectory() as directory:
        root = Path(directory)
        files = _written(root, count)
        async with memory() as opened:
            alone = LocalEmbedder(opened.context.settings)
            await alone.embed(["Ready."])
            await opened.context.embedder.embed(["Ready."])
            ours = theirs = 0.0
            known = set[str]()
            for begin in range(0, count, _PIECE):
                piece = files[begin : begin + _PIECE]
                new = sorted(_sentences(piece) - known, key=len)
                known.update(new)
                begun = perf_counter()
                done = [one async for one in opened.services[INGESTING].ingest(LOCAL, piece, root, None)]
                ours += perf_counter() - begun
                assert {one.outcome for one in done} == {"new"}
                begun = perf_counter()
                for place in range(0, len(new), _AT_ONCE):
                    await alone.embed(new[place : place + _AT_ONCE])
                theirs += perf_counter() - begun
            await alone.close()
    return [
        Figure(
            f"ingest of {count:,} documents ({len(known):,} different sentences), against embedding them",
            f"{len(known) / ours:.0f} sentences/s",
            f"{len(known) / theirs:.0f} sentences/s",
            theirs / ours,
            Target(">=", 0.5),
        )
    ]


def _written(root: Path, count: int) -> list[Given]:
    """Records with a number and sentences of their own."""
    originals = sorted(shared_data("architecture-decisions").glob("[0-9]*.md"))
    files = list[Given]()
    for place in range(count):
        copy, number = divmod(place, len(originals))
        text = originals[number].read_text(encoding="utf-8")
        path = root / f"{place + 1:04d}-record.md"
        path.write_text(_END.sub(rf"\1 c{copy}\2\3", text) if copy else text, encoding="utf-8")
        files.append(Given(path, path.stem))
    return files


def _sentences(files: Sequence[Given]) -> set[str]:
    found = set[str]()
    for given in files:
        text = given.path.read_text(encoding="utf-8")
        for part in divide(text, "markdown").parts:
            own = text[part.start : part.end]
            found.update(own[span.start : span.end] for span in part.spans)
    return found
