"""The local model on ONNX Runtime, which the extra ``fast`` installs, against NumPy."""

from collections.abc import Sequence
from functools import partial
from itertools import count

from tests.benchmarks.measuring import Figure, Target, in_turn, ms
from tests.benchmarks.texts import journal
from tests.benchmarks.world import NUMPY

from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings

_AIM = Target(">=", 2)
_ENTRIES = 40
_QUESTION = "What did we decide about the database in spring, and why?"
_numbers = count()


async def figures() -> list[Figure]:
    """A question, and the sentences of some entries in one batch."""
    sentences = [
        entry.text[span.start : span.end] for entry in journal()[:_ENTRIES] for span in split_passages(entry.text)
    ]
    fast, numpy = LocalEmbedder(Settings()), LocalEmbedder(Settings(**NUMPY))
    found = [
        await _figure("a question", [_QUESTION], 100, fast, numpy),
        await _figure(f"{len(sentences)} sentences of the journal", sentences, 5, fast, numpy),
    ]
    await fast.close()
    await numpy.close()
    return found


async def _figure(what: str, texts: Sequence[str], rounds: int, fast: LocalEmbedder, numpy: LocalEmbedder) -> Figure:
    times = await in_turn({"fast": partial(_embed, fast, texts), "numpy": partial(_embed, numpy, texts)}, rounds)
    ours, theirs = times["fast"].p50, times["numpy"].p50
    what = f"embedding {what} on ONNX Runtime (extra fast), against NumPy"
    return Figure(what, ms(ours), ms(theirs), theirs / ours, _AIM)


async def _embed(embedder: LocalEmbedder, texts: Sequence[str]) -> None:
    """With another number in each text, because vectors of short texts are cached."""
    await embedder.embed([f"{text} ({next(_numbers)})" for text in texts])
