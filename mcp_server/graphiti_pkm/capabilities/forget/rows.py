"""The rows of a group's journal, with every entity under the uuid that it has now."""

from collections.abc import AsyncIterator, Mapping, Sequence

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.erasing import RowContent

_PAGE = 500


async def rows_of(context: Context, group_id: str) -> AsyncIterator[Sequence[RowContent]]:
    """All rows in order, page by page; what a merge keeps for its undoing comes as a row of its own."""
    former = await context.graph.records.former_uuids(group_id)
    after = 0
    while rows := await context.journal.row_contents(group_id, after, _PAGE):
        after = rows[-1].seq
        whole = [one for row in rows for one in (row, *_archived(row))]
        yield [RowContent(one.seq, _under_present_uuids(one.intent, former), one.answer) for one in whole]


def _archived(row: RowContent) -> Sequence[RowContent]:
    merge = row.intent.merge
    if merge is None:
        return ()
    held = {name: getattr(row.intent, name) for name in ("uuid", "group_id", "kind", "recorded_at")}
    return (RowContent(row.seq, WriteIntent(**held, **dict(merge.archive)), ""),)


def _under_present_uuids(intent: WriteIntent, former: Mapping[str, str]) -> WriteIntent:
    """The same words, told of the entities that merged ones have become."""
    if not former:
        return intent

    def now(uuid: str) -> str:
        return former.get(uuid, uuid)

    return intent.model_copy(
        update={
            **{
                field: tuple(one.model_copy(update={"uuid": now(one.uuid)}) for one in getattr(intent, field))
                for field in ("entities", "projects", "qualities")
            },
            **{
                field: tuple(
                    one.model_copy(update={"entity_uuid": now(one.entity_uuid)}) for one in getattr(intent, field)
                )
                for field in ("names", "mentions")
            },
            "facts": tuple(
                one.model_copy(update={"source_uuid": now(one.source_uuid), "target_uuid": now(one.target_uuid)})
                for one in intent.facts
            ),
            "changes": tuple(
                one.model_copy(update={"fact_uuid": now(one.fact_uuid)}) if one.is_of_entity else one
                for one in intent.changes
            ),
            "communities": intent.communities
            and tuple(one.model_copy(update={"members": tuple(map(now, one.members))}) for one in intent.communities),
        }
    )
