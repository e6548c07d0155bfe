"""Texts of every kind: kept word for word and found, or refused; never changed, never dropped."""

from typing import Any

import pytest
from tests.e2e.support import Served, call, over_http
from tests.protocol.support import answered, error_of

TEXTS = {
    "right-to-left": ("פגשתי את דנה כהן בתל אביב ביום שלישי.", "דנה כהן", "תל אביב"),
    "right-to-left marks": ("قابلت \u202bليلى\u202c في القاهرة.", "ليلى", "القاهرة"),
    "emoji": ("Ran 5 km 🏃🏽‍♀️ with Zoë 👩‍👩‍👧 and felt 💯.", "Zoë", "ran with zoe"),
    "Chinese": ("今天和王小明在北京讨论了新的计划。", "王小明", "北京"),
    "Japanese": ("昨日、田中さんと東京で会議をした。", "田中", "東京"),
    "Korean": ("김민수와 서울에서 만났다.", "김민수", "서울"),
    "decomposed accents": ("Rene\u0301 called from Go\u0308teborg.", "Ren\u00e9", "göteborg"),
    "astral letters": ("𝒜lpha met 𐐷 in the 𝟙st week.", "𐐷𐐷", "week"),
}
SYMBOLS = ["((", "🏃🏽‍♀️", "!!!"]
QUERIES = [
    *SYMBOLS,
    "the of and",
    "will",
    'a OR "',
    "C++ @text:(x) -y",
    "a/b\\c*",
    "~fuzzy~ %%pct%% {tag} $param",
    "'); MATCH (n) DETACH DELETE n //",
    "word " * 400,  # as long as a query may be
]


@pytest.mark.parametrize("kind", TEXTS)
async def test_a_text_comes_back_as_it_went_in_and_is_found(kind: str, server: Served) -> None:
    body, name, query = TEXTS[kind]
    group = kind.replace(" ", "-")
    async with over_http(server.endpoint) as client:
        stored = await call(client, "add_memory", group_id=group, episode_body=body, entities=[{"name": name}])
        found = await call(client, "search_episodes", query=query, group_ids=group)
        assert [episode["uuid"] for episode in found["episodes"]] == [stored["episode_uuid"]]
        (episode,) = (await call(client, "get_episodes", group_ids=group))["episodes"]
        assert episode["content"] == body
        (node,) = (await call(client, "search_nodes", names=[name], group_ids=group))["nodes"]
        assert (await call(client, "get_entity_timeline", entity_uuid=node["uuid"]))["total"] == 1


async def test_a_query_of_stop_words_or_syntax_is_only_words(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(
            client,
            "add_memory",
            group_id="queries",
            episode_body="Will went to the end of the road and back.",
            facts=[{"source": "Will", "relation": "WENT_TO", "target": "the road", "kind": "event"}],
        )
        for query in QUERIES:
            for tool in ("search_episodes", "search_memory_facts", "search_nodes"):
                result = await client.call_tool(tool, {"query": query, "group_ids": "queries"})
                if query in SYMBOLS:
                    assert "no letter or digit" in error_of(result)
                else:
                    assert answered(result)["returned"] <= 2
        assert (await call(client, "get_episodes", group_ids="queries"))["total"] == 1


async def test_stop_words_find_the_text_that_has_them(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_memory", group_id="stop", episode_body="To be or not to be.")
        await call(client, "add_memory", group_id="stop", episode_body="Bought seven apples.")
        page = await call(client, "search_episodes", query="to be or not", group_ids="stop")
        assert page["episodes"][0]["content"] == "To be or not to be."


async def test_a_megabyte_is_kept_and_found_by_its_words_at_once(server: Served) -> None:
    lines = [f"Line {number} of the long report is as dull as the one before." for number in range(18_500)]
    lines[18_000] = "Then a quagga crossed the courtyard."
    body = "\n".join(lines)
    assert len(body) > 2**20
    async with over_http(server.endpoint) as client:
        stored = await call(client, "add_memory", group_id="long", episode_body=body)
        page = await call(client, "search_episodes", query="quagga", group_ids="long")
        assert page["episodes"][0]["uuid"] == stored["episode_uuid"]
        assert page["episodes"][0]["match"] == lines[18_000]
        read, offset = "", 0
        while len(read) < len(body):
            (part,) = (
                await call(
                    client,
                    "get_episodes",
                    episode_uuids=[stored["episode_uuid"]],
                    content_offset=offset,
                    max_content_chars=20_000,
                )
            )["episodes"]
            read += part["content"]
            offset = len(read)
        assert read == body


@pytest.mark.parametrize("field", ["episode_body", "name", "source_description"])
async def test_a_nul_is_refused_and_nothing_is_stored(field: str, server: Served) -> None:
    async with over_http(server.endpoint) as client:
        given: dict[str, Any] = {"group_id": "nul", "episode_body": "x", field: "be\0fore"}
        message = error_of(await client.call_tool("add_memory", given))
        assert "NUL" in message
        assert "Nothing was stored" in message
        nested = {"episode_body": "x", "group_id": "nul", "entities": [{"name": "A\0B"}]}
        assert "NUL" in error_of(await client.call_tool("add_memory", nested))
        assert (await call(client, "get_episodes", group_ids="nul"))["total"] == 0
