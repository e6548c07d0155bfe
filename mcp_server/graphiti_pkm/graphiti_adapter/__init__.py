"""Runs Graphiti's own pipeline on our graph; it only reads and saves nothing.

What is done with its results is decided in ``extraction``.
"""
