"""Flags and confidence in a real data directory: rebuilt, forgotten with a word, and gone with their entity."""

import re
from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.capability import CHECKS
from graphiti_pkm.capabilities.curation.models import QualityView
from graphiti_pkm.capabilities.curation.requests import (
    ClearFlag,
    FlagForReview,
    FlagSimilarEntities,
    GetQualityReport,
    ListFlagged,
    MergeEntities,
    SetConfidence,
)
from graphiti_pkm.capabilities.curation.tools import MERGING, REPORT, REVIEWS, SIMILAR
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.capabilities.history.tools import UPDATING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.quality_checks import CHECKS as ALL_CHECKS
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zéphyrin-Quolltext"


async def begin(memory: Memory) -> dict[str, str]:
    """Tom and Sarah, and by name their uuids; Tom is flagged with a reason that names a third."""
    named = [{"name": name, "type": "Person"} for name in ("Tom", "Sarah", HIDDEN)]
    request = AddMemory.model_validate({"episode_body": f"Tom came. Sarah came. {HIDDEN} came.", "entities": named})
    stored = await memory.services[WRITING].add_memory(LOCAL, request)
    uuids = {one.name: one.uuid for one in stored.entities}
    reviews = memory.services[REVIEWS]
    await reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=uuids["Tom"], reason=f"Perhaps he is {HIDDEN}."))
    await reviews.set_confidence(
        LOCAL, SetConfidence(entity_uuid=uuids["Tom"], confidence=0.3, reason="Only one note names him.")
    )
    await reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=uuids["Sarah"], reason=f"{HIDDEN} said so."))
    await reviews.clear_flag(LOCAL, ClearFlag(entity_uuid=uuids["Sarah"], note="Settled."))
    await reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=uuids[HIDDEN], reason="Who is this?"))
    return uuids


async def flagged(memory: Memory) -> dict[str, QualityView]:
    page = await memory.services[REVIEWS].list_flagged(LOCAL, ListFlagged())
    return {one.name: one for one in page.flagged}


async def forget(memory: Memory, **what: str) -> ForgetResponse:
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(what))
    return await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**what, "confirm": preview.confirm}))


