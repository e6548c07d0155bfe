"""Types from the settings as Graphiti wants them."""

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.graphiti_adapter.pipeline_types import read_types
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting

UPSTREAM = ("Preference", "Requirement", "Procedure", "Location", "Event", "Organization", "Document", "Topic")


def test_the_types_of_graphitis_own_server_are_taken_as_they_are() -> None:
    types = read_types([EntityTypeSetting(name=name, description=f"About {name}") for name in UPSTREAM], [], [])
    assert tuple(types.entities) == UPSTREAM
    assert [model.__doc__ for model in types.entities.values()] == [f"About {name}" for name in UPSTREAM]
    assert all(not model.model_fields for model in types.entities.values())


def test_names_become_labels_and_relations_also_where_they_meet() -> None:
    works = EdgeTypeSetting(name="WorksFor", between=(("work_team", "Entity"),))
    near = EdgeTypeSetting(name="near_to")
    types = read_types([EntityTypeSetting(name="work_team"), EntityTypeSetting(name="Entity")], [works, near], [])
    assert list(types.entities) == ["WorkTeam"]
    assert types.entities["WorkTeam"].__doc__
    assert list(types.facts) == ["WORKS_FOR", "NEAR_TO"]
    assert types.signatures == {("WorkTeam", "Entity"): ["WORKS_FOR"], ("Entity", "Entity"): ["NEAR_TO"]}


def test_only_types_that_there_are_can_be_left_out() -> None:
    types = read_types([EntityTypeSetting(name="Person"), EntityTypeSetting(name="Place")], [], ["place"])
    assert types.left_out([]) == ["Place"]
    assert types.left_out(["entity", "PERSON", "nothing"]) == ["Entity", "Person", "Place"]


@pytest.mark.parametrize("name", ["Episodic", "Name", "write", "Meta", "__"])
def test_a_type_named_as_something_of_our_own_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"entity_types: {name} is a word of the database"):
        read_types([EntityTypeSetting(name=name)], [], [])


def test_a_relation_without_a_letter_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="edge_types: '__' holds no letter"):
        read_types([], [EdgeTypeSetting(name="__")], [])
