"""Summaries of sagas and communities of entities, made by a model as jobs of the queue.

The queue itself belongs to ``extraction``.
"""
