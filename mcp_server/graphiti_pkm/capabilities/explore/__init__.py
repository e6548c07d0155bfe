"""Reads completely, in pages, from a known entity or episode: connections, timelines, sources, paths.

It ranks nothing; that is ``search``.
"""
