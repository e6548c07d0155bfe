"""Removes permanently: an episode, a fact, a claim, a person, whole groups.

Rewriting files is in ``storage/erasing.py``.
"""
