"""What storage, journal, embedder and locks must offer.

Implementations stand in ``storage``, ``embedding`` and ``graphiti_adapter``.
"""
