"""The rules for facts: parsing, validity, replacement, endings, series of readings.

Only `saga_plan` and `known_from` read from the graph; everything else is pure.
"""
