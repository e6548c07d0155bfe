"""Entity types as labels of the graph, whether a caller or a model named them."""

import re

BASE = "Entity"
"""The label of every entity, with or without a type of its own."""
_OWN = frozenset(
    {
        BASE,
        "Episodic",
        "Community",
        "Saga",
        "Name",
        "Passage",
        "Change",
        "SearchText",
        "Group",
        "Write",
        "Meta",
        "Apart",
        "ProjectRecord",
        "EntryRecord",
        "QualityRecord",
        "MetricsRecord",
        "WriteOrigin",
        "DocumentRecord",
        "InstanceRecord",
    }
)
_LONGEST = 60


def as_label(text: str) -> str | None:
    """An entity type as a PascalCase label; None if it is not possible or the label is reserved."""
    words = re.findall(r"[A-Za-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    label = "".join(word[0].upper() + word[1:] for word in words)[:_LONGEST]
    if not text.isascii() or not label or not label[0].isalpha() or label in _OWN:
        return None
    return label
