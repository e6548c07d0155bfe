"""The port ``Graph`` over a database: queries, mapping, vectors.

What only one database needs stands in its own folder.
"""
