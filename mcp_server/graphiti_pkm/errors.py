"""Every error this product raises on purpose.

    PkmError
    ├── InvalidInput          the caller's argument is wrong; nothing was stored
    │   ├── InvalidCursor     a cursor that is damaged or belongs to other filters
    │   ├── AmbiguousUuid     a uuid prefix that matches several records
    │   ├── AmbiguousLabel    a text that may mean several nodes of a scratch graph
    │   └── TooLarge          a call, or an answer that may not be shortened, exceeds its maximum size
    ├── NotFound              no record that the caller may see has this uuid
    ├── NotAllowed            the caller may not use this group or this header
    │   └── PermissionDenied  the tier of the caller's token is too low for a tool
    ├── TooManyCalls          the caller exceeded the rate limit and may call again later
    ├── PrerequisiteSuggested nothing was done yet: another tool should be called first, or the call confirmed
    ├── ConflictingContent    a repeated uuid with other content
    ├── WriteFailed           the write failed and stored nothing
    ├── WritePending          the write is in the journal and will be applied to the graph later
    ├── TookTooLong           the call was stopped at its time limit
    ├── Unavailable           the database or the model cannot answer right now
    │   └── TextRefused       a service accepts other texts, but not this one
    ├── ModelError            the model did not process an episode; the episode is stored
    │   ├── ModelUnavailable  the model cannot be reached, or asks to wait
    │   ├── ModelRefused      retrying is pointless until something is changed
    │   ├── ModelNonsense     the answer does not have the requested form
    │   └── BudgetSpent       the budget allows no more calls for now
    └── ConfigurationError    settings, files or the platform are wrong
        ├── InvalidSettings   a setting, or two that contradict each other; a command ends with exit code 2
        ├── UnsupportedPlatform
        ├── EmbeddingMismatch another model or dimension wrote this database
        ├── NewerSchema       the data was written by a newer version
        └── DamagedStore      a store could not be repaired

``message`` tells the model or person who reads it what failed, what was kept and what to do next.
It never contains content of the memory, a secret or a path outside the data directory, whose own path only the local
user is told.
"""


class PkmError(Exception):
    """Base of all our errors; ``code`` is stable and machine-readable, ``message`` is for the reader."""

    code = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(PkmError):
    """An argument is wrong; nothing was stored."""

    code = "invalid_input"

    def __init__(self, message: str, reason: str = "") -> None:
        """``reason``: under which the hints of the tool say what to do about it."""
        super().__init__(message)
        self.reason = reason


class InvalidCursor(InvalidInput):
    """A cursor is damaged, or belongs to a call with other filters."""

    code = "invalid_cursor"


class AmbiguousUuid(InvalidInput):
    """A uuid prefix matches more than one record that the caller may see."""

    code = "ambiguous_uuid"


class AmbiguousLabel(InvalidInput):
    """A text may mean several nodes of a scratch graph, or only resembles the label of one."""

    code = "ambiguous_label"


class TooLarge(InvalidInput):
    """A call, or an answer that may not be shortened, exceeds its maximum size."""

    code = "too_large"


class NotFound(PkmError):
    """No record that the caller may see has this uuid."""

    code = "not_found"


class NotAllowed(PkmError):
    """The caller may not use this group, header or operation."""

    code = "not_allowed"


class PermissionDenied(NotAllowed):
    """The tier of the caller's token is too low; nothing was done."""

    code = "permission_denied"

    def __init__(self, message: str, hint: str = "") -> None:
        """``hint``: what is lacking, in one sentence."""
        super().__init__(message)
        self.hint = hint or message


class PrerequisiteSuggested(PkmError):
    """Another tool should be called first. Nothing was done; the same call with ``confirm`` goes on."""

    code = "prerequisite_suggested"

    def __init__(self, message: str, hint: str, confirm: str) -> None:
        super().__init__(message)
        self.hint = hint
        self.confirm = confirm


class TooManyCalls(PkmError):
    """The caller exceeded the rate limit; nothing was done."""

    code = "too_many_calls"

    def __init__(self, message: str, retry_after: int) -> None:
        """``retry_after``: seconds until the caller may call again."""
        super().__init__(message)
        self.retry_after = retry_after


class ConflictingContent(PkmError):
    """A uuid was sent before with different content; the first content is kept."""

    code = "conflicting_content"


class WriteFailed(PkmError):
    """A write failed and stored nothing; it may be sent again."""

    code = "not_kept"


class WritePending(PkmError):
    """A write is in the journal and will be applied to the graph; it must not be sent again."""

    code = "kept_but_pending"


class TookTooLong(PkmError):
    """The call was stopped at its time limit; the message says what is known about its effects."""

    code = "took_too_long"


class Unavailable(PkmError):
    """The database or the model cannot answer right now; reads may be retried."""

    code = "unavailable"


class TextRefused(Unavailable):
    """An embedding service rejects this text only: it is too long for the model, or filtered."""

    code = "text_refused"


class ModelError(PkmError):
    """The model did not process an episode; ``remedy`` says what to do, and is empty if waiting is enough."""

    code = "model"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class ModelUnavailable(ModelError):
    """The model cannot be reached, is overloaded or broken, or asks to wait."""

    code = "model_unavailable"

    def __init__(self, message: str, retry_after: float | None = None, remedy: str = "") -> None:
        """``retry_after``: the seconds the service asked to wait, None if it did not."""
        super().__init__(message, remedy)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The key is wrong, the model unknown, the request not supported, or the content refused."""

    code = "model_refused"


class ModelNonsense(ModelError):
    """The answer was cut off, not JSON or of another shape, and asking the model to repair it did not help."""

    code = "model_nonsense"


class BudgetSpent(ModelError):
    """The budget of the day, or of the episode, is spent."""

    code = "budget_spent"

    def __init__(self, message: str, remedy: str, *, is_of_day: bool) -> None:
        """``is_of_day``: the daily budget is spent, which is renewed tomorrow."""
        super().__init__(message, remedy)
        self.is_of_day = is_of_day


class ConfigurationError(PkmError):
    """Settings, directories or the platform are wrong; the server does not start."""

    code = "configuration"


class InvalidSettings(ConfigurationError):
    """A setting is wrong or contradicts another; what was given must change. A command ends with 2."""


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
    """A store is damaged and cannot be repaired automatically."""

    code = "damaged_store"


def codes() -> set[str]:
    """The codes of all errors."""
    found, kinds = {PkmError.code}, [PkmError]
    while kinds:
        kinds = [kind for one in kinds for kind in one.__subclasses__()]
        found |= {kind.code for kind in kinds}
    return found
