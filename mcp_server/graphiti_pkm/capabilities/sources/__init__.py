"""Documents: files that are ingested section by section, and quotes from them as evidence of entities.

What a text says of entities belongs to ``remember`` and ``extraction``; the words behind a fact belong to ``explore``.
"""
