"""Neo4j: connections, values, schema, and the driver for Graphiti's own code. Queries are in ``graph/queries``."""
