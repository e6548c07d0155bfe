"""Finds entities, facts and episodes by words, meaning, names and dates.

Reading from something known stands in ``explore``.
"""
