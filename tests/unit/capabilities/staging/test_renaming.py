"""Copies under other uuids: every uuid and group of a write is given another, and nothing else is."""

import json
import re
from typing import get_args, get_origin

from pydantic import BaseModel
from tests.builders import (
    a_change,
    a_document,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_quality,
    a_write,
    an_entity,
    an_episode,
    an_instance,
    new_uuid,
)

from graphiti_pkm.capabilities.staging.renaming import GROUPS, UUID_LISTS, UUIDS, Renaming
from graphiti_pkm.core.model.merges import Moved
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import BECAUSE_OF, Archive, Merge, WriteIntent, WriteKind

UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
TEXTS = frozenset(
    {
        *("name", "content", "source_description", "text", "relation", "measure", "value", "unit", "quote", "summary"),
        *("label", "reason", "caller", "key", "spellings", "names", "note", "flag_reason", "confidence_reason"),
        *("flagged_by", "cleared_by", "confidence_by", "previous_start_words", "previous_end_words", "created_by"),
        *("token", "tag", "checksum", "metadata", "instructions", "person", "excluded_entity_types", "description"),
        *("source_name", "target_name", "cause", "origin_uuid", "bias_reason", "bias_by", "path", "digest", "front"),
        "checks",
    }
)
"""Fields with words, numbers and names of others."""


def fields_of(model: type[BaseModel], seen: set[type[BaseModel]]) -> dict[str, set[str]]:
    """Names of the fields of a record, and of those it is made of, that hold free text or uuids, with their models."""
    found: dict[str, set[str]] = {}
    if model in seen:
        return found
    seen.add(model)
    for name, info in model.model_fields.items():
        pending, kinds = [info.annotation], []
        while pending:
            kind = pending.pop()
            kinds.append(kind)
            pending += get_args(kind)
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                for inner, models in fields_of(kind, seen).items():
                    found.setdefault(inner, set()).update(models)
        if str in kinds and get_origin(info.annotation) is not dict:
            found.setdefault(name, set()).add(model.__name__)
    return found


def test_every_field_of_a_write_is_known_to_hold_uuids_or_words() -> None:
    """A new field must be put into one of the sets, or a copy would point to the original."""
    WriteIntent.model_rebuild()
    found = fields_of(WriteIntent, set())
    assert len(found) > 40
    unknown = {name: models for name, models in found.items() if name not in UUIDS | UUID_LISTS | GROUPS | TEXTS}
    assert unknown == {}


def test_a_copy_of_a_merge_and_of_a_document_shares_no_uuid() -> None:
    kept, removed, host = an_entity("Postgres"), an_entity("Postgre SQL"), an_entity("Atlas")
    text = an_episode("It stores rows.")
    part, fact = a_passage(text), a_fact(removed, host, "RUNS_ON")
    document, sections = a_document(text)
    quote = an_instance(removed, document, part)
    merge = Merge(
        uuid=new_uuid(),
        place=0,
        kept_uuid=kept.uuid,
        removed_uuid=removed.uuid,
        is_last=True,
        moved=Moved(sources=(fact.uuid,), targets=(fact.uuid,), evidence=(quote.uuid,), change_sources=(new_uuid(),)),
        apart=((removed.uuid, host.uuid),),
        former=(new_uuid(),),
        archive=Archive(entities=(removed,), facts=(fact,), mentions=(a_mention(text, removed),)),
    )
    told = a_write(kept, removed, host, text, part, document, *sections, quote, fact)
    renaming, write = Renaming("elsewhere"), told.model_copy(update={"kind": WriteKind.MERGE, "merge": merge})
    copy = renaming.write(write)
    assert set(UUID.findall(write.model_dump_json())) & set(UUID.findall(copy.model_dump_json())) == set()
    assert copy.merge is not None
    assert copy.merge.moved.evidence == (copy.instances[0].uuid,)
    assert copy.merge.removed_uuid == copy.entities[1].uuid == copy.instances[0].entity_uuid
    assert (copy.documents[0].name, copy.documents[0].path) == (document.name, document.path)


def test_a_copy_shares_no_uuid_and_keeps_every_word() -> None:
    anna, rome = an_entity("Anna", summary="Lives in Rome."), an_entity("Rome")
    episode = an_episode("Anna lives in Rome.")
    fact = a_fact(anna, rome, "LIVES_IN", episodes=(episode.uuid,), quote_episode_uuid=episode.uuid)
    other = a_fact(anna, rome, "LIKES", attributes={BECAUSE_OF: fact.uuid, "said": fact.uuid})
    write = a_write(
        *(anna, rome, a_name(anna), a_name(anna, "Annie"), episode, fact, other, a_mention(episode, anna)),
        *(
            a_passage(episode),
            a_change(fact, episode, replaced_by=other.uuid),
            a_quality(anna, similar_to=(rome.uuid,)),
        ),
    )
    renaming = Renaming("elsewhere")
    copy = renaming.write(write)
    before, after = write.model_dump_json(), copy.model_dump_json()
    assert set(UUID.findall(before)) & set(UUID.findall(after)) == {fact.uuid}  # in an attribute of somebody else
    assert copy.facts[1].attributes == {BECAUSE_OF: copy.facts[0].uuid, "said": fact.uuid}
    assert {one["group_id"] for one in json.loads(after)["entities"]} == {"elsewhere"}
    assert [one.key for one in copy.names] == [name_key("elsewhere", one.text) for one in write.names]
    assert copy.mentions[0].entity_uuid == copy.entities[0].uuid == copy.names[0].entity_uuid
    assert copy.changes[0].replaced_by == copy.facts[1].uuid
    assert [one.text for one in copy.facts] == [one.text for one in write.facts]
    assert copy.episodes[0].content == episode.content
    assert renaming.write(write) == copy
    assert Renaming("third").write(write).entities[0].uuid != copy.entities[0].uuid
