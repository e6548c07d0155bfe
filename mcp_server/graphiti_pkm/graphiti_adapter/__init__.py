"""Graphiti's own pipeline on our graph: it reads, nothing is saved by it.

What becomes of its findings stands in ``extraction``.
"""
