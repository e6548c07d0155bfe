"""Vectors that came later than their words go with them."""

from array import array

import pytest
from tests.builders import a_fact, a_write, an_entity, an_episode

from graphiti_pkm.core.model.records import Deletions, EmbeddedFact, Forgetting, NewVectors, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import redacted

VECTOR = array("f", [1.0])
NOTE, OTHER = an_episode("Sarah naps."), an_episode("Tom reads.")
SARAH, TOM, ADA = an_entity("Sarah"), an_entity("Tom"), an_entity("Ada")
FACT = a_fact(SARAH, TOM, episodes=(NOTE.uuid,))
DELETED = a_fact(TOM, ADA, episodes=(NOTE.uuid,))
KEPT = a_fact(TOM, ADA, episodes=(OTHER.uuid,))


def embedded() -> tuple[WriteIntent, dict[str, "array[float]"]]:
    """The write that gave vectors to all of them."""
    facts = tuple(
        EmbeddedFact(uuid=one.uuid, source_uuid=one.source_uuid, target_uuid=one.target_uuid, episodes=one.episodes)
        for one in (FACT, DELETED, KEPT)
    )
    given = NewVectors(
        entities=(SARAH.uuid, TOM.uuid, ADA.uuid),
        facts=facts,
        passages=((NOTE.uuid, "p1"), (NOTE.uuid, "p2"), (OTHER.uuid, "p3")),
    )
    return a_write(kind=WriteKind.JOB, new_vectors=given), dict.fromkeys(given.uuids, VECTOR)


def left_after(write: WriteIntent) -> set[str]:
    """Uuids of the vectors that stay; the same as those that the write names."""
    left, vectors = redacted(*embedded(), write)
    assert left.new_vectors is None or set(left.new_vectors.uuids) == set(vectors)
    assert redacted(left, vectors, write) == (left, vectors)
    return set(vectors)


def test_a_deleted_episode_takes_the_vectors_of_its_passages_facts_and_entities() -> None:
    gone = Deletions(episodes=(NOTE.uuid,), entities=(SARAH.uuid,), facts=(FACT.uuid,))
    left = left_after(a_write(kind=WriteKind.DELETE_EPISODE, deletions=gone, forgets=Forgetting()))
    assert left == {TOM.uuid, ADA.uuid, KEPT.uuid, "p3"}


def test_forgetting_takes_the_vectors_of_facts_and_passages_that_lose_words() -> None:
    told = Forgetting(facts=(KEPT.uuid,), passages=("p2",))
    left = left_after(a_write(kind=WriteKind.FORGET, forgets=told))
    assert left == {SARAH.uuid, TOM.uuid, ADA.uuid, FACT.uuid, DELETED.uuid, "p1", "p3"}


def test_nothing_stays_of_a_group_that_is_cleared() -> None:
    group = embedded()[0].group_id
    assert left_after(a_write(group_id=group, forgets=Forgetting(), deletions=Deletions(groups=(group,)))) == set()


@pytest.mark.parametrize("uuid", [SARAH.uuid, FACT.uuid, "p1"])
def test_a_forgetting_that_concerns_none_of_them_takes_nothing(uuid: str) -> None:
    assert uuid in left_after(a_write(forgets=Forgetting(facts=("other",))))
