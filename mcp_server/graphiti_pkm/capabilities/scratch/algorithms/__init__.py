"""Graph algorithms on whole scratch graphs; those that may take exponential time run in a worker process.

They work on node numbers and know neither labels nor tools.
"""
