"""Every error this product raises on purpose.

    PkmError
    ├── InvalidInput          the caller's argument is wrong; nothing was stored
    │   ├── InvalidCursor     a cursor that is damaged or belongs to other filters
    │   ├── AmbiguousUuid     a uuid prefix that fits several records
    │   ├── AmbiguousLabel    a text that may mean several nodes of a scratch graph
    │   └── TooLarge          more characters than one call may hold
    ├── NotFound              a well-formed uuid that names nothing the caller may see
    ├── NotAllowed            the caller may not use this group or this header
    │   └── PermissionDenied  the tier of the caller's token is too low for a tool
    ├── TooManyCalls          the caller has called too often; later they may again
    ├── ConflictingContent    a repeated uuid with other content
    ├── WriteFailed               the write failed and left nothing behind
    ├── WritePending        the write is journalled; the graph gets it later
    ├── TookTooLong           the call was stopped at its time limit
    ├── Unavailable           the database or the model cannot answer right now
    │   └── TextRefused       a service takes other texts, but not this one
    ├── ModelError            a model that reads episodes did not; the episode is kept
    │   ├── ModelUnavailable  it cannot be reached, or asks to wait
    │   ├── ModelRefused      asking again is of no use before something is changed
    │   ├── ModelNonsense     its answer does not fit the question
    │   └── BudgetSpent       no more calls may be made now
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


class AmbiguousLabel(InvalidInput):
    """A text may mean more than one node of a scratch graph, or only one that is not quite called so."""

    code = "ambiguous_label"


class TooLarge(InvalidInput):
    """A call holds more characters than the caller may send at once."""

    code = "too_large"


class NotFound(PkmError):
    """A well-formed uuid names nothing the caller may see."""

    code = "not_found"


class NotAllowed(PkmError):
    """The caller may not use this group, header or operation."""

    code = "not_allowed"


class PermissionDenied(NotAllowed):
    """The tier of the caller's token is too low; nothing was done."""

    code = "permission_denied"


class TooManyCalls(PkmError):
    """The caller has called too often for now; nothing was done."""

    code = "too_many_calls"

    def __init__(self, message: str, retry_after: int) -> None:
        """``retry_after``: seconds until there may be another call."""
        super().__init__(message)
        self.retry_after = retry_after


class ConflictingContent(PkmError):
    """A uuid was sent before with other content; the first content stands."""

    code = "conflicting_content"


class WriteFailed(PkmError):
    """A write failed and left nothing behind; it may be sent again."""

    code = "not_kept"


class WritePending(PkmError):
    """A write is journalled and will reach the graph; it must not be sent again."""

    code = "kept_but_pending"


class TookTooLong(PkmError):
    """The call reached its time limit and was stopped; the message says what is known of its effects."""

    code = "took_too_long"


class Unavailable(PkmError):
    """The database or the model cannot answer right now; reads may be tried again."""

    code = "unavailable"


class TextRefused(Unavailable):
    """A service that embeds takes other texts, but not this one: too long for its model, or filtered."""

    code = "text_refused"


class ModelError(PkmError):
    """A model that reads episodes did not; ``remedy`` says what to do about it, empty if waiting is enough."""

    code = "model"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class ModelUnavailable(ModelError):
    """The model cannot be reached, is overloaded or broken, or asks to wait."""

    code = "model_unavailable"

    def __init__(self, message: str, retry_after: float | None = None, remedy: str = "") -> None:
        """``retry_after``: seconds that the service asked for, None if it did not."""
        super().__init__(message, remedy)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """Wrong key, unknown model, a request it does not take, or content it will not read."""

    code = "model_refused"


class ModelNonsense(ModelError):
    """The answer is cut off, no JSON or of another shape, and so was the repaired one."""

    code = "model_nonsense"


class BudgetSpent(ModelError):
    """The budget of the day, or of the episode, is spent."""

    code = "budget_spent"

    def __init__(self, message: str, remedy: str, *, is_of_day: bool) -> None:
        """``is_of_day``: there is a new one tomorrow."""
        super().__init__(message, remedy)
        self.is_of_day = is_of_day


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


def codes() -> set[str]:
    """Every code there is."""
    found, kinds = {PkmError.code}, [PkmError]
    while kinds:
        kinds = [kind for one in kinds for kind in one.__subclasses__()]
        found |= {kind.code for kind in kinds}
    return found
