"""What no part of the source stores, and where no query stands."""

import re
from pathlib import Path

import pytest

import graphiti_pkm

PACKAGE = Path(graphiti_pkm.__file__).parent
CYPHER = re.compile(r"\bMATCH \(|\bMERGE \(|\bUNWIND \$|\bDETACH DELETE\b")


def sources(*folders: str) -> dict[str, str]:
    found = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    return {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in found}


@pytest.mark.parametrize("relation", ["EXTRACTED_ENTITY", "MENTIONED_IN", "FOLLOWED_BY", "relevance_scores"])
def test_a_mention_is_stored_once_and_neither_a_chain_of_entries_nor_a_score(relation: str) -> None:
    texts = sources(".")
    assert "storage/graph/queries/projects.py" in texts
    assert [path for path, text in texts.items() if relation in text] == []


def test_server_models_and_embedding_have_modules_of_their_own_and_no_cypher() -> None:
    assert CYPHER.search(sources("storage")["storage/graph/queries/projects.py"])
    texts = sources("server", "core", "embedding", "toolkit", "capabilities")
    assert {path.partition("/")[0] for path in texts} == {"server", "core", "embedding", "toolkit", "capabilities"}
    assert [path for path, text in texts.items() if CYPHER.search(text)] == []
