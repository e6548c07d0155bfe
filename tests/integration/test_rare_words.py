"""Full text that looks for common words only in texts with a rare one finds what it finds without that."""

import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_fact, a_write, an_entity

from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.storage.graph.sqlite import words
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY

FACTS = 600
SEARCHES = 60
VOCABULARY = [f"word{n}" for n in range(12)]
_SHARES = [0.5**n for n in range(12)]
"""How many of the facts have each word: a half, a quarter and so on."""


@pytest.mark.parametrize("seed", [1, 2])
async def test_texts_with_rare_words_come_in_the_same_order_as_when_all_are_looked_at(
    sqlite_graph: SqliteGraph, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)  # noqa: S311 no secret
    facts = []
    for group in (GROUP, OTHER_GROUP):
        ends = [an_entity(name, group_id=group) for name in ("Sarah", "Tom")]
        await sqlite_graph.writer.apply(a_write(*ends, group_id=group), {})
        for _ in range(FACTS):
            text = " ".join(word for word, share in zip(VOCABULARY, _SHARES, strict=True) if draw.random() < share)
            facts.append(a_fact(*ends, draw.choice(["KNOWS", "LIKES"]), text=text or "none"))
    for group in (GROUP, OTHER_GROUP):
        await sqlite_graph.writer.apply(a_write(*(one for one in facts if one.group_id == group), group_id=group), {})
    asked = []
    for _ in range(SEARCHES):
        terms = draw.sample(VOCABULARY, draw.randint(1, 5))
        groups = draw.choice([(GROUP,), (OTHER_GROUP,), (GROUP, OTHER_GROUP)])
        relations = draw.choice([(), ("KNOWS",)])
        wanted = FactFilter(group_ids=groups, now=RECORDED, relations=relations)
        asked.append((terms, wanted, draw.choice([1, 5, 20, 100])))
    narrowed: list[int] = []
    outweighing = words._outweighing

    def counted(of: Sequence[words._Word], limit: int) -> int:
        narrowed.append(outweighing(of, limit))
        return narrowed[-1]

    monkeypatch.setattr(words, "_outweighing", counted)
    found = [list((await sqlite_graph.search.search_facts(*one)).items()) for one in asked]
    assert sum(map(bool, narrowed)) > SEARCHES / 4
    monkeypatch.setattr(words, "_outweighing", lambda *_: 0)
    assert found == [list((await sqlite_graph.search.search_facts(*one)).items()) for one in asked]
    assert sum(map(bool, found)) > SEARCHES / 2


async def test_hits_that_are_equally_good_are_looked_up_without_reading_their_list_for_each(
    sqlite_graph: SqliteGraph, tmp_path: Path
) -> None:
    """Their list is as long as they are many, so reading it for each would take the square of that."""
    ends = [an_entity(name) for name in ("Sarah", "Tom")]
    facts = [a_fact(*ends, "KNOWS", text="works") for _ in range(FACTS)]
    await sqlite_graph.writer.apply(a_write(*ends, *facts), {})
    read: list[int] = []

    def extracted(text: str, path: str) -> str | int | float:
        read.append(len(text))
        part = json.loads(text)[int(path[2:-1])]
        return json.dumps(part) if isinstance(part, list) else part

    with closing(sqlite3.connect(tmp_path / "data" / MEMORY)) as db:
        db.row_factory = sqlite3.Row
        db.create_function("json_extract", 2, extracted)
        found = words.search_facts(db, ["works"], FactFilter(group_ids=(GROUP,), now=RECORDED), 5)
    assert len(found) == 5
    assert 0 < sum(read) < FACTS * 50
