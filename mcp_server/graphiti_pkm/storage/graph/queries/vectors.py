"""Nearest by meaning: exact scans inside the groups, or the hits of an HNSW index.

Hits of an index come from all groups; they are filtered and scored again exactly, so both ways differ only in where the
candidates come from.
"""

from collections.abc import Sequence

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.graph.queries.facts import facts_matched
from graphiti_pkm.storage.graph.queries.parts import Conditions, cosine, entities_matched, episode_conditions
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.vector_indexes import ENTITIES, FACTS, PASSAGES, Embedded


def candidates(kind: Embedded, k: int | None, *, in_groups: bool = True) -> str:
    """All of the groups or of the database, or ``k`` hits of the index; ends in WHERE or AND, for the conditions."""
    if k is not None:
        return f"{kind.hits} WHERE"
    one = kind.variable
    grouped = f"{one}.group_id IN $groups AND " if in_groups else ""
    return f"MATCH {kind.every} WHERE {grouped}{one}.{kind.vector} IS NOT NULL AND"


def best(kind: Embedded, matched: Conditions, vector: Vector, limit: int, k: int | None) -> Query:
    """Of what ``matched``, the nearest by exact cosine."""
    text, values = matched
    one = kind.variable
    return Query(
        f"nearest {kind.name}",
        f"""{text} WITH {one}.uuid AS uuid, {cosine(f"{one}.{kind.vector}", "$vector")} AS score
        ORDER BY score DESC, uuid LIMIT $limit RETURN uuid, score""",
        {**values, "vector": vector, "limit": limit, "k": k},
    )


def nearest_entities(vector: Vector, wanted: EntityFilter, limit: int, k: int | None = None) -> Query:
    """By their names' embeddings."""
    return best(ENTITIES, entities_matched(candidates(ENTITIES, k), wanted), vector, limit, k)


def nearest_facts(vector: Vector, wanted: FactFilter, limit: int, k: int | None = None) -> Query:
    """By their embeddings."""
    matched = facts_matched(candidates(FACTS, k), wanted)
    return best(FACTS, (matched.text, matched.values), vector, limit, k)


def nearest_episodes(vector: Vector, wanted: EpisodeFilter, limit: int, k: int | None = None) -> Query:
    """By their best passage. Passages carry their episode's group and times, so ``e`` in the conditions is a passage.

    Those that mention an entity, or belong to a project, are found from it, without ``k``.
    """
    where, values = episode_conditions(wanted, "e.episode_uuid")
    found = candidates(PASSAGES, k)
    if wanted.entity_uuid is not None:
        found = """MATCH (h:Entity {uuid: $entity})<-[:MENTIONS]-(x) WITH DISTINCT x.uuid AS mentioning
          MATCH (e:Passage {episode_uuid: mentioning}) WHERE e.embedding IS NOT NULL AND"""
        values["entity"] = wanted.entity_uuid
    elif wanted.entries is not None and wanted.entries.project_uuid is not None:
        found = """MATCH (x:EntryRecord {project_uuid: $entry_project_uuid}) WITH x.uuid AS belonging
          MATCH (e:Passage {episode_uuid: belonging}) WHERE e.embedding IS NOT NULL AND"""
    return Query(
        "nearest episodes",
        f"""{found} {where}
        WITH e.episode_uuid AS uuid, max({cosine("e.embedding", "$vector")}) AS score
        ORDER BY score DESC, uuid LIMIT $limit
        MATCH (p:Passage {{episode_uuid: uuid}}) WHERE {cosine("p.embedding", "$vector")} >= score
        RETURN uuid, score, p.start AS start, p.end AS end ORDER BY score DESC, uuid, start""",
        {**values, "vector": vector, "limit": limit, "k": k},
    )


def episode_cosines(vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Of the nearest passage of each of these episodes, found from the episode."""
    return Query(
        "cosines of episodes",
        f"""UNWIND $uuids AS u MATCH (e:Passage {{episode_uuid: u}})
        WHERE e.group_id IN $groups AND e.embedding IS NOT NULL
        RETURN u AS uuid, max({cosine("e.embedding", "$vector")}) AS score""",
        {"uuids": list(dict.fromkeys(uuids)), "groups": group_ids, "vector": vector},
    )


def total(kind: Embedded) -> Query:
    """All records of a kind, known without looking at any."""
    return Query(f"count {kind.name}", f"MATCH {kind.every} RETURN count({kind.variable}) AS total", {})


def sizes(kind: Embedded) -> Query:
    """Embedded records in each group."""
    one = kind.variable
    return Query(
        f"sizes of {kind.name}",
        f"""MATCH {kind.every} WHERE {one}.{kind.vector} IS NOT NULL
        RETURN coalesce({one}.group_id, '') AS id, count({one}) AS total""",
        {},
    )
