"""Every error this product raises on purpose.

    PkmError
    ├── InvalidInput          the caller's argument is wrong; nothing was stored
    │   ├── InvalidCursor     a cursor that is damaged or belongs to other filters
    │   └── AmbiguousUuid     a uuid prefix that fits several records
    ├── NotFound              a well-formed uuid that names nothing the caller may see
    ├── NotAllowed            the caller may not use this group or this header
    ├── ConflictingContent    a repeated uuid with other content
    ├── NotKept               the write failed and left nothing behind
    ├── KeptButPending        the write is journalled; the graph gets it later
    ├── Unavailable           the database or the model cannot answer right now
    └── ConfigurationError    settings, files or the platform are wrong
        ├── UnsupportedPlatform
        ├── EmbeddingMismatch another model or dimension wrote this database
        ├── NewerSchema       the data was written by a newer version
        └── DamagedStore      a store could not be repaired

``message`` is written for the model or person who reads it: what failed, what was kept, what to do next.
It never holds content of the memory, a secret or a path outside the data directory.
"""


class PkmError(Exception):
    """Base of the tree; ``code`` is stable and machine-readable, ``message`` is for the reader."""

    code = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(PkmError):
    """An argument is wrong; nothing was stored."""

    code = "invalid_input"


class InvalidCursor(InvalidInput):
    """A cursor is damaged, or belongs to a call with other filters."""

    code = "invalid_cursor"


class AmbiguousUuid(InvalidInput):
    """A uuid prefix fits more than one record the caller may see."""

    code = "ambiguous_uuid"


class NotFound(PkmError):
    """A well-formed uuid names nothing the caller may see."""

    code = "not_found"


class NotAllowed(PkmError):
    """The caller may not use this group, header or operation."""

    code = "not_allowed"


class ConflictingContent(PkmError):
    """A uuid was sent before with other content; the first content stands."""

    code = "conflicting_content"


class NotKept(PkmError):
    """A write failed and left nothing behind; it may be sent again."""

    code = "not_kept"


class KeptButPending(PkmError):
    """A write is journalled and will reach the graph; it must not be sent again."""

    code = "kept_but_pending"


class Unavailable(PkmError):
    """The database or the model cannot answer right now; reads may be tried again."""

    code = "unavailable"


class ConfigurationError(PkmError):
    """Settings, directories or the platform are wrong; the server does not start."""

    code = "configuration"


class UnsupportedPlatform(ConfigurationError):
    """The embedded database cannot run here."""

    code = "unsupported_platform"


class EmbeddingMismatch(ConfigurationError):
    """The database was written with another embedding model or dimension."""

    code = "embedding_mismatch"


class NewerSchema(ConfigurationError):
    """The data was written by a newer version of this product."""

    code = "newer_schema"


class DamagedStore(ConfigurationError):
    """A store is damaged beyond what can be repaired automatically."""

    code = "damaged_store"
