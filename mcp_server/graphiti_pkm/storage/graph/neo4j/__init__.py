"""Neo4j as a database: connection, driver, schema, and what its Cypher says differently. The queries are shared."""
