"""The graph in one SQLite file: tables of Graphiti's model, indexes in the order that pages are read in.

Nothing outside this folder knows SQL of the graph. The journal has its own tables.
"""
