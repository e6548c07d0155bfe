"""What the commands over staging print."""

from graphiti_pkm.capabilities.staging.models import MigrationReport
from graphiti_pkm.cli.staging import lines_of
from graphiti_pkm.core.model.queries import GroupSize

NOTHING = GroupSize(episodes=0, entities=0, facts=0)


def test_each_line_of_a_migration_begins_with_what_became_of_it_in_the_target() -> None:
    report = MigrationReport(
        message="Nothing copied.",
        done=True,
        source="a_staging",
        target="a",
        copied=NOTHING,
        known=NOTHING,
        joined=NOTHING,
        removed=NOTHING,
        left=("Ana likes tea.",),
        left_total=3,
        conflicts=("Ana lives in Rome. / Ana lives in Oslo.",),
        still_current=("Ana leads Heron.",),
        still_current_total=1,
        differing=("Ana: its summary",),
        differing_total=1,
        kept=2,
    )
    assert lines_of(report) == [
        "Nothing copied.",
        "  left          Ana likes tea.",
        "  left: 2 more",
        "  conflict      Ana lives in Rome. / Ana lives in Oslo.",
        "  still current Ana leads Heron.",
        "  differs       Ana: its summary",
        "  Not copied, and left in a_staging: the history.",
        "  2 stay in a_staging, since others there need them or they differ.",
    ]
