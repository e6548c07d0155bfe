"""Flags, confidence, fitness and quality of what a memory holds."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.curation.tools import (
    adjust_bias,
    clear_flag,
    flag_for_review,
    flag_similar_entities,
    get_quality_report,
    list_flagged,
    mark_useful,
    merge_entities,
    set_confidence,
    split_entity,
    unmerge_entities,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.services import ServiceKey
from graphiti_pkm.toolkit.tool import ADDS, READS, WRITES_IDEMPOTENT, ToolSpec

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.curation.checks import Checks

CHECKS: ServiceKey["Checks"] = ServiceKey("checks")
_MERGES = Hints(
    next_actions=("unmerge_entities",),
    prerequisites=("flag_similar_entities", "list_flagged"),
    missing="not_compared",
    error_hints={
        "not_compared": "it shows how similar the two are, and whether there are more of the same.",
        "insufficient_similarity": "similarity must be above 0.85; fuller summaries may show that they are one.",
        "missing_flag": "flag one of them first, so that others can object.",
    },
)

CAPABILITY = Capability(
    name="curation",
    assembly="graphiti_pkm.capabilities.curation.assembly",
    tools={
        "curation": (
            ToolSpec(
                flag_for_review,
                "Flag For Review",
                WRITES_IDEMPOTENT,
                failure="Not flagged: ",
                permitted_to="librarian",
                shown_by="list_flagged",
                hints=Hints(("list_flagged",)),
            ),
            ToolSpec(
                clear_flag,
                "Clear Flag",
                WRITES_IDEMPOTENT,
                failure="Not cleared: ",
                permitted_to="librarian",
                shown_by="list_flagged",
                hints=Hints(("list_flagged",)),
            ),
            ToolSpec(
                list_flagged,
                "List Flagged",
                READS,
                permitted_to="librarian",
                hints=Hints(("merge_entities", "clear_flag", "set_confidence")),
            ),
            ToolSpec(
                flag_similar_entities,
                "Flag Similar Entities",
                WRITES_IDEMPOTENT,
                failure="Not flagged: ",
                permitted_to="librarian",
                shown_by="list_flagged",
                hints=Hints(("merge_entities", "update_entity")),
            ),
            ToolSpec(
                set_confidence,
                "Set Confidence",
                WRITES_IDEMPOTENT,
                failure="Not set: ",
                permitted_to="librarian",
            ),
            ToolSpec(
                merge_entities,
                "Merge Entities",
                ADDS,
                failure="Not merged: ",
                permitted_to="librarian",
                shown_by="what_changed",
                hints=_MERGES,
            ),
            ToolSpec(
                unmerge_entities,
                "Unmerge Entities",
                ADDS,
                failure="Not undone: ",
                permitted_to="librarian",
                shown_by="what_changed",
                hints=Hints(("update_entity", "clear_flag")),
            ),
            ToolSpec(
                split_entity,
                "Split Entity",
                ADDS,
                failure="Not split: ",
                permitted_to="librarian",
                shown_by="what_changed",
                hints=Hints(("merge_entities", "update_entity")),
            ),
            ToolSpec(
                adjust_bias,
                "Adjust Bias",
                WRITES_IDEMPOTENT,
                failure="Not set: ",
                permitted_to="curator",
                hints=Hints(("search_nodes",)),
            ),
            ToolSpec(mark_useful, "Mark Useful", ADDS, failure="Not counted: "),
            ToolSpec(
                get_quality_report,
                "Get Quality Report",
                READS,
                permitted_to="librarian",
                hints=Hints(("list_flagged", "flag_similar_entities")),
            ),
        ),
    },
)
