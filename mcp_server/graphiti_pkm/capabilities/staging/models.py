"""What the commands of this capability answer; they print it as JSON or in words."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.record import Record


class SnapshotView(Record):
    """A snapshot without the stored id of its group."""

    tag: str
    group: str
    taken_at: str
    writes: int
    size: GroupSize
    checksum: str
    model: str | None
    bytes: int


class SnapshotList(Record):
    """The snapshots of a group, oldest first."""

    snapshots: tuple[SnapshotView, ...]
    unreadable: tuple[str, ...] = ()
    """Tags of those that are damaged or of another version."""


class StateReport(Record):
    """A group that gets an earlier state, or would get it."""

    message: str
    done: bool
    """False: nothing was changed, because ``--confirm`` was not given or there was nothing to do."""
    group: str
    before: GroupSize
    after: GroupSize
    safety: str | None = None
    """The tag of a snapshot of the state before; None if the group held nothing."""


class RestoreReport(StateReport):
    """Of ``restore --snapshot``."""

    snapshot: str


class Attached(Record):
    """What hangs on episodes and entities."""

    documents: int = 0
    """Versions of documents; of a copy those of which all sections were copied, as episodes."""
    quotes: int = 0
    """From such documents, as evidence of entities."""
    sagas: int = 0
    """That contain some of the episodes."""


class RollbackReport(StateReport):
    """Of ``rollback``: what arrived since goes, what it ended holds again, what it removed comes back."""

    since: str
    removed: GroupSize
    removed_with_them: Attached
    brought_back: GroupSize
    brought_back_with_them: Attached
    facts_changed: int
    """Facts that stay and get the validity they had, for instance because their end is undone."""
    entities_changed: int
    """Entities that stay and get the name, type or summary they had."""
    episodes: tuple[str, ...] = ()
    """Titles of episodes that go, at most 20; as ``entities`` and ``facts``."""
    entities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Names of documents that go, with the version, at most 20."""
    quotes: tuple[str, ...] = ()
    """What is no longer evidence, at most 20."""
    not_undone: tuple[str, ...] = ()
    """What was forgotten or deleted for good since, which nothing brings back."""


IssueKind = Literal["flagged", "low_confidence", "orphan", "duplicate"]


class Issue(Record):
    """A reason to look at an entity before it is promoted."""

    kind: IssueKind
    uuid: str
    name: str
    detail: str
    other: str | None = None
    """The entity that it may be."""


class ApprovedEntity(Record):
    """An entity without such a reason."""

    uuid: str
    name: str


class NotCopied(Record):
    """What hangs on the copied records and stays in the source alone, as does how and when that learned them."""

    documents: int = 0
    """Of which only some sections were copied; ``ingest --target`` stores the document itself."""
    quotes: int = 0
    """From documents that were not copied, or that the target has by itself."""
    sagas: int = 0
    """Of which other episodes stay; what was copied is a saga in the target."""
    corrected_facts: int = 0
    """Which never held."""


