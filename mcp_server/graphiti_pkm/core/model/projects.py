"""Projects as they are read: filters, rows and pages."""

from datetime import datetime
from typing import Literal

from graphiti_pkm.core.model.records import Project, Record

ProjectStatus = Literal["active", "archived", "completed"]


class ProjectFilter(Record):
    """A filter of projects; None means no restriction."""

    group_ids: tuple[str, ...]
    now: datetime
    """When a status has to hold."""
    recorded_until: datetime | None = None
    statuses: tuple[str, ...] | None = None
    """Normalised words, of which the newest current status is one; "" is that of a project without one."""
    uuids: tuple[str, ...] | None = None


class ProjectRow(Record):
    """A project with what is read with it."""

    project: Project
    name: str
    description: str
    status: str | None
    """The word of its newest current status."""
    entries: int
    last_entry: datetime | None


class ProjectPage(Record):
    """Projects with the sort key of each, and the total under the same filter."""

    projects: tuple[ProjectRow, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
