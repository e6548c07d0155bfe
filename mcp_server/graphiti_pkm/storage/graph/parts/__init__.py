"""The named parts of the store; each answers one port with Cypher, over the database that they share.

The texts of their queries stand in ``queries``, what a write is in ``core/model/records.py``.
"""
