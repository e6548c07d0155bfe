"""Records of documents that were ingested, and of evidence in them. Their words are those of episodes."""

from datetime import datetime

from pydantic import Field

from graphiti_pkm.core.model.record import Record


class Document(Record):
    """One version of a file: its text is the front matter, then the texts of its sections in order."""

    uuid: str
    group_id: str
    name: str
    path: str
    """Under the root of documents, with ``/`` between its parts."""
    version: int
    """From 1; the highest of a name is the present one."""
    digest: str
    """SHA-256 of the text as it was read; empty once something of it was forgotten or deleted."""
    front: str = ""
    """The front matter as it stands in the file, with its lines of ``---`` and the line break."""
    created_at: datetime


SECTION_SOURCE = "document "
"""Begins the ``source_description`` of the episode of a section; the name of the document follows."""


class Section(Record):
    """An episode as part of a document. Versions share the episodes of sections that did not change."""

    document_uuid: str
    place: int
    """From 0."""
    episode_uuid: str
    paragraph: int
    """The number of its first paragraph in the document, from 1."""
    start: int = Field(default=0, exclude=True)
    """Where it begins in the document, in code points: read with it and never stored."""


class Instance(Record):
    """A quote from a document that is evidence of an entity.

    It is placed by the passages in which it stands, so that it moves and goes with them, and repeats no word.
    """

    uuid: str
    group_id: str
    entity_uuid: str
    document_uuid: str
    episode_uuid: str
    passages: tuple[str, ...]
    """In order; the quote begins in the first and ends in the last."""
    first: int
    """Where it begins in the first passage, in code points."""
    last: int
    """Where it ends in the last."""
    created_at: datetime


class DocumentTexts(Record):
    """The texts of a document that remain after something was forgotten."""

    uuid: str
    name: str
    path: str
    front: str
    digest: str = ""


class Placed(Record):
    """Where an episode stands in a document."""

    document: Document
    is_present: bool
    """Whether the highest version of the document's name has the episode."""
    paragraph: int
    start: int
    """As in ``Section``."""
