"""Reads completely, in pages, from something known: connections, timelines, sources, paths.

It ranks nothing; that is ``search``.
"""
