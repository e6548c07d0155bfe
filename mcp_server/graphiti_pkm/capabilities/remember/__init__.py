"""Stores what was said, with the entities and facts found in it: parsed, planned, committed, answered.

Rules that other writers share stand in ``core/facts``.
"""
