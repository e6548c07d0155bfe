"""The rules of facts: parsing, validity, replacement, endings, series of readings.

Pure but for what a caller read before.
"""