async def test_a_rebuild_gives_the_same_flags_and_confidence(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await begin(memory)
        before, listed = dump(tmp_path), await flagged(memory)
        assert listed["Tom"].confidence == 0.3
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        assert await flagged(memory) == listed


async def test_on_neo4j_a_rebuild_gives_the_same_and_a_forgotten_person_leaves_the_reasons(
    tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    settings = Settings(data_dir=tmp_path, **neo4j_server.product_settings())
    async with open_memory(settings) as memory:
        uuids = await begin(memory)
        report = await memory.services[REPORT].get_quality_report(LOCAL, GetQualityReport())
        assert (report.entities_total, report.flagged, report.low_confidence) == (3, 2, 1)
        assert [(one.created_by, one.low_confidence) for one in report.creators] == [("local", 1)]
        listed = await flagged(memory)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await flagged(memory) == listed
        assert (await memory.services[REPORT].get_quality_report(LOCAL, GetQualityReport())) == report
        await forget(memory, entity_uuid=uuids[HIDDEN])
        left = await flagged(memory)
        assert {name: one.reason for name, one in left.items()} == {"Tom": FORGOTTEN}
        assert (left["Tom"].created_by, left["Tom"].confidence) == ("local", 0.3)


async def test_a_forgotten_person_leaves_the_reasons_and_notes_about_others(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        assert files_with(tmp_path, HIDDEN)
        done = await forget(memory, entity_uuid=uuids[HIDDEN])
        assert done.removed["reasons"] == 4  # each in what is said now and in its event
        listed = await flagged(memory)
        assert {name: one.reason for name, one in listed.items()} == {"Tom": FORGOTTEN}
        assert (listed["Tom"].confidence, listed["Tom"].confidence_reason) == (0.3, FORGOTTEN)
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
    assert files_with(tmp_path, HIDDEN) == []


async def test_what_a_deleted_episode_alone_said_leaves_the_reasons_too(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        request = AddMemory.model_validate({"episode_body": "The word was Quirlebaumfest.", "name": "A note"})
        stored = await memory.services[WRITING].add_memory(LOCAL, request)
        reason = "Somebody said Quirlebaumfest."
        await memory.services[REVIEWS].flag_for_review(LOCAL, FlagForReview(entity_uuid=uuids["Tom"], reason=reason))
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=stored.episode_uuid))
        assert (await flagged(memory))["Tom"].reason == FORGOTTEN
    assert files_with(tmp_path, "Quirlebaumfest") == []


async def test_words_that_only_a_reason_has_are_forgotten_as_well(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        request = SetConfidence(entity_uuid=uuids["Sarah"], confidence=1, reason="The Quirlebaum trial showed it.")
        await memory.services[REVIEWS].set_confidence(LOCAL, request)
        done = await forget(memory, query="Quirlebaum")
        assert done.removed == {"reasons": 2}
    assert files_with(tmp_path, "Quirlebaum") == []


SERVICES = {
    "PostgreSQL": "Relational database that stores the invoices and customers.",
    "Postgres database": "The relational database in which customers and invoices are stored.",
    "AuthService": "Checks passwords and issues session cookies for people who log in.",
    "OAuthService": "Lets partner programs act for a user after consent, by the standard of the web.",
    "Redis": "Keeps sessions and rate limits in memory.",
    "Grafana": "Shows dashboards of metrics to the people on call.",
    "Invoice parser": "Reads PDF invoices of suppliers.",
    "Invoice sender": "Sends monthly invoices to customers by mail.",
}


async def test_a_real_model_finds_the_one_pair_that_is_twice_and_no_other(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        named = [{"name": name, "type": "Tool", "summary": text} for name, text in SERVICES.items()]
        request = AddMemory.model_validate({"episode_body": "Our services.", "entities": named})
        await memory.services[WRITING].add_memory(LOCAL, request)
        answer = await memory.services[SIMILAR].flag_similar_entities(LOCAL, FlagSimilarEntities())
        assert [{pair.one.name, pair.other.name} for pair in answer.pairs] == [{"PostgreSQL", "Postgres database"}]
        assert await names_flagged(memory, "default") == {"PostgreSQL", "Postgres database"}
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []


MEDICINE = {
    "Hypertension": "High blood pressure, a chronic disease.",
    "Ramipril": "A drug that lowers blood pressure.",
    "Heart failure": "The heart pumps too little blood.",
    "Aspirin": "A drug against pain and blood clots.",
}
COMICS = {
    "Spider-Man": "A superhero of comic books.",
    "Marvel Comics": "A publisher of comic books.",
    "Batman": "A masked superhero of Gotham City.",
    "Graphic novel": "A long story told in comic pictures.",
}
NEW = {
    "Watchmen comic": ("", ("Hypertension", "Aspirin")),
    "X-Men comic book": ("A comic book about superheroes with mutant powers.", ("Ramipril", "Heart failure")),
    "Stroke": ("A blood vessel in the brain is blocked.", ("Hypertension", "Aspirin")),
    "Lipitor": ("", ("Aspirin", "Heart failure")),
    "Wolverine": ("A superhero with claws of metal.", ("Marvel Comics", "Batman")),
    "Ines Vogel": ("", ("Ramipril", "Heart failure")),
    "Charité": ("A hospital in Berlin.", ("Heart failure", "Hypertension")),
}


async def test_two_that_little_is_known_of_are_found_and_merged_as_the_refusal_says(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        people = [{"name": "Priyanka", "type": "Person", "summary": "Sails."}, {"name": "Priya", "type": "Person"}]
        told = await memory.services[WRITING].add_memory(
            LOCAL, AddMemory.model_validate({"episode_body": "Two came.", "entities": people})
        )
        kept, removed = (one.uuid for one in told.entities)
        found = await memory.services[SIMILAR].flag_similar_entities(LOCAL, FlagSimilarEntities())
        assert [{pair.one.name, pair.other.name} for pair in found.pairs] == [{"Priyanka", "Priya"}]
        asked = MergeEntities(keep_uuid=kept, remove_uuid=removed, reason="Priya for short.")
        with pytest.raises(InvalidInput, match="insufficient_similarity") as refused:
            await memory.services[MERGING].merge_entities(LOCAL, asked)
        for uuid in re.findall(r"\b[0-9a-f]{8}\b", refused.value.message):
            summary = "Priyanka, whom her friends call Priya, sails."
            await memory.services[UPDATING].update_entity(LOCAL, UpdateEntity(entity_uuid=uuid, summary=summary))
        assert (await memory.services[MERGING].merge_entities(LOCAL, asked)).status == "preview"


async def test_a_real_model_finds_the_comics_in_medicine_and_no_normal_newcomer(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        named = [{"name": name, "type": "Concept", "summary": text} for name, text in {**MEDICINE, **COMICS}.items()]
        facts = [
            {"source": "Hypertension", "relation": "LEADS_TO", "target": "Heart failure", "fact": "It leads to it."},
            {"source": "Ramipril", "relation": "TREATS", "target": "Hypertension", "fact": "It treats it."},
            {"source": "Marvel Comics", "relation": "PUBLISHES", "target": "Spider-Man", "fact": "It publishes it."},
            {"source": "Marvel Comics", "relation": "COMPETES_WITH", "target": "Batman", "fact": "They compete."},
        ]
        known = {"episode_body": "What is known.", "entities": named, "facts": facts}
        await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(known))
        for name, (summary, others) in NEW.items():
            entity = {"name": name, "type": "Concept", "summary": summary or None}
            facts = [
                {"source": name, "relation": "CONCERNS", "target": one, "fact": f"{name} concerns {one}."}
                for one in others
            ]
            told = {"episode_body": f"About {name}.", "entities": [entity], "facts": facts}
            await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(told))
        report = await memory.services[CHECKS].run(LOCAL, None, ["placement"], writes=True)
        assert {one.name for one in report.checks[0].entities} == {"Watchmen comic", "X-Men comic book"}
        assert {one.reason for one in (await flagged(memory)).values()} == {"Linked to semantically distant concepts"}


async def staged(memory: Memory) -> None:
    """Four entities in staging, of which two are near-duplicates of each other, and one that nothing names."""
    two = [{"name": name, "type": "Tool", "summary": SERVICES[name]} for name in ("PostgreSQL", "Postgres database")]
    facts = [{"source": "Ines", "relation": "USES", "target": "PostgreSQL", "fact": "Ines uses PostgreSQL."}]
    request = {"episode_body": "Ines uses both.", "entities": [{"name": "Ines", "type": "Person"}, *two]}
    await memory.services[WRITING].add_memory(
        LOCAL, AddMemory.model_validate({**request, "facts": facts, "group_id": "default_staging"})
    )
    request = {"episode_body": "Of no use.", "entities": [{"name": "Widow"}], "group_id": "default_staging"}
    stored = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(request))
    gone = UpdateEntity(entity_uuid=stored.entities[0].uuid, unlink_episodes=[stored.episode_uuid])
    await memory.services[UPDATING].update_entity(LOCAL, gone)


async def checked_staging(memory: Memory) -> None:
    checks = memory.services[CHECKS]
    dry = await checks.run(LOCAL, "default_staging", ALL_CHECKS, writes=False)
    assert (dry.newly_flagged, await names_flagged(memory)) == (3, set())
    report = await checks.run(LOCAL, "default_staging", ALL_CHECKS, writes=True)
    found = {one.check: {view.name for view in one.entities} for one in report.checks}
    assert found["duplicates"] == {"PostgreSQL"}  # the pair stands once
    assert (found["orphans"], report.approved) == ({"Widow"}, 1)
    assert await names_flagged(memory) == {"PostgreSQL", "Postgres database", "Widow"}
    again = await checks.run(LOCAL, "default_staging", ALL_CHECKS, writes=True)
    assert (again.newly_flagged, again.approved) == (0, 0)


async def names_flagged(memory: Memory, group: str = "default_staging") -> set[str]:
    """Of each pair both, which stand at one of them."""
    page = await memory.services[REVIEWS].list_flagged(LOCAL, ListFlagged(group_ids=[group]))
    alike = {text.rpartition(" (")[0] for one in page.flagged for text in one.similar_to or ()}
    return alike | {one.name for one in page.flagged}


async def test_two_near_duplicates_and_an_orphan_of_staging_are_found_and_a_rebuild_keeps_what_was_said(
    tmp_path: Path,
) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await staged(memory)
        await checked_staging(memory)
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []


async def test_on_neo4j_the_same_is_found(tmp_path: Path, neo4j_server: Neo4jAddress) -> None:
    empty(neo4j_server)
    async with open_memory(Settings(data_dir=tmp_path, **neo4j_server.product_settings())) as memory:
        await staged(memory)
        await checked_staging(memory)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        again = await memory.services[CHECKS].run(LOCAL, "default_staging", ALL_CHECKS, writes=True)
        assert (again.newly_flagged, again.approved) == (0, 0)
