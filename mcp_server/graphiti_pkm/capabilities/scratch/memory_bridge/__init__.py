"""Loads parts of memory into scratch graphs, and writes parts of scratch graphs to memory, both only on request.

A commit is written by a single call of ``remember``.
"""
