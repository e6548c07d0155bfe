"""The decisions of a real team as documents: a quote stands in the file where the answer says, after edits too."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import call, over_stdio, run

pytestmark = pytest.mark.timeout(300)

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
"""Paragraph and sentence, as pandoc counts the blocks of these files too, and words of it."""
EDITED = 5


def kept(root: Path) -> list[Path]:
    """Copies of the records, which may be edited."""
    found = sorted(shared_data("architecture-decisions").glob("[0-9]*.md"))
    root.mkdir()
    return [Path(shutil.copy(path, root / path.name)) for path in found]


async def ingest(files: list[Path], root: Path, data: Path) -> dict[str, Any]:
    """By name of the document: what came of it."""
    given = ("ingest", *map(str, files), "--json")
    done = await asyncio.to_thread(run, *given, data_dir=data, document_root=root)
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
