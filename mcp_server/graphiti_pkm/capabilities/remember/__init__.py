"""Stores what was said, with the entities and facts found in it: parsed, planned, committed, answered.

Rules shared with other writers are in ``core/facts``.
"""
