"""Queries that ask for what is not public. Pure."""

from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.model.names import fold, words_of

_CONFIDENTIAL = words_of("confidential secret")
_PUBLIC = words_of("public nonpublic")
_NOT = words_of("not non nonpublic isn aren t")
_OF_ANYTHING = words_of(
    """everything anything information things fact facts statements note notes entry entries known marked stored kept
    list show find tell give user isn aren t s"""
)


def asks_for_confidential(query: str) -> bool:
    """Whether a query asks for all that is not public, and for nothing else: "what is confidential?"."""
    words = set(fold(query).split())
    is_said = bool(words & _CONFIDENTIAL) or bool(words & _PUBLIC and words & _NOT)
    return is_said and words <= _CONFIDENTIAL | _PUBLIC | _NOT | _OF_ANYTHING | STOP_WORDS
