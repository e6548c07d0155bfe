"""FalkorDB as a database: connection, driver, schema. Starting one stands in ``embedded``."""
