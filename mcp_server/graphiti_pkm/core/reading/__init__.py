"""Shared by all reads: scope, cursors, ranking, views, excerpts.

The questions themselves are asked by the capabilities.
"""
