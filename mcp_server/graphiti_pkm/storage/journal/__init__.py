"""The second copy of every write, the queues and saved graphs, in SQLite.

A row is durable before a call is acknowledged.
"""
