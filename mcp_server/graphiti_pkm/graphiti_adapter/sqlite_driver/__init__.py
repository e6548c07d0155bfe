"""Graphiti's driver for one SQLite file: what Graphiti asks of a database, answered on the tables of our store.

SQL is in ``storage.graph.sqlite``. What our own server shows of the graph is not decided here.
"""
