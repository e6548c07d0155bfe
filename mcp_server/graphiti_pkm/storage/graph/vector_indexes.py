"""The HNSW indexes: one for each kind of record with embeddings."""

from typing import NamedTuple

M = 16
EF_CONSTRUCTION = 64
"""Builds in a third of the time of 200, with recall within two points; hits are scored again exactly."""
COMPLETE = 100
"""Percent; searches use an index from then on."""


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

    def with_uuid(self, uuid: str) -> str:
        """A pattern that matches the one whose uuid an expression gives."""
        one = f"{self.variable}:{self.label} {{uuid: {uuid}}}"
        return f"()-[{one}]->()" if self.is_relation else f"({one})"

    @property
    def index_name(self) -> str:
        """The name of the index."""
        return f"pkm_{self.label}_{self.vector}"

    @property
    def hits(self) -> str:
        """The ``$k`` nearest of all groups; refused without a complete index."""
        kind, column = ("Relationships", "relationship") if self.is_relation else ("Nodes", "node")
        return (
            f"CALL db.index.vector.query{kind}('{self.index_name}', $k, $vector) "
            f"YIELD {column} WITH {column} AS {self.variable}"
        )


ENTITIES = Embedded("entities", "Entity", "name_embedding", variable="n")
FACTS = Embedded("facts", "RELATES_TO", "fact_embedding", is_relation=True)
PASSAGES = Embedded("passages", "Passage", "embedding")

ALL = (ENTITIES, PASSAGES, FACTS)
"""In the order of building."""
