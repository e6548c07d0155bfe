"""Lets a configured model read stored episodes, from a durable queue.

How Graphiti's pipeline is run stands in ``graphiti_adapter``.
"""
