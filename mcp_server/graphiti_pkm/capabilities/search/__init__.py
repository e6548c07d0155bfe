"""Finds entities, facts and episodes by words, meaning, names and dates.

Complete reads that start from a known entity are in ``explore``.
"""
