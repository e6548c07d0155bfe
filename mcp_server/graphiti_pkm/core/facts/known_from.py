"""From when a fact without a given start is known, once an episode that recorded it is removed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from graphiti_pkm.core.model.records import Episode, Fact
from graphiti_pkm.core.ports.graph import Graph

_MOST_OTHERS = 1000


async def episode_times(
    graph: Graph, facts: Iterable[Fact], gone: Iterable[Episode], group_ids: Sequence[str]
) -> dict[str, datetime]:
    """Reference times of the episodes to be removed, and of those that remain for facts first known from one."""
    times = {episode.uuid: episode.valid_at for episode in gone}
    starts = set(times.values())
    first_recorded = [fact for fact in facts if fact.valid_at is None and fact.reference_time in starts]
    others = dict.fromkeys(uuid for fact in first_recorded for uuid in fact.episodes if uuid not in times)
    found = await graph.records.get_episodes(list(others)[:_MOST_OTHERS], group_ids) if others else []
    return times | {episode.uuid: episode.valid_at for episode in found}


def known_without(fact: Fact, lost: Collection[str], times: Mapping[str, datetime]) -> datetime | None:
    """From when the fact is known without those episodes; None if that does not change or no episode remains."""
    if fact.valid_at is not None or fact.reference_time not in {times.get(uuid) for uuid in lost}:
        return None
    remaining = [times[uuid] for uuid in fact.episodes if uuid not in lost and uuid in times]
    return min(remaining, default=None)
