"""Implements the port ``Extractor``: Graphiti reads a stored episode and returns its findings without saving them.

A long episode is read in parts, each together with the end of the previous part and the findings of all earlier ones.
"""

import asyncio
import importlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from graphiti_pkm.core.model.extraction_cost import split_parts
from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.core.model.queries import EpisodeFilter, Window
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.extraction import Extraction, ExtractionTask, ModelLedger
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.errors import NotFound
from graphiti_pkm.graphiti_adapter.model_of_job import LanguageModel, model_of_job
from graphiti_pkm.graphiti_adapter.pipeline_result import extraction_of
from graphiti_pkm.graphiti_adapter.pipeline_types import Ontology
from graphiti_pkm.settings.model import PART_CHARACTERS

if TYPE_CHECKING:
    from graphiti_pkm.graphiti_adapter.readable_store import ReadableStore


_PREVIOUS_EPISODES = 10
"""The number that Graphiti uses."""
_PREVIOUS_CHARACTERS = 2_000
"""Limit per previous episode, because every request contains them."""
_CONTEXT_CHARACTERS = 8_000
"""Limit for all previous episodes together."""
_SUPPLIED_FACTS = 60
_SUPPLIED_CHARACTERS = 6_000


class GraphitiExtractor:
    """Reads episodes of one store. Modules that are slow to import are imported in a thread on first use."""

    def __init__(
        self,
        store: "ReadableStore",
        embedder: Embedder,
        language_model: LanguageModel,
        types: Ontology,
        *,
        parallel_calls: int = 4,
        part_characters: int = PART_CHARACTERS,
    ) -> None:
        """``parallel_calls``: maximum number of simultaneous calls of one job."""
        self._store = store
        self._embedder = embedder
        self._language_model = language_model
        self._types = types
        self._parallel_calls = parallel_calls
        self._part_characters = part_characters

    @property
    def model(self) -> str:
        return self._language_model.name

    async def extract(self, task: ExtractionTask, ledger: ModelLedger) -> Extraction:
        episode = await self._episode(task)
        excluded = self._types.left_out(task.excluded_entity_types)
        if not {BASE, *self._types.entities} - set(excluded):
            return Extraction()
        previous = await self._previous(episode, task.previous_episode_uuids)
        run_module: Any = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.graphiti_adapter.pipeline_run")
        instructions = _instructions(task, self._types.described(excluded))
        contents = split_parts(episode.content, self._part_characters)
        contexts = [previous, *([*previous, _end_of(episode, before)] for before, _ in pairwise(contents))]
        captured = []
        async with model_of_job(self._language_model, ledger) as model:
            run = run_module.Run(self._store, self._embedder, model, self._types, self._parallel_calls)
            for content, context in zip(contents, contexts, strict=True):
                part = run_module.Part(content, context, instructions)
                captured.append(await run.read(episode, part, excluded))
        return extraction_of(captured, run.seen, excluded)

    async def _episode(self, task: ExtractionTask) -> Episode:
        found = await self._store.records.get_episodes([task.episode_uuid], [task.group_id])
        if not found:
            raise NotFound("The episode is not there any more; nothing was asked of the model.")
        return found[0]

    async def _previous(self, episode: Episode, chosen: Sequence[str] | None) -> list[Episode]:
        """The previous episodes, oldest first and limited in size; the same on every attempt.

        Like Graphiti, it takes episodes of the same source, unless the task names others.
        """
        group = episode.group_id
        if chosen is not None:
            found = await self._store.records.get_episodes(list(chosen)[:_PREVIOUS_EPISODES], [group])
            latest = sorted(found, key=lambda one: one.order, reverse=True)
        else:
            wanted = EpisodeFilter(group_ids=(group,), recorded_until=episode.created_at)
            after = (iso(episode.valid_at), iso(episode.created_at), episode.uuid)
            window = Window(limit=_PREVIOUS_EPISODES, after=after, backwards=True)
            page = await self._store.episodes.recent_episodes(wanted, window)
            latest = [one for one in page.episodes if one.source == episode.source]
        kept: list[Episode] = []
        left = _CONTEXT_CHARACTERS
        for one in latest:
            content = one.content[: min(_PREVIOUS_CHARACTERS, left)]
            if one.uuid != episode.uuid and content:
                kept.insert(0, one.model_copy(update={"content": content}))
                left -= len(content)
        return kept


def _end_of(episode: Episode, part: str) -> Episode:
    return episode.model_copy(update={"content": part[-_PREVIOUS_CHARACTERS:]})


def _instructions(task: ExtractionTask, excluded: str) -> str:
    """Our instructions to the model in addition to Graphiti's own."""
    parts = [task.instructions.strip()]
    parts.append(
        f'Whoever speaks of themselves as "I" or "me" without being named is called "{task.person}": an entity of '
        "exactly this name, if the text says anything about them."
    )
    if excluded:
        parts.append(f"Leave out every entity that is one of these: {excluded}. Do not take it for anything else.")
    known: list[str] = []
    left = _SUPPLIED_CHARACTERS
    for text in task.supplied_facts[:_SUPPLIED_FACTS]:
        left -= len(text)
        if left >= 0:
            known.append(f"- {text}")
    if known:
        parts.append("These facts are recorded already; do not return them again:\n" + "\n".join(known))
    return "\n\n".join(part for part in parts if part)
