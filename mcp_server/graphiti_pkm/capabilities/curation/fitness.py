"""``adjust_bias`` and ``mark_useful``: how far up an entity belongs, and which facts helped."""

from datetime import datetime

from graphiti_pkm.capabilities.curation.models import BiasResponse, UsefulResponse
from graphiti_pkm.capabilities.curation.requests import AdjustBias, MarkUseful
from graphiti_pkm.capabilities.curation.reviews import Said, said
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.fitness import NO_FITNESS
from graphiti_pkm.core.model.records import Quality
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.reading.views import clipped

_NAME = 200
_DECIMALS = 3


class FitnessTools(Said):
    """What people say of fitness; what searches count is in ``UsageLog``."""

    async def adjust_bias(self, caller: Caller, request: AdjustBias) -> BiasResponse:
        """Set the bias of an entity. Raises InvalidInput, NotFound, NotAllowed: nothing was changed."""
        reason, bias = said("reason", request.reason), request.bias

        def biased(now: Quality, at: datetime) -> Quality:
            if (now.bias, now.bias_reason) == (bias, reason):
                return now
            given = {"bias": bias, "bias_reason": reason, "bias_at": at, "bias_by": caller.principal}
            return now.model_copy(update=given)

        found = await self._changed(caller, request.entity_uuid, biased)
        entity, before, after = found.entity, found.before, found.after
        totals = await self._context.usage.fitness([entity.uuid], [entity.group_id])
        fitness = totals.get(entity.uuid, NO_FITNESS)._replace(bias=after.bias or 0.0)
        is_changed, name = after != before, clipped(entity.name, _NAME)
        done = f"The bias of {name!r} is {bias:+g} now" if is_changed else "It is so already; nothing was changed"
        ranks = "" if self._context.settings.fitness == "boost" else ", but the setting fitness ranks nothing by it"
        return BiasResponse(
            message=f"{done}{ranks}.",
            changed=is_changed,
            entity_uuid=entity.uuid,
            name=name,
            bias=after.bias or 0.0,
            previous_bias=before.bias or 0.0,
            bias_reason=after.bias_reason,
            bias_at=iso(after.bias_at) if after.bias_at else None,
            bias_by=after.bias_by,
            query_count=fitness.hits,
            relevance_sum=round(fitness.relevance, _DECIMALS),
            fitness_score=round(fitness.score, _DECIMALS),
            final_score=round(fitness.final_score, _DECIMALS),
            group_id=self._groups.public(entity.group_id),
        )

    async def mark_useful(self, caller: Caller, request: MarkUseful) -> UsefulResponse:
        """Count a fact as useful once more. Raises InvalidInput, NotFound, NotAllowed: nothing was counted."""
        caller.must_write("Nothing was counted.")
        visible = await self._groups.visible(caller)
        uuid = await resolve_within(self._graph, visible, "fact", request.fact_uuid)
        found = await self._graph.records.get_facts([uuid], visible)
        if not found:
            raise unknown("fact", uuid)
        fact = found[0]
        totals = await self._context.usage.mark_useful(fact.uuid, fact.group_id)
        return UsefulResponse(
            message=f"Counted: useful {totals.useful} time(s).",
            fact_uuid=fact.uuid,
            traversal_count=totals.hits,
            useful_count=totals.useful,
            fitness=round(totals.of_fact, _DECIMALS),
            group_id=self._groups.public(fact.group_id),
        )
