"""Finds the nodes of a scratch graph that a text refers to.

The normal forms of labels are in ``graphs``.
"""
