"""One scratch graph in memory: nodes, edges, labels and their vectors.

Whose it is and how long it stays is decided in ``tenants.py``.
"""