class MigrationReport(Record):
    """Of ``migrate`` and ``promote``: what came into a group, and what stayed away."""

    message: str
    done: bool
    """False: nothing was changed, because it was only a preview."""
    source: str
    target: str
    copied: GroupSize
    known: GroupSize
    """What an earlier run had copied."""
    joined: GroupSize
    """What the target had already: entities by name and type, facts by what they say, originals of what comes back."""
    removed: GroupSize
    """From the source, after all of it was found in the target."""
    left: tuple[str, ...] = ()
    """Facts whose other end is not in the target, at most 20; ``left_total`` counts all."""
    left_total: int = 0
    held_back: tuple[str, ...] = ()
    """Entities that are not taken over, and why, at most 20; ``held_back_total`` counts all."""
    held_back_total: int = 0
    issues: tuple[Issue, ...] = ()
    """Of ``promote``: why entities are held back, at most 200; ``issues_total`` counts all. They get a flag."""
    issues_total: int = 0
    approved: tuple[ApprovedEntity, ...] = ()
    """Of ``promote``: those without an issue, at most 200; ``approved_total`` counts all."""
    approved_total: int = 0
    attached: Attached = Attached()
    """What came with the records."""
    attached_known: Attached = Attached()
    """What an earlier run had copied, or the target has by itself."""
    not_copied: NotCopied = NotCopied()
    conflicts: tuple[str, ...] = ()
    """Two facts that now hold although one of them should have ended, at most 20. Nothing was ended."""
    forgotten: tuple[str, ...] = ()
    """Names, titles and texts of what was forgotten or deleted in the target, or tells of that, and is not copied; at
    most 20. ``forgotten_total`` counts all."""
    forgotten_total: int = 0
    redacted: tuple[str, ...] = ()
    """Titles of episodes that lost words in the target and stay so, at most 20; ``redacted_total`` counts all."""
    redacted_total: int = 0
    still_told: tuple[str, ...] = ()
    """Episodes of the target, with the beginning of their uuid, whose originals lost words in the source since they
    were copied, at most 20; ``still_told_total`` counts all."""
    still_told_total: int = 0
    ended: int = 0
    """Facts copied earlier that end in the target because they ended, or were corrected, in the source."""
    still_current: tuple[str, ...] = ()
    """Those that go on in the target, since it states them by itself or somebody changed them there, at most 20;
    ``still_current_total`` counts all."""
    still_current_total: int = 0
    differing: tuple[str, ...] = ()
    """Entities whose summary, project or review is another one in the target and stays so, and which of them, at most
    20; ``differing_total`` counts all. A move leaves them in the source."""
    differing_total: int = 0
    kept: int = 0
    """Entities and episodes that a move leaves in the source, because something that stays needs them or, of entities,
    since they differ."""
    verified: str | None = None
    """SHA-256 of what was compared in both groups."""


class GroupStats(Record):
    """What a group holds, and what of it may need a look."""

    group: str
    target: str
    episodes: int
    entities: int
    facts: int
    documents: int
    quotes: int
    """From documents, as evidence of entities."""
    flagged: int
    low_confidence: int
    """Entities with a confidence below 0.5."""
    orphans: int
    """Entities that no episode mentions and no fact names."""
    snapshots: int
    unfinished: str | None = None
    """The snapshot whose restoring was interrupted, by its tag, else the beginning of its checksum."""


class Side(Record):
    """What only one of two groups holds; the lists are bounded."""

    entities_total: int
    facts_total: int
    documents_total: int
    sagas_total: int
    entities: tuple[str, ...]
    facts: tuple[str, ...]
    documents: tuple[str, ...]
    sagas: tuple[str, ...]


class DiffReport(Record):
    """Two groups compared, whatever their uuids.

    Entities and facts by what they say, documents by name and present text, sagas by name.
    """

    source: str
    target: str
    only_source: Side
    only_target: Side
    entities_in_both: int
    facts_in_both: int
    documents_in_both: int
    sagas_in_both: int


class Sizes(Answer):
    episodes: int
    entities: int
    facts: int


class IssueView(Answer):
    kind: IssueKind
    entity_uuid: str
    name: str
    detail: str


class ApprovedView(Answer):
    entity_uuid: str
    name: str
    approved: bool = True


class PromoteResponse(Answer):
    message: str
    done: bool
    """False: nothing was changed, since dry_run was not false."""
    source: str
    target: str
    approved: list[ApprovedView]
    """What is, or would be, taken over."""
    issues: list[IssueView]
    """Why others are held back; once dry_run is false they are flagged for review."""
    copied: Sizes
    known: Sizes
    """What an earlier call had copied."""
    joined: Sizes
    """What the target had already: entities by name and type, facts by what they say."""
    left: list[str]
    """Facts whose other end is not in the target; at most 20."""
    left_total: int
    held_back: list[str]
    """With those of another type in the target; at most 20."""
    conflicts: list[str]
    """Two facts that now hold although one of them should have ended; at most 20."""
