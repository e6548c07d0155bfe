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
from graphiti_pkm.toolkit.services import ServiceKey
from graphiti_pkm.toolkit.tool import ADDS, READS, WRITES_IDEMPOTENT, ToolSpec

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.curation.checks import Checks

CHECKS: ServiceKey["Checks"] = ServiceKey("checks")

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
            ),
            ToolSpec(
                clear_flag,
                "Clear Flag",
                WRITES_IDEMPOTENT,
                failure="Not cleared: ",
                permitted_to="librarian",
                shown_by="list_flagged",
            ),
            ToolSpec(list_flagged, "List Flagged", READS, permitted_to="librarian"),
            ToolSpec(
                flag_similar_entities,
                "Flag Similar Entities",
                WRITES_IDEMPOTENT,
                failure="Not flagged: ",
                permitted_to="librarian",
                shown_by="list_flagged",
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
            ),
            ToolSpec(
                unmerge_entities,
                "Unmerge Entities",
                ADDS,
                failure="Not undone: ",
                permitted_to="librarian",
                shown_by="what_changed",
            ),
            ToolSpec(
                split_entity,
                "Split Entity",
                ADDS,
                failure="Not split: ",
                permitted_to="librarian",
                shown_by="what_changed",
            ),
            ToolSpec(
                adjust_bias,
                "Adjust Bias",
                WRITES_IDEMPOTENT,
                failure="Not set: ",
                permitted_to="curator",
            ),
            ToolSpec(mark_useful, "Mark Useful", ADDS, failure="Not counted: "),
            ToolSpec(get_quality_report, "Get Quality Report", READS, permitted_to="librarian"),
        ),
    },
)
