"""The port ``Graph`` over a database: queries, mapping, vectors.

Code for a single database is in its own folder.
"""
