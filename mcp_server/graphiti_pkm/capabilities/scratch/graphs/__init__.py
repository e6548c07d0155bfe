"""One scratch graph in memory: nodes, edges, labels and their vectors.

Ownership and expiry are decided in ``tenants.py``.
"""
