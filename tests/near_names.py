"""Texts that are names of their own, although a letter or two make each the name of something else."""

OTHER_NAMES = (
    ("hypoglycemia protocol", "Hyperglycemia protocol"),
    ("the coach", "The Couch"),
    ("the rent", "The Tent"),
    ("new york", "New Work"),
    ("Team D", "Team A"),
    ("Phase IV", "Phase II"),
    ("Merlin Office", "Berlin Office"),
    ("server rac 12", "server rack 1-2"),
    ("東京支社営業部長田中", "東京支社営業部長田口"),
)
"""Each with the name that it does not misspell."""
