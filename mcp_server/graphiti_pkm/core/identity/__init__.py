"""Who and what is meant: groups, persons, uuids, names and mentions. What is said of them stands in ``facts``."""
