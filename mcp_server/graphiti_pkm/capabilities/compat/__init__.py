"""The words of two other memory servers: create_entities, create_relations, add_observations and what reads and deletes
them, in the toolsets ``compat`` and ``reference``. What add_memory does with facts stands in ``remember``; forgetting
beyond the sentences of these tools in ``forget``.
"""
