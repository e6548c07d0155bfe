"""Full text that looks for common words only in texts with a rare one finds what it finds without that."""

import random
from collections.abc import Sequence

import pytest
from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_fact, a_write, an_entity

from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.storage.graph.sqlite import words
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

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
