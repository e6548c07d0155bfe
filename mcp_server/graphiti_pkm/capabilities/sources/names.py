"""Names of documents."""

LONGEST_NAME = 100
