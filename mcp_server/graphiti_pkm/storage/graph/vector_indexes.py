"""The HNSW indexes: their records, and how they are created and dropped.

The watchdog imports this: standard library only, nothing slow.
"""

from typing import NamedTuple

M = 16
EF_CONSTRUCTION = 64
"""Builds in a third of the time of 200, with recall within two points; hits are scored again exactly."""


class Embedded(NamedTuple):
    """A kind of record with embeddings, and where they are stored. All constants: they are part of query texts."""

    name: str
    label: str
    """The label of a node, or the type of a relation."""
    vector: str
    """The property that holds the embedding."""
    variable: str = "e"
    """The variable of such a record in queries."""
    is_relation: bool = False

    @property
    def every(self) -> str:
        """A pattern that matches all."""
        return f"()-[{self.variable}:{self.label}]->()" if self.is_relation else f"({self.variable}:{self.label})"

    @property
    def hits(self) -> str:
        """The ``$k`` nearest of all groups; refused without a complete index."""
        kind, column = ("Relationships", "relationship") if self.is_relation else ("Nodes", "node")
        return (
            f"CALL db.idx.vector.query{kind}('{self.label}', '{self.vector}', $k, vecf32($vector)) "
            f"YIELD {column} WITH {column} AS {self.variable}"
        )

    @property
    def drop(self) -> str:
        """Drop it; refused if there is none."""
        pattern = f"()-[e:{self.label}]-()" if self.is_relation else f"(e:{self.label})"
        return f"DROP VECTOR INDEX FOR {pattern} ON (e.{self.vector})"

    def create(self, dimension: int) -> str:
        """Create it; returns at once, the database builds it in the background. Refused if there is one."""
        return (
            f"CREATE VECTOR INDEX FOR {self.every} ON ({self.variable}.{self.vector}) OPTIONS "
            f"{{dimension: {dimension}, similarityFunction: 'cosine', M: {M}, efConstruction: {EF_CONSTRUCTION}}}"
        )


class Built(NamedTuple):
    """One index."""

    is_usable: bool
    """Also true while a new one is built to replace it."""
    percent: int


ENTITIES = Embedded("entities", "Entity", "name_embedding", variable="n")
FACTS = Embedded("facts", "RELATES_TO", "fact_embedding", is_relation=True)
PASSAGES = Embedded("passages", "Passage", "embedding")

ALL = (ENTITIES, PASSAGES, FACTS)
"""In the order of building: writes wait while facts are indexed."""
