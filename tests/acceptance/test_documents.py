"""The decisions of a real team as documents: a quote stands in the file where the answer says, after edits too."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.pandoc import folded, paragraphs
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import call, over_stdio, run

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.capabilities.curation.requests import FlagSimilarEntities
from graphiti_pkm.capabilities.curation.tools import SIMILAR
from graphiti_pkm.capabilities.sources.ingesting import Given
from graphiti_pkm.capabilities.sources.layout import divide
from graphiti_pkm.capabilities.sources.tools import INGESTING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(600)

STATEMENTS: dict[str, tuple[int, int, str]] = {
    "0001-record-architecture-decisions": (8, 0, "We will use Architecture Decision Records"),
    "0002-hosting-platforms": (9, 0, "We are using Amazon Web Services as our hosting provider of choice."),
    "0006-puppet-architecture": (12, 0, "Use a Puppetmaster to not diverge from current architecture"),
    "0007-puppet-cert-management": (12, 0, "At a later date we will re-visit this approach"),
    "0008-postgres-on-puppetmaster": (10, 0, "The Puppetmaster will continue to use a local instance of PostgreSQL."),
    "0016-internal-dns-zones": (9, 1, "This will be used by our internal services."),
    "0018-use-rds-instead-of-provisioned-ec2-databases": (15, 1, "This will be able to connect and configure each RDS"),
    "0022-remove-the-elasticsearch-proxy": (10, 1, "accept the ELBs as its replacement"),
    "0023-use-separate-data-repository": (9, 0, "all sensitive data within it will be encrypted using [sops]"),
    "0028-combine-api-mongo-cluster-into-mongo-cluster": (14, 0, "We are going to remove the api-mongo cluster"),
}
"""Paragraph and sentence, and words of it."""
EDITED = 5


def kept(root: Path) -> list[Path]:
    """Copies of the records, which may be edited."""
    found = sorted(shared_data("architecture-decisions").glob("[0-9]*.md"))
    root.mkdir()
    return [Path(shutil.copy(path, root / path.name)) for path in found]


async def ingest(files: list[Path], root: Path, data: Path) -> dict[str, Any]:
    """By name of the document: what came of it."""
    given = ("ingest", *map(str, files), "--json")
    done = await asyncio.to_thread(run, *given, seconds=200, data_dir=data, document_root=root)
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["documents"]}


async def test_statements_of_decisions_are_shown_where_they_stand_in_the_old_file_and_in_the_edited_one(
    tmp_path: Path,
) -> None:
    root, data = tmp_path / "root", tmp_path / "data"
    files = kept(root)
    texts = {path.stem: path.read_bytes().decode() for path in files}
    first = await ingest(files, root, data)
    assert {one["outcome"] for one in first.values()} == {"new"}
    assert sum(one["sections"] for one in first.values()) > 4 * len(files)
    async with over_stdio(data, toolsets="memory,curation") as client:
        told = await call(client, "add_memory", episode_body="We record decisions.", entities=[{"name": "Records"}])
        uuid = told["entities"][0]["uuid"]
        for document, (paragraph, sentence, quote) in STATEMENTS.items():
            asked = {"entity_uuid": uuid, "document": document, "paragraph": paragraph, "quote": quote}
            added = await call(client, "add_evidence", **asked)
            assert (added["sentence"], added["source_id"]) == (sentence, f"{document}_p{paragraph}")
        shown = (await call(client, "get_entity_sources", entity_uuid=uuid))["sources"]
        assert {one["document"] for one in shown} == STATEMENTS.keys()
        for one in shown:
            assert texts[one["document"]][one["start"] : one["end"]] == one["quote"]
            context = texts[one["document"]][one["context_start"] : one["context_end"]]
            assert context == one["context"]
            assert one["quote"] in context
            found = paragraphs(texts[one["document"]])[one["paragraph"] - 1]
            assert folded(one["quote"]) in found, "pandoc has the words in its block of this number"

        for path in files[:EDITED]:
            edited = texts[path.stem].replace("We will use Architecture", "We would use Architecture")
            path.write_bytes(("# New words\r\n\r\nBefore all.\r\n\r\n" + edited).encode())
        moved = root / "moved"
        moved.mkdir()
        files[EDITED] = files[EDITED].rename(moved / files[EDITED].name)
        second = await ingest(files, root, data)
        outcomes = [second[path.stem]["outcome"] for path in files]
        assert outcomes == [*["changed"] * EDITED, "moved", *["unchanged"] * (len(files) - EDITED - 1)]
        assert {second[path.stem]["new_sections"] for path in files[:EDITED]} <= {1, 2}
        later = {
            one["document"]: one for one in (await call(client, "get_entity_sources", entity_uuid=uuid))["sources"]
        }
        for before in shown:
            now = later[before["document"]]
            assert (now["quote"], now["start"], now["version"]) == (before["quote"], before["start"], 1)
            assert bool(now.get("superseded")) == ("We will use Architecture" in now["quote"])
        assert later["0006-puppet-architecture"]["path"] == "moved/0006-puppet-architecture.md"


async def test_which_decisions_were_superseded_when_by_what_and_where_that_is_told(tmp_path: Path) -> None:
    root, data = tmp_path / "root", tmp_path / "data"
    files = kept(root)
    texts = {path.stem: path.read_bytes().decode() for path in files}
    await ingest(files, root, data)
    async with over_stdio(data, toolsets="memory,curation") as client:
        listed = await call(client, "search_memory_facts", edge_types=["SUPERSEDES", "SUPERSEDES_PART_OF"])
        told = {one["fact"]: one for one in listed["facts"]}
        assert {name: one["valid_at"][:10] for name, one in told.items()} == {
            "ADR 15 supersedes ADR 4": "2018-03-06",
            "ADR 33 supersedes a part of ADR 3": "2018-09-26",
        }
        where = {}
        for one in told.values():
            source = (await call(client, "get_fact_sources", fact_uuid=one["uuid"]))["sources"][0]
            place = source["document"]
            assert texts[place["document"]][place["start"] : place["end"]] == source["text"]
            where[place["document"], place["paragraph"]] = source["text"]
        assert where == {
            (
                "0004-dns-definitions-for-hosts-and-services",
                4,
            ): "Superseded by [DNS Infrastructure](0015-dns-infrastructure.md)",
            ("0033-ip-ranges", 6): "This ADR in part supersedes [0003](0003-aws-networking-outline.md)",
        }
        statuses = await call(client, "search_memory_facts", edge_types=["HAS_STATUS"], status="current", max_facts=50)
        assert statuses["total"] == len(files), "one a record"
        found = await call(client, "search_nodes", status="superseded", entity_types=["Decision"], query="")
        assert [one["name"] for one in found["nodes"]] == ["ADR 4"]

        dns = next(path for path in files if path.stem.startswith("0015"))
        dns.write_text(texts[dns.stem].replace("\nAccepted\n", "\nSuperseded by ADR-0040\n"), encoding="utf-8")
        hosting = next(path for path in files if path.stem.startswith("0002"))
        edited = texts[hosting.stem].replace("\nAccepted\n", "\nDeprecated\n")
        assert edited != texts[hosting.stem]
        hosting.write_text(edited, encoding="utf-8")
        await ingest(files, root, data)
        now = await call(client, "search_memory_facts", edge_types=["HAS_STATUS"], status="current", max_facts=50)
        values = {one["source_node_name"]: one["value"] for one in now["facts"]}
        assert (values["ADR 15"], values["ADR 2"], values["ADR 4"]) == ("superseded", "deprecated", "superseded")
        assert now["total"] == len(files)
        before = await call(client, "search_memory_facts", edge_types=["HAS_STATUS"], as_of="2019-01-01", max_facts=50)
        values = {one["source_node_name"]: one["value"] for one in before["facts"] if one["status"] == "current"}
        assert (values["ADR 15"], values["ADR 2"]) == ("accepted", "accepted")


REWRITTEN = {
    "0002": "Where we host",
    "0004": "How hosts and services are called in DNS",
    "0008": "The database of the Puppetmaster",
    "0010": "How the directories of Terraform are laid out",
    "0012": "Rules of security groups as resources of their own",
    "0018": "Databases of the provider instead of our machines",
    "0022": "Elasticsearch without a proxy",
    "0025": "Redis of the provider",
    "0028": "One cluster of Mongo",
    "0031": "Names of rules in security groups",
}
"""Ten decisions under other titles; two of them had the same title before."""


async def test_a_near_duplicate_of_each_of_ten_decisions_is_flagged_and_no_other(tmp_path: Path) -> None:
    """The same decision again, with other words in the title and small edits, under a number of its own.

    By name and summary the most similar of the 703 pairs of different decisions have a cosine of 0.823 (two of one
    title), the ten copies at least 0.904 with their originals; the threshold of 0.85 lies between.
    """
    root = tmp_path / "root"
    files = kept(root)
    expected = set()
    for place, (number, title) in enumerate(REWRITTEN.items()):
        (original,) = (path for path in files if path.name.startswith(number))
        text = original.read_text(encoding="utf-8").replace("GOV.UK", "Gov.uk").replace(" initial ", " first ")
        head, rest = text.split("\n", 1)
        copy = root / f"{60 + place:04d}-copy.md"
        copy.write_text(f"# {60 + place}. {title}\n{rest.replace('We will', 'We are going to', 1)}", encoding="utf-8")
        assert head not in copy.read_text(encoding="utf-8")
        files.append(copy)
        expected.add(frozenset((f"ADR {int(number)}", f"ADR {60 + place}")))
    async with open_memory(Settings(data_dir=tmp_path / "data")) as memory:
        given = [Given(path, path.stem) for path in files]
        done = [one async for one in memory.services[INGESTING].ingest(LOCAL, given, root, None)]
        assert {one.outcome for one in done} == {"new"}
        found, cursor, more = dict[frozenset[str], float](), None, True
        while more:
            page = await memory.services[SIMILAR].flag_similar_entities(LOCAL, FlagSimilarEntities(cursor=cursor))
            found |= {frozenset((one.one.name, one.other.name)): one.similarity for one in page.pairs}
            cursor, more = page.next_cursor, page.next_cursor is not None
    assert found.keys() == expected, found


def test_every_paragraph_of_the_decisions_has_the_number_that_pandoc_gives_it() -> None:
    for path in sorted(shared_data("architecture-decisions").glob("[0-9]*.md")):
        text = path.read_bytes().decode()
        ours = dict[int, str]()
        for part in divide(text, "markdown").parts:
            for span in part.spans:
                number = part.paragraph + span.paragraph
                ours[number] = ours.get(number, "") + text[part.start + span.start : part.start + span.end] + "\n"
        theirs = paragraphs(text)
        assert list(ours) == list(range(1, len(theirs) + 1)), path.name
        for number, words in enumerate(theirs, 1):
            own = re.sub(r"^\s*\d+[.)]\s", "", ours[number], flags=re.MULTILINE)
            assert words == folded(own), (path.name, number)
