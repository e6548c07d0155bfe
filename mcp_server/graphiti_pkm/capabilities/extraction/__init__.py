"""Lets a configured model read stored episodes, from a durable queue.

How Graphiti's pipeline runs is in ``graphiti_adapter``.
"""
