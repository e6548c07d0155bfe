"""Every Cypher text, by subject: constants with parameters, each bounded. Nothing here sends one."""
