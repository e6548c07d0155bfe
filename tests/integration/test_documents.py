"""Documents in a real data directory: ingested, quoted, rebuilt, and forgotten down to the last file."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.builders import an_intent, an_update
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.requests import AdjustBias, FlagForReview, MergeEntities, UnmergeEntities
from graphiti_pkm.capabilities.curation.tools import FITNESS, MERGING, REVIEWS, UNMERGING
from graphiti_pkm.capabilities.explore.requests import GetEpisodes, GetFactSources
from graphiti_pkm.capabilities.explore.tools import EXPLORING, WORDS
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import ClearGraph, DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import CLEARING, DELETING, FORGETTING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchEpisodes
from graphiti_pkm.capabilities.search.tools import EPISODE_SEARCH
from graphiti_pkm.capabilities.sources.ingesting import Given, Ingested
from graphiti_pkm.capabilities.sources.models import EvidenceView
from graphiti_pkm.capabilities.sources.requests import AddEvidence, GetEntitySources
from graphiti_pkm.capabilities.sources.tools import EVIDENCE, INGESTING
from graphiti_pkm.capabilities.staging.tools import SNAPSHOTS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zéphyrin-Quolltext"
GUIDE = f"""\
---
keeper: {HIDDEN}
---
# Guide

Tom runs it. {HIDDEN} wrote the first part. It is small 🎈.

## Storage

