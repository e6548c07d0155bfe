"""Removes for good: an episode, a fact, a claim, a person, whole groups.

How files are rewritten stands in ``storage/erasing.py``.
"""
