"""The base class of records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of all records: immutable and closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
