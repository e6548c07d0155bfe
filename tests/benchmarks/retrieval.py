"""Which entries of a journal a question finds: search_episodes against full text alone and rank fusion."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import cycle, groupby
from operator import itemgetter
from statistics import fmean
from time import perf_counter
from typing import Any

from mcp.client import Client
from tests.acceptance.decisions import TOLD
from tests.benchmarks.measuring import Figure, Side, Target, in_turn, ms
from tests.benchmarks.texts import asked_of_the_conversation, conversation, journal
from tests.benchmarks.world import call, client_of, memory
from tests.questions.question_set import Question, Split, fact_questions, journal_facts, questions

from graphiti_pkm.bootstrap import Memory, configured_embedder
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.reading.candidates import POOL
from graphiti_pkm.core.reading.ranking import ranked, word_scores

TOP = 10
IN_FLIGHT = 8
_FUSED_BY = 60
"""The usual constant of reciprocal rank fusion."""
_POINTS = 10
_WHOLE = 1_000
"""What ours stands against ranks the whole journal: a pool would only make it worse."""
_POOLED = "rank fusion of two pools"
_TIMED = 20
_AIMS = {"search_episodes": 2.5, "search_nodes": 2.0, "search_memory_facts": 2.0}
_LINKING_SECONDS = 120

NAMES: dict[str, list[str]] = {
    "Lord Sandwich": ["Sandwich"],
    "Mr. Coventry": ["Coventry"],
    "Sir W. Pen": ["Sir William Pen", "Sir W. Penn"],
    "Lady Castlemaine": ["Castlemaine"],
    "Duke of York": [],
    "Mr. Creed": ["Creed"],
    "Sir G. Carteret": ["Carteret"],
    "General Monk": ["Monk"],
    "Whitehall": ["White Hall"],
    "Westminster Hall": [],
}

Search = Callable[[Question], Awaitable[Sequence[str]]]
"""Days of the entries, or names of the messages, found for a question, best first."""


@dataclass(frozen=True)
class Marks:
    """Of a search over a set of questions, in per cent."""

    recall: float
    reciprocal_rank: float


async def figures() -> list[Figure]:
    """On both halves of the questions; the weights were chosen on the first half alone."""
    async with memory() as opened, client_of(opened) as client:
        await tell(client)
        found = [each for split in ("tune", "held") for each in await _quality(opened, client, split)]
        found.append(await _speed(opened, client))
        await tell_facts(client)
        found += await against_embedding(opened, client, _AIMS, "over the journal")
    return [*found, *await _of_a_conversation(), *await _of_facts()]


async def tell(client: Client) -> None:
    """The journal, then names of persons and places in one note."""
    await _tell_each(client, ({"episode_body": one.text, "reference_time": one.date} for one in journal()))
    await call(
        client,
        "add_memory",
        episode_body="Who and where they are in the diary.",
        reference_time="1670-01-01",
        entities=[{"name": name, "aliases": aliases} for name, aliases in NAMES.items()],
    )
    deadline = perf_counter() + _LINKING_SECONDS
    while any((await call(client, "get_status"))["jobs"].values()):
        if perf_counter() > deadline:
            raise TimeoutError("the names are still being linked")
        await asyncio.sleep(0.1)


async def tell_conversation(client: Client) -> None:
    """Each turn as a message of its own, named by its id."""
    turns = ({"name": one.id, "episode_body": one.text, "reference_time": one.at} for one in conversation())
    await _tell_each(client, ({**turn, "source": "message"} for turn in turns))


async def _tell_each(client: Client, notes: Iterable[dict[str, Any]]) -> None:
    waiting = iter(notes)

    async def worker() -> None:
        for note in waiting:
            await call(client, "add_memory", **note)

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


def searches(opened: Memory, client: Client, *, by_name: bool = False) -> dict[str, Search]:
    """Ours through MCP, and both that it stands against: same words, same vectors, no pool."""
    graph, embedder = opened.context.graph, opened.context.embedder

    async def ours(asked: Question) -> Sequence[str]:
        given = {"reference_time": asked.reference_time} if asked.reference_time else {}
        page = await call(client, "search_episodes", query=asked.question, max_episodes=TOP, **given)
        return [episode["name"] if by_name else episode["valid_at"][:10] for episode in page["episodes"]]

    def wanted() -> EpisodeFilter:
        return EpisodeFilter(group_ids=("default",), recorded_until=datetime.now(UTC))

    async def worded(asked: Question, limit: int) -> list[str]:
        terms = search_terms(asked.question)
        hits = list(await graph.search.search_episodes(terms, wanted(), limit))
        texts = {one.uuid: f"{one.name} {one.content}" for one in await graph.records.get_episodes(hits, ("default",))}
        return [uuid for uuid, _ in ranked(word_scores(terms, texts))]

    async def full_text(asked: Question) -> Sequence[str]:
        return await keys((await worded(asked, _WHOLE))[:TOP])

    async def rank_fusion(asked: Question, limit: int = _WHOLE) -> Sequence[str]:
        (vector,) = await embedder.embed([asked.question])
        scores: dict[str, float] = {}
        for ranking in (await worded(asked, limit), list(await graph.search.nearest_episodes(vector, wanted(), limit))):
            for place, uuid in enumerate(ranking, 1):
                scores[uuid] = scores.get(uuid, 0.0) + 1 / (_FUSED_BY + place)
        return await keys([uuid for uuid, _ in ranked(scores)[:TOP]])

    async def keys(uuids: Sequence[str]) -> list[str]:
        found = await graph.records.get_episodes(uuids, ("default",))
        return [one.name if by_name else one.valid_at.date().isoformat() for one in found]

    async def in_pools(asked: Question) -> Sequence[str]:
        return await rank_fusion(asked, POOL)

    return {"search_episodes": ours, "full text": full_text, "rank fusion": rank_fusion, _POOLED: in_pools}


async def marks(search: Search, asked: Sequence[Question]) -> Marks:
    """Recall counts how many of the gold entries are among the first ten; the rank is that of the first one."""
    recalls, ranks = [], []
    for each in asked:
        found = list(await search(each))[:TOP]
        gold = set(each.gold)
        recalls.append(len(gold & set(found)) / min(len(gold), TOP))
        ranks.append(next((1 / place for place, day in enumerate(found, 1) if day in gold), 0.0))
    return Marks(100 * fmean(recalls), 100 * fmean(ranks))


async def _quality(opened: Memory, client: Client, split: Split) -> list[Figure]:
    asked = questions(split)
    every = searches(opened, client)
    found = {name: await marks(search, asked) for name, search in every.items() if name != _POOLED}
    ours = found.pop("search_episodes")
    name = {"tune": "the questions tuned with", "held": "the questions kept aside"}[split]
    lines = []
    for what, mark, aim in (
        (f"recall@{TOP}", "recall", Target(">=", _POINTS)),
        (f"MRR@{TOP}", "reciprocal_rank", None),
    ):
        values = {other: getattr(each, mark) for other, each in found.items()}
        lines.append(
            Figure(
                f"search_episodes through MCP, {what} on {len(asked)} of {name}; the ratio is points over the better",
                f"{getattr(ours, mark):.1f}",
                ", ".join(f"{other} {value:.1f}" for other, value in values.items()),
                getattr(ours, mark) - max(values.values()),
                aim if split == "held" else None,
            )
        )
    return lines


async def _of_a_conversation() -> list[Figure]:
    """Of 11,263 messages; weights were chosen on the part ``dev`` alone."""
    async with memory() as opened, client_of(opened) as client:
        await tell_conversation(client)
        every = searches(opened, client, by_name=True)
        figures = []
        for part, aim in (("dev", None), ("test", Target(">=", 30))):
            asked = [
                Question(id=part, split="held", kind=part, question=text, reference_time=None, gold=turns)
                for text, turns in asked_of_the_conversation(part)
            ]
            if not asked:
                continue
            found = {name: (await marks(every[name], asked)).recall for name in ("search_episodes", "full text")}
            figures.append(
                Figure(
                    f"search_episodes through MCP, recall@{TOP} on {len(asked)} questions to a conversation ({part})",
                    f"{found['search_episodes']:.1f}",
                    f"full text {found['full text']:.1f}",
                    found["search_episodes"],
                    aim,
                )
            )
        return figures


async def _of_facts() -> list[Figure]:
    """Over the facts of the journal and of the decisions, told by hand: no model reads anything."""
    async with memory() as opened, client_of(opened) as client:
        await tell_facts(client)
        asked = fact_questions()
        found = {one.id: await _facts_found(client, one.question) for one in asked}
        figures = []
        for kind in (None, "words", "paraphrase"):
            of_kind = [one for one in asked if kind in (None, one.kind)]
            ranks = [
                next((1 / place for place, fact in enumerate(found[one.id], 1) if fact in one.gold), 0.0)
                for one in of_kind
            ]
            recall = 100 * fmean(len(one.gold.intersection(found[one.id])) / len(one.gold) for one in of_kind)
            which = {None: "", "words": ", with words of the fact", "paraphrase": ", in other words"}[kind]
            figures.append(
                Figure(
                    f"search_memory_facts through MCP, recall@{TOP} on {len(of_kind)} questions over facts{which}; "
                    f"beside it MRR@{TOP}",
                    f"{recall:.1f}",
                    f"{100 * fmean(ranks):.1f}",
                    recall,
                )
            )
        return figures


async def tell_facts(client: Client) -> None:
    """Facts of the journal, and of the decisions as the acceptance tests tell them, without their quotes."""
    for day, each in groupby(journal_facts(), key=itemgetter("date")):
        await _tell_stated(client, day, [{key: fact[key] for key in fact if key != "date"} for fact in each])
    for number, told in TOLD.items():
        facts = [{key: fact[key] for key in fact if key != "quote"} for fact in told["facts"]]
        recorded = date(2017, 1, 1) + timedelta(days=int(number))
        await _tell_stated(client, recorded.isoformat(), facts, entities=told["entities"])


async def _tell_stated(client: Client, day: str, facts: Sequence[dict[str, Any]], **more: Any) -> None:
    body = " ".join(f"{fact['fact']}." for fact in facts)
    await call(client, "add_memory", episode_body=body, reference_time=day, facts=facts, **more)


async def _facts_found(client: Client, question: str) -> list[tuple[str, str, str]]:
    facts = (await call(client, "search_memory_facts", query=question, max_facts=TOP))["facts"]
    return [(fact["source_node_name"], fact["name"], fact.get("value") or fact["target_node_name"]) for fact in facts]


async def against_embedding(
    opened: Memory, client: Client, aims: Mapping[str, float], where: str, rounds: int = _TIMED
) -> list[Figure]:
    """What searches take beside the embedding of their question, which no cache has; the embedder is one of its own."""
    embedder = configured_embedder(opened.context.settings)
    asked = (f"{each.question} ({number})" for number, each in enumerate(cycle(questions("tune"))))

    def side(tool: str) -> Side:
        async def ask() -> None:
            assert (await call(client, tool, query=next(asked)))["returned"]

        return ask

    async def embed() -> None:
        await embedder.embed([next(asked)])

    taken = await in_turn({"embedding": embed, **{tool: side(tool) for tool in aims}}, rounds)
    await embedder.close()
    base = taken["embedding"].p50
    return [
        Figure(
            f"{tool} through MCP, p50 {where}, against embedding the question",
            ms(taken[tool].p50),
            ms(base),
            taken[tool].p50 / base,
            Target("<=", aim),
        )
        for tool, aim in aims.items()
    ]


async def _speed(opened: Memory, client: Client) -> Figure:
    """Against what every fused search does: one embedding, both queries, BM25 of 200 episodes, a page of texts."""
    every = searches(opened, client)
    waiting = {name: cycle(questions("tune")) for name in ("search_episodes", _POOLED)}

    def side(name: str) -> Side:
        async def ask() -> None:
            await every[name](next(waiting[name]))

        return ask

    taken = await in_turn({name: side(name) for name in waiting}, _TIMED)
    ours, other = taken["search_episodes"].p50, taken[_POOLED].p50
    return Figure(
        f"search_episodes through MCP, p50 over the journal, against {_POOLED} of {POOL} without MCP",
        ms(ours),
        ms(other),
        ours / other,
        Target("<=", 2),
    )
