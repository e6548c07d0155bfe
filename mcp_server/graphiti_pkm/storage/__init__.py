"""Stores the memory: graph, journal, and the commit that keeps both consistent.

It decides nothing about the meaning of what it stores.
"""
