"""Keeping a memory good: flags for review, confidence, fitness, likely duplicates, and what its quality is.

What ends or changes a fact or an entity belongs to ``history``; what removes words, to ``forget``.
"""
