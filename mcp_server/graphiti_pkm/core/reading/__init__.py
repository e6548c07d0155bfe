"""What all reads share: scope, cursors, ranking, views, excerpts.

The questions themselves stand in the capabilities.
"""
