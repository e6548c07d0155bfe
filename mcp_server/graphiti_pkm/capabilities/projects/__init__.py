"""Projects, and texts that are written into them: what a project holds, and what matters to it.

An entry is an episode and a project an entity, so what is asked of episodes and entities in general stands elsewhere.
"""
