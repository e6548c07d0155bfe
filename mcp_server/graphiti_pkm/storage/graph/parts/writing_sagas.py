"""Writes sagas and communities, as sections of the query of a write."""

from collections.abc import Iterator
from uuid import UUID, uuid5

from graphiti_pkm.core.model.records import Record, Vectors, WriteIntent
from graphiti_pkm.storage.graph.queries import sagas as queries_sagas
from graphiti_pkm.storage.graph.queries.values import Row
from graphiti_pkm.storage.graph.queries.write import Section, vector_row
from graphiti_pkm.storage.graph.values import Instant


def saga_sections(intent: WriteIntent, vectors: Vectors) -> Iterator[Section]:
    """Runs after episodes and entities, before deletions; in Graphiti's own form, one edge per pair."""
    yield queries_sagas.SAGAS, [_properties(saga) for saga in intent.sagas]
    for text, records in (
        (queries_sagas.SAGA_STEPS, intent.saga_steps),
        (queries_sagas.EPISODE_LINKS, intent.episode_links),
    ):
        yield text, [{**_properties(record), "group_id": intent.group_id} for record in records]
    if intent.communities is None:
        return
    yield queries_sagas.DELETE_COMMUNITIES, [intent.group_id]
    yield (
        queries_sagas.COMMUNITIES,
        [
            vector_row(one.uuid, {"properties": {k: v for k, v in _properties(one).items() if k != "members"}}, vectors)
            for one in intent.communities
        ],
    )
    yield (
        queries_sagas.MEMBERS,
        [
            {
                "uuid": str(uuid5(UUID(one.uuid), member)),
                "community_uuid": one.uuid,
                "entity_uuid": member,
                "group_id": one.group_id,
                "created_at": Instant.of(one.created_at),
            }
            for one in intent.communities
            for member in one.members
        ],
    )


def _properties(record: Record) -> Row:
    return {
        field: Instant.of(value) if field.endswith("_at") and value is not None else value for field, value in record
    }