One file holds it all. Tom owns the file.
"""


def written(root: Path, texts: Mapping[str, str]) -> None:
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")


async def ingest(memory: Memory, root: Path, **texts: str) -> list[Ingested]:
    """Write NAME.md for each and ingest it as NAME."""
    written(root, texts)
    given = [Given(root / f"{name}.md", name) for name in texts]
    return [one async for one in memory.services[INGESTING].ingest(LOCAL, given, root, None)]


async def begin(memory: Memory, root: Path) -> dict[str, str]:
    """Tom and the hidden one, and by name their uuids; three quotes are evidence of Tom."""
    named = [{"name": name, "type": "Person"} for name in ("Tom", HIDDEN)]
    request = AddMemory.model_validate({"episode_body": f"Tom came. {HIDDEN} came.", "entities": named})
    stored = await memory.services[WRITING].add_memory(LOCAL, request)
    await ingest(memory, root, guide=GUIDE)
    uuids = {one.name: one.uuid for one in stored.entities}
    for quote, paragraph in (
        ("It is small 🎈.", 2),
        (f"{HIDDEN} wrote the first part. It", 2),
        ("Tom owns the file.", 4),
    ):
        asked = AddEvidence(entity_uuid=uuids["Tom"], quote=quote, document="guide", paragraph=paragraph)
        await memory.services[EVIDENCE].add_evidence(LOCAL, asked)
    return uuids


async def sources(memory: Memory, uuid: str) -> list[EvidenceView]:
    return (await memory.services[EVIDENCE].get_entity_sources(LOCAL, GetEntitySources(entity_uuid=uuid))).sources


async def text(memory: Memory, name: str = "guide") -> str:
    graph = memory.context.graph
    document = await graph.documents.present("default", name)
    assert document is not None
    sections = await graph.documents.sections(document.uuid, "default", 99)
    episodes = await graph.records.get_episodes([one.episode_uuid for one in sections], ["default"])
    return document.front + "".join(one.content for one in episodes)


async def forget(memory: Memory, **what: str) -> ForgetResponse:
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(what))
    return await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**what, "confirm": preview.confirm}))


@asynccontextmanager
async def opened(data_dir: Path, neo4j: Neo4jAddress | None = None) -> AsyncIterator[Memory]:
    settings = Settings(data_dir=data_dir)
    if neo4j is not None:
        empty(neo4j)
        settings = Settings(data_dir=data_dir, **neo4j.product_settings())
    async with open_memory(settings) as memory:
        yield memory


async def test_documents_quotes_and_merges_come_back_from_a_snapshot_and_a_rebuild(tmp_path: Path) -> None:
    """What several capabilities wrote is one history: every table is compared, after each way to make it again."""
    data_dir, root = tmp_path / "data", tmp_path / "files"
    async with open_memory(Settings(data_dir=data_dir), replays=False) as memory:
        await memory.reembedding.agree()
        await memory.reembedding.agree_on_graph()
        await begin(memory, root)
        summary = "A store of rows with transactions and an optimizer."
        named = [{"name": name, "type": "Tool", "summary": summary} for name in ("Postgres DB", "The Postgres DB")]
        request = AddMemory.model_validate({"episode_body": "A store.", "entities": named})
        kept, gone = (one.uuid for one in (await memory.services[WRITING].add_memory(LOCAL, request)).entities)
        for uuid, quote, paragraph in ((kept, "It is small 🎈.", 2), (gone, "One file holds it all.", 4)):
            quoted = AddEvidence(entity_uuid=uuid, quote=quote, document="guide", paragraph=paragraph)
            await memory.services[EVIDENCE].add_evidence(LOCAL, quoted)
        for uuid, bias in ((kept, 0.25), (gone, -0.25)):
            asked = AdjustBias(entity_uuid=uuid, bias=bias, reason="As it proved.")
            await memory.services[FITNESS].adjust_bias(LOCAL, asked)
        await memory.services[REVIEWS].flag_for_review(LOCAL, FlagForReview(entity_uuid=gone, reason="One store?"))
        merge = MergeEntities(keep_uuid=kept, remove_uuid=gone, reason="One store.")
        preview = await memory.services[MERGING].merge_entities(LOCAL, merge)
        confirmed = merge.model_copy(update={"confirm": preview.confirm})
        await memory.services[MERGING].merge_entities(LOCAL, confirmed)
        while await memory.jobs.run_once():
            pass
        assert len(await sources(memory, gone)) == 2
        before = dump(data_dir)
        await memory.services[SNAPSHOTS].take(LOCAL, None, "one")
        await ingest(memory, root, guide=GUIDE.replace("One file", "A single file"))
        assert differences(before, dump(data_dir)) != []
        await memory.services[SNAPSHOTS].restore(LOCAL, None, "one", confirm=True)
        while await memory.jobs.run_once():
            pass
        assert differences(before, dump(data_dir)) == []
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(data_dir)) == []
        undo = UnmergeEntities(remove_uuid=gone, reason="Two stores.")
        await memory.services[UNMERGING].unmerge_entities(LOCAL, undo)
        assert [one.quote for one in await sources(memory, gone)] == ["One file holds it all."]


async def check(memory: Memory, root: Path) -> None:
    """What holds in both stores."""
    uuids = await begin(memory, root)
    found = await memory.services[EPISODE_SEARCH].search_episodes(LOCAL, SearchEpisodes(query="one file holds it all"))
    assert found.episodes[0].name == "guide: Guide > Storage"
    listed = await sources(memory, uuids["Tom"])
    assert [GUIDE[one.start : one.end] for one in listed] == [one.quote for one in listed]
    assert [one.paragraph for one in listed] == [2, 2, 4]
    assert await text(memory) == GUIDE
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    assert await sources(memory, uuids["Tom"]) == listed
    assert await text(memory) == GUIDE

    edited = GUIDE.replace("One file", "A single file")
    (done,) = await ingest(memory, root, guide=edited)
    assert (done.version, done.new_sections) == (2, 1)
    assert [one.superseded for one in await sources(memory, uuids["Tom"])] == [None, None, True]
    found = await memory.services[EPISODE_SEARCH].search_episodes(LOCAL, SearchEpisodes(query="One file holds it all"))
    of_page = await memory.services[EXPLORING].get_episodes(LOCAL, GetEpisodes(max_content_chars=200))
    for episodes in (found.episodes, of_page.episodes):
        marked = {one.content: one.superseded for one in episodes if one.name == "guide: Guide > Storage"}
        former = "## Storage\n\nOne file holds it all. Tom owns the file.\n"
        assert marked == {former: True, former.replace("One file", "A single file"): None}
        assert {one.superseded for one in episodes if one.name != "guide: Guide > Storage"} <= {None}

    await forget(memory, entity_uuid=uuids[HIDDEN])
    left = await sources(memory, uuids["Tom"])
    assert [one.quote for one in left] == ["It is small 🎈.", "Tom owns the file."]
    now = await text(memory)
    assert now == edited.partition("---\n# ")[2].join(["# ", ""]).replace(f"{HIDDEN} wrote the first part.", FORGOTTEN)
    old = now.replace("A single file", "One file")
    assert [old[one.start : one.end] for one in left] == [one.quote for one in left]
    assert left[0].redacted
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    assert await sources(memory, uuids["Tom"]) == left
    (again,) = await ingest(memory, root, guide=edited)
    assert (again.outcome, again.version, again.new_sections) == ("changed", 3, 1)


async def test_a_document_is_found_quoted_rebuilt_edited_and_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        await check(memory, tmp_path / "root")


async def test_on_neo4j_it_is_the_same(tmp_path: Path, neo4j_server: Neo4jAddress) -> None:
    async with opened(tmp_path / "data", neo4j_server) as memory:
        await check(memory, tmp_path / "root")


async def test_of_a_forgotten_person_no_version_index_or_file_keeps_a_word(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    async with opened(data) as memory:
        uuids = await begin(memory, root)
        await ingest(memory, root, guide=GUIDE.replace("One file", "A single file"))
        await ingest(memory, root, **{f"notes of {HIDDEN}": "# Notes\n\nNothing much.\n"})
        before = await forget(memory, entity_uuid=uuids[HIDDEN])
        assert before.removed["sentences"] == 2
        assert before.removed["metadata"] == 4, "two front matters, a name and a path"
        dumped = dump(data)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(dumped, dump(data)) == []
    assert files_with(data, HIDDEN) == []


async def test_words_that_stand_only_in_front_matter_are_forgotten(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with opened(data) as memory:
        await ingest(memory, tmp_path / "root", guide="---\nby: Quirlebaum\n---\n# Guide\n\nText.\n")
        done = await forget(memory, query="Quirlebaum")
        assert done.removed == {"metadata": 1}
        assert await text(memory) == "# Guide\n\nText.\n"
    assert files_with(data, "Quirlebaum") == []


async def test_a_deleted_section_leaves_the_others_and_is_read_again_with_the_file(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    async with opened(data) as memory:
        uuids = await begin(memory, root)
        section = (await sources(memory, uuids["Tom"]))[-1].episode_uuid
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=section))
        assert [one.paragraph for one in await sources(memory, uuids["Tom"])] == [2, 2]
        assert await text(memory) == GUIDE.partition("## Storage")[0]
        dumped = dump(data)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(dumped, dump(data)) == []
        (again,) = await ingest(memory, root, guide=GUIDE)
        assert (again.outcome, again.new_sections) == ("changed", 1)
        assert await text(memory) == GUIDE


async def test_a_cleared_group_keeps_no_document(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with opened(data) as memory:
        await begin(memory, tmp_path / "root")
        preview = await memory.services[CLEARING].clear_graph(LOCAL, ClearGraph(group_ids=["default"]))
        asked = ClearGraph(group_ids=["default"], confirm=preview.confirm)
        await memory.services[CLEARING].clear_graph(LOCAL, asked)
        assert await memory.context.graph.documents.present("default", "guide") is None
        assert dump(data).of("instance") == []
    assert files_with(data, HIDDEN) == []


async def test_the_words_behind_a_fact_show_both_kinds_of_sources(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        await begin(memory, tmp_path / "root")
        graph = memory.context.graph
        fact = {"source": "Tom", "relation": "OWNS", "target": "the file", "quote": "Tom owns the file."}
        request = AddMemory.model_validate({"episode_body": "Tom owns the file.", "facts": [fact]})
        stored = await memory.services[WRITING].add_memory(LOCAL, request)
        document = await graph.documents.present("default", "guide")
        assert document is not None
        section = (await graph.documents.sections(document.uuid, "default", 9))[-1].episode_uuid
        (held,) = await graph.records.get_facts([stored.facts[0].uuid], ["default"])
        # As a model that reads the section does.
        update = an_update(held, episodes=(*held.episodes, section))
        await graph.writer.apply(an_intent(group_id="default", fact_updates=(update,)), {})
        answer = await memory.services[WORDS].get_fact_sources(LOCAL, GetFactSources(fact_uuid=held.uuid))
        note, *_ = [one for one in answer.sources if one.document is None]
        part, *_ = [one for one in answer.sources if one.document is not None]
        assert note.text == "Tom owns the file."
        assert part.document is not None
        assert (part.document.document, part.document.version, part.document.paragraph) == ("guide", 1, 4)
        assert GUIDE[part.document.start : part.document.end] == part.text
