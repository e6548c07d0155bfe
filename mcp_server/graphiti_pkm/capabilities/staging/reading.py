"""Reads all records of a group, a page at a time."""

from collections.abc import AsyncIterator

from graphiti_pkm.capabilities.staging.times import time_of
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact

PAGE = 500


class GroupReading:
    """Of one stored group."""

    def __init__(self, context: Context, stored: str) -> None:
        self._graph = context.graph
        self._groups = (stored,)
        self._facts = FactFilter(group_ids=self._groups, now=context.now())

    async def entities(self) -> AsyncIterator[list[Entity]]:
        """All entities by name."""
        after, wanted = None, EntityFilter(group_ids=self._groups)
        while True:
            page, _ = await self._graph.records.entity_page(wanted, Window(limit=PAGE, after=after))
            yield page
            if len(page) < PAGE:
                return
            after = (page[-1].name, page[-1].uuid)

    async def facts(self) -> AsyncIterator[list[Fact]]:
        """All facts."""
        after = None
        while True:
            page = await self._graph.facts.group_facts(self._facts, Window(limit=PAGE, after=after))
            yield list(page.facts)
            if len(page.facts) < PAGE:
                return
            after = page.keys[-1]

    async def facts_of(self, entity: str) -> AsyncIterator[list[Fact]]:
        """The facts of an entity."""
        after = None
        while True:
            page = await self._graph.facts.connections(entity, self._facts, Window(limit=PAGE, after=after))
            yield list(page.facts)
            if len(page.facts) < PAGE:
                return
            after = page.keys[-1]

    async def episodes(self) -> AsyncIterator[list[Episode]]:
        """All episodes; those of one time are on one page."""
        after, episodes, wanted = None, list[Episode](), EpisodeFilter(group_ids=self._groups)
        while True:
            page = await self._graph.episodes.recent_episodes(wanted, Window(limit=PAGE, after=after, newest=False))
            episodes += page.episodes
            if len(page.episodes) < PAGE:
                yield episodes
                return
            after = page.keys[-1]
            whole = [one for one in episodes if time_of(one) != time_of(episodes[-1])]
            yield whole
            episodes = episodes[len(whole) :]

    async def episodes_of(self, entity: str) -> AsyncIterator[list[Episode]]:
        """The episodes that mention an entity."""
        after, wanted = None, EpisodeFilter(group_ids=self._groups)
        while True:
            page = await self._graph.episodes.timeline(entity, wanted, Window(limit=PAGE, after=after, newest=False))
            yield list(page.episodes)
            if len(page.episodes) < PAGE:
                return
            after = page.keys[-1]
