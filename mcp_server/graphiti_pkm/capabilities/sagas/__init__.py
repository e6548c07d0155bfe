"""Summaries of sagas and communities of entities, made by a model as queued jobs.

The queue itself belongs to ``extraction``.
"""
