"""What earlier writes still say of an episode that is gone."""

import pytest
from tests.builders import a_fact, a_write, an_entity, an_episode, an_update, new_uuid

from graphiti_pkm.core.model.records import Archive, Deletions, Forgetting, Merge, WriteKind
from graphiti_pkm.core.model.redaction import redacted

GONE, OTHER = an_episode("Sarah naps."), an_episode("Tom reads.")
SARAH, TOM = an_entity("Sarah"), an_entity("Tom")
FACT = a_fact(SARAH, TOM)
LEFT = an_update(FACT, episodes=(OTHER.uuid,))
"""What the deletion leaves of it."""
DELETION = a_write(
    LEFT, kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(GONE.uuid,)), forgets=Forgetting()
)


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ((GONE.uuid, OTHER.uuid), (OTHER.uuid,)),
        ((OTHER.uuid,), (OTHER.uuid,)),
        ((GONE.uuid,), (GONE.uuid,)),
        ((), ()),
    ],
)
def test_a_fact_names_an_episode_that_is_gone_only_while_no_other_told_it(
    told: tuple[str, ...], left: tuple[str, ...]
) -> None:
    fact = FACT.model_copy(update={"episodes": told})
    once, _ = redacted(a_write(fact, an_update(fact)), {}, DELETION)
    assert (once.facts[0].episodes, once.fact_updates[0].episodes) == (left, left)
    assert redacted(once, {}, DELETION) == (once, {})


def test_what_a_merge_would_put_back_names_no_episode_that_is_gone() -> None:
    archive = Archive(facts=(FACT.model_copy(update={"episodes": (GONE.uuid,)}),))
    merge = Merge(uuid=new_uuid(), place=0, kept_uuid=SARAH.uuid, removed_uuid=TOM.uuid, is_last=True, archive=archive)
    (left, _) = redacted(a_write(kind=WriteKind.MERGE, merge=merge), {}, DELETION)
    assert left.merge is not None
    assert left.merge.archive.facts[0].episodes == ()
