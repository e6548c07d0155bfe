"""``get_quality_report``."""

from graphiti_pkm.capabilities.curation.models import CreatorView, QualityReportResponse
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.requests import GetQualityReport
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.curation import QualityFilter
from graphiti_pkm.core.reading.reader import Reader


class Report(Reader):
    """Counts of what may need a look."""

    def __init__(self, context: Context, groups: Groups, stored: GraphCuration) -> None:
        super().__init__(context, groups)
        self._stored = stored

    async def get_quality_report(self, caller: Caller, request: GetQualityReport) -> QualityReportResponse:
        """Counted now, over all entities of the groups."""
        groups = self._groups.searched(caller, request.group_ids)
        counts = await self._stored.quality_counts(
            QualityFilter(
                group_ids=groups,
                below=request.confidence_below,
                creator_prefix=request.creator_prefix or "",
                limit=request.limit,
            )
        )
        return QualityReportResponse(
            message=f"Of {counts.entities} entities {counts.flagged} are flagged, {counts.low} have a confidence below "
            f"{request.confidence_below:g}, and {counts.orphans} stand alone.",
            entities_total=counts.entities,
            flagged=counts.flagged,
            rated=counts.rated,
            low_confidence=counts.low,
            orphans=counts.orphans,
            creators=[CreatorView(created_by=who, low_confidence=count) for who, count in counts.creators],
            creators_total=counts.creators_total,
            scope=await self._scope(caller, groups, empty=not counts.entities),
        )
