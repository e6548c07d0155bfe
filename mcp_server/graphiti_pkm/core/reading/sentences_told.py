"""Reads the facts that ``replaces`` names by their sentences."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.facts.sentences import SHORTEST_SENTENCE, sentence_key
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.ports.graph import Graph

_MOST = 100
"""Sentences of one call that are looked for."""
_EACH = 50
"""Facts with most of the words of a sentence; one that says just this has all of them."""


async def facts_told_so(
    graph: Graph, group_id: str, parsed: ParsedRequest, uuid_of: Callable[[str], str | None], now: datetime
) -> list[Fact]:
    """Facts with the sentences that a call has in ``replaces``, and facts of its sources that say nearly that.

    ``uuid_of``: the entity that has a name.
    """
    sources = {uuid_of(fact.source) for fact in parsed.facts if fact.replaces}
    texts = dict.fromkeys(
        text
        for fact in parsed.facts
        for text in fact.replaces
        if len(text.split()) >= SHORTEST_SENTENCE and uuid_of(text) is None
    )
    wanted = {text: terms for text in list(texts)[:_MOST] if (terms := search_terms(text))}
    anywhere = FactFilter(group_ids=(group_id,), now=now)
    found = await asyncio.gather(
        *(graph.search.search_facts(terms, anywhere, _EACH) for terms in wanted.values()),
    )
    uuids = list(dict.fromkeys(uuid for hits in found for uuid in hits))
    facts = await graph.records.get_facts(uuids, [group_id]) if uuids else []
    said = {sentence_key(text) for text in wanted}
    return [fact for fact in facts if fact.source_uuid in sources or sentence_key(fact.text) in said]
