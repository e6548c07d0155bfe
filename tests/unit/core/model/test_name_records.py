"""Names of earlier versions, which took different numbers for spellings of one name."""

from tests.builders import GROUP, a_name, a_write, an_entity

from graphiti_pkm.core.model.name_records import names_apart
from graphiti_pkm.core.model.names import former_key, name_key
from graphiti_pkm.core.model.records import Archive, EntityState, WriteIntent


def test_what_was_one_name_becomes_a_name_and_aliases_of_the_same_entity() -> None:
    rack = an_entity("rack-1-12")
    spellings = ("Rack 1 12", "rack 11-2", "RACK 11 2", "rack112")
    former = a_name(rack, key=former_key(GROUP, rack.name), spellings=spellings, is_linkable=False)
    own, *aliases = apart = names_apart([former])
    assert own == a_name(rack, spellings=("Rack 1 12",), is_linkable=False)
    assert [(one.text, one.spellings, one.is_alias) for one in aliases] == [
        ("rack 11-2", ("RACK 11 2",), True),
        ("rack112", (), True),
    ]
    assert all(one.key == name_key(GROUP, one.text) and not one.is_linkable for one in apart)
    assert {one.entity_uuid for one in apart} == {rack.uuid}
    assert names_apart(apart) == apart


def test_names_of_the_journal_get_their_keys_when_they_are_read() -> None:
    rack = an_entity("rack-1-12")
    former = a_name(rack, key=former_key(GROUP, rack.name), spellings=("rack 11-2",))
    keys = [name_key(GROUP, "rack 1 12"), name_key(GROUP, "rack 11 2")]
    stored = a_write(rack).model_copy(update={"names": (former,)}).model_dump_json()
    assert [one.key for one in WriteIntent.model_validate_json(stored).names] == keys
    for record in (EntityState(name=rack.name), Archive()):
        stored = record.model_copy(update={"names": (former,)}).model_dump_json()
        assert [one.key for one in type(record).model_validate_json(stored).names] == keys
