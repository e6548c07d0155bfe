"""Resolves who and what is meant: groups, persons, uuids, names and mentions. Rules about facts are in ``facts``."""
