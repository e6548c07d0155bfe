"""The calls of a recording, in their order. All dates are given, so that nothing depends on the day of the run."""

import json
from collections.abc import Mapping
from typing import Any

from tests.recording.odd import UNKNOWN, odd_calls
from tests.recording.server import AccessGate, Recording, free_port, over_http, over_stdio, serving

COMMANDS = (
    "serve", "demo", "doctor", "status", "backup", "restore", "rebuild", "ingest", "queue", "tokens", "reextract",
    "reembed", "fetch-model",
)  # fmt: skip


def note(day: str, body: str, *facts: tuple[Any, ...], **more: Any) -> dict[str, Any]:
    """Arguments of add_memory; a fact is source, relation, target, and what else it has."""
    made = [
        {"source": fact[0], "relation": fact[1], **({"target": fact[2]} if fact[2] else {}), **(fact[3:] or ({},))[0]}
        for fact in facts
    ]
    return {"reference_time": f"{day}T10:00:00Z", "episode_body": body, "facts": made, **more}


ANNA = {"name": "Anna Schmidt", "type": "Person", "aliases": ["Anna"], "summary": "An engineer."}
NOTES = [
    note("2024-01-08", "Anna Schmidt works at Acme Corp since 2023. She knows Ben Huber.",
         ("Anna Schmidt", "WORKS_AT", "Acme Corp", {"valid_at": "2023", "quote": "works at Acme Corp since 2023"}),
         ("Anna Schmidt", "KNOWS", "Ben Huber"), name="First note", entities=[ANNA, {"name": "Acme Corp"}]),
    note("2024-01-15", "Heron is due on 30 April. Ben Huber manages it. I slept 6.5 hours.",
         ("Heron", "HAS_DEADLINE", None, {"value": "2024-04-30"}), ("Ben Huber", "MANAGES", "Heron"),
         ("me", "SLEEPS", None, {"kind": "reading", "measure": "sleep", "value": "6.5", "unit": "hours"}),
         entities=[{"name": "Heron", "type": "Project"}], saga="Heron"),
    note("2024-02-01", "Anna left Acme Corp for Larkfield.",
         ("Anna", "WORKS_AT", "Larkfield", {"replaces": ["Acme Corp"], "valid_at": "2024-02-01"})),
    note("2024-02-12", "The new date of Heron is 29 May. Slept 4-5 hours.",
         ("Heron", "HAS_DEADLINE", None, {"value": "2024-05-29", "replaces": ["current"]}),
         ("me", "SLEEPS", None, {"kind": "reading", "measure": "sleep", "value": "4-5", "unit": "hours"}),
         saga="Heron"),
    note("2024-02-20", "It never was Ben: Ines manages Heron.",
         ("Ines", "MANAGES", "Heron", {"replaces": ["Ben Huber"], "change": "corrected"})),
    note("2024-03-04", "Decision 7, use PostgreSQL, was proposed. Heron uses MySQL and depends on Larkfield.",
         ("Decision 7", "HAS_STATUS", None, {"value": "proposed"}), ("Heron", "USES", "MySQL"),
         ("Heron", "DEPENDS_ON", "Larkfield"), entities=[{"name": "Decision 7", "type": "Decision"}]),
    note("2024-03-18", "Decision 7 was accepted; Heron uses PostgreSQL from now on.",
         ("Decision 7", "HAS_STATUS", None, {"value": "accepted"}),
         ("Heron", "USES", "PostgreSQL", {"replaces": ["MySQL"]}), ("Decision 7", "REFERS_TO", "PostgreSQL")),
    note("2024-04-02", "I plan to move to Berlin in June. Met Ben Huber on 1 April.",
         ("me", "LIVES_IN", "Berlin", {"kind": "plan", "valid_at": "2024-06"}),
         ("me", "MET", "Ben Huber", {"kind": "event", "valid_at": "2024-04-01"})),
    note("2024-04-10", "anna: Heron is late.\nben: How late?\nanna: A week.", source="message", name="Chat"),
    note("2024-04-11", '{"ticket": 12, "project": "Heron", "state": "open"}', source="json",
         source_description="tracker"),
    note("2024-05-01", "Anna Schmidt lives in Graz. " * 60, ("Anna Schmidt", "LIVES_IN", "Graz", {"unknown": 1})),
    note("2024-05-02", "Somebody works somewhere.", ("Anna Schmit", "WORKS_AT", "Larkfeld"), ("Bob", "", "X")),
    {"episode_body": "A note elsewhere about Anna.", "group_id": "work", "reference_time": "2024-05-03"},
    {"episode_body": "Told in Vienna.", "reference_time": "2024-05-04T09:00:00+02:00", "wait_seconds": 1},
    {"episode_body": "  ", "reference_time": "2024-05-04"},
    {"episode_body": "No such time.", "reference_time": "someday"},
    {"episode_body": "A bad group.", "group_id": "no group!"},
    {"episode_body": "After nothing.", "saga": "Heron", "saga_previous_episode_uuid": UNKNOWN,
     "reference_time": "2024-05-05"},
]  # fmt: skip


def first(answer: Mapping[str, Any], rows: str, name: str = "uuid") -> str:
    """The id of an answer's first row."""
    found = answer.get(rows) or [{}]
    return str(found[0].get(name, UNKNOWN))


async def memory(door: AccessGate) -> None:  # noqa: C901, PLR0915 one story, read from above
    """Writing, searching, exploring, ending and forgetting."""
    call, pages = door.call, door.pages
    stored = [await call("add_memory", **one) for one in NOTES]
    own = "3ec0d07f-1b2c-4d5e-8f70-8192a3b4c5d6"
    for body in ("Written twice about Heron.", "Written twice about Heron.", "Another text."):
        await call("add_memory", episode_body=body, uuid=own, reference_time="2024-05-06")
    triplet = ["source_node_name", "edge_name", "fact", "target_node_name"]
    for values in (("Ines", "KNOWS", "Ines knows Anna Schmidt", "Anna Schmidt"), ("", "", "", "")):
        await call("add_triplet", **dict(zip(triplet, values, strict=True)))

    anna = first(await call("search_nodes", names=["Anna Schmidt", "Heron", "Ben", "Nobody"]), "nodes")
    heron = first(await call("search_nodes", names=["Heron"]), "nodes")
    await pages("search_nodes", query="who works where", max_nodes=2)
    await call("search_nodes", query="project", entity_types=["Project"], center_node_uuid=anna)
    await call("search_nodes", status="accepted")
    await call("search_nodes", query="Anna", group_ids=["work", "default"])
    await call("search_nodes", query="Anna", group_ids=["nowhere"])
    job = first(await pages("search_memory_facts", query="where does Anna work", max_facts=2), "facts")
    for filters in (
        {"entity_uuid": anna}, {"edge_types": ["WORKS_AT"]}, {"kind": "reading"}, {"status": "ended"},
        {"as_of": "2024-01-20"}, {"as_of": "2024-03", "entity_uuid": heron}, {"valid_at_after": "2024-03"},
        {"valid_at_before": "2024"}, {"invalid_at_after": "2024-02"}, {"entity_types": ["Decision"]},
        {"status": "planned"}, {"known_at": "2023"}, {"query": "sleep", "kind": "reading"}, {"as_of": "bad date"},
        {"query": "Heron", "center_node_uuid": heron},
    ):  # fmt: skip
        await call("search_memory_facts", **filters)
    listed = await pages("search_memory_facts", max_facts=3, status="current")
    await call("search_memory_facts", max_facts=3, cursor="tampered")
    await call("search_memory_facts", max_facts=3, status="ended", cursor=listed.get("next_cursor") or "x")
    await call("get_episodes", cursor=listed.get("next_cursor") or "x")
    episode = first(await pages("search_episodes", query="date of Heron", max_episodes=2), "episodes")
    for more in (
        {"entity_uuid": heron}, {"valid_after": "2024-02", "valid_before": "2024-04"}, {"neighbours": True},
        {"query": "what happened last month", "reference_time": "2024-03-10"}, {"query": "in January 2024"},
    ):  # fmt: skip
        await call("search_episodes", **{"query": "Heron is late"} | more)

    for who in (anna, anna[:8], "me", heron, "0000", "Anna Schmidt"):
        await pages("get_entity_connections", entity_uuid=who, max_connections=3)
        await pages("get_entity_timeline", entity_uuid=who, max_episodes=2)
    for more in (
        {"as_of": "2024-01-20"}, {"include_invalidated": False}, {"direction": "in"}, {"relation": "WORKS_AT"},
        {"valid_after": "2024-02", "valid_before": "2024-05"}, {"known_at": "2023"}, {"group_ids": ["work"]},
    ):  # fmt: skip
        await call("get_entity_connections", entity_uuid=anna, **more)
    await pages("get_entity_timeline", entity_uuid=heron, order="oldest_first", max_episodes=3, max_content_chars=20)
    await call("get_entity_timeline", entity_uuid=heron, valid_after="2024-03", valid_before="2024-04-11")
    await pages("get_episodes", max_episodes=6, max_content_chars=0)
    await call("get_episodes", episode_uuids=[episode, UNKNOWN, "0000"])
    long = stored[10].get("episode_uuid", UNKNOWN)
    await call("get_episodes", episode_uuids=[long], content_offset=1000, max_content_chars=300)
    await pages("get_episode_entities", episode_uuids=[episode, long], max_entities=2)
    await call("get_entity_edge", uuid=job)
    for mode in ("quote", "paragraph", "episode"):
        await pages("get_fact_sources", fact_uuid=job, mode=mode, limit=1)
    for target in (heron, "me", anna, UNKNOWN):
        await call("find_entity_path", source_uuid=anna, target_uuid=target)
    await call("find_entity_path", source_uuid=anna, target_uuid=heron, as_of="2024-01-20", max_hops=2, max_paths=1)
    for more in ({}, {"hops": 2}, {"hops": 3, "max_nodes": 4}, {"as_of": "2024-02-05"}, {"max_facts": 1}):
        await call("get_entity_subgraph", entity_uuid=heron, **more)
    for uri in (f"pkm://entity/{anna}", f"pkm://episode/{episode}", f"pkm://entity/{UNKNOWN}", "pkm://other/1"):
        await door.ask(["resources/read", uri], lambda uri=uri: door.client.read_resource(uri))

    await call("retire_fact", fact_uuid=job, reason="It ended.", invalid_at="2024-06-01")
    await call("retire_fact", fact_uuid=job, reason="It ended again.", invalid_at="2024-07-01")
    await call("restore_fact", fact_uuid=job, reason="It did not.")
    await call("restore_fact", fact_uuid=job, reason="Twice.")
    await call("retire_fact", fact_uuid=job, reason="It ended before.", invalid_at="2020")
    await call("update_entity", entity_uuid=anna, name="Anna Berg", summary="A gardener.", unlink_episodes=[episode])
    await call("update_entity", entity_uuid=anna, name="Heron", not_same_as=heron)
    await call("update_entity", entity_uuid=anna, not_same_as=heron, add_aliases=["The gardener"])
    await call("restore_fact", fact_uuid=anna, reason="Only a gardener.")
    await pages("what_changed", since="2024", limit=4)
    for more in ({"kinds": ["proposed"]}, {"kinds": ["voided", "restored"]}, {"entity_uuid": heron}, {"until": "2024"}):
        await call("what_changed", since="2024", **more)
    preview = await call("forget", query="Graz")
    await call("forget", query="Graz", confirm="0123456789ab")
    await call("forget", query="Graz", confirm=preview.get("confirm", "x"))
    for subject in ({"entity_uuid": anna}, {"fact_uuid": job, "episodes": "keep"}, {"episode_uuid": episode}):
        preview = await call("forget", **subject)
        await call("forget", **subject, confirm=preview.get("confirm", "x"))
    await call("forget", query="Heron", entity_uuid=heron)
    deadline = first(await call("search_memory_facts", entity_uuid=heron, edge_types=["HAS_DEADLINE"]), "facts")
    await call("delete_entity_edge", uuid=deadline)
    await call("delete_episode", uuid=stored[7].get("episode_uuid", UNKNOWN)[:8])
    await call("summarize_saga", saga_name="Heron")
    await call("build_communities")
    cleared = await call("clear_graph", group_ids=["work"])
    await call("clear_graph", group_ids=["default"], confirm=cleared.get("confirm", "x"))
    await call("clear_graph", group_ids=["work"], confirm=cleared.get("confirm", "x"))
    await call("get_status")
    await call("get_status", receipt=stored[0].get("episode_uuid", UNKNOWN))


DOT = 'digraph { a -> b [label="calls"]; b -> c [label="calls"]; c -> a [label="reads"]; d; }'
EDGES = [("API", "Auth"), ("API", "Orders"), ("Orders", "Store"), ("Auth", "Store"), ("Web", "API"), ("Web", "Auth"),
         ("Report", "Store"), ("Store", "Disk"), ("Mail", "Queue")]  # fmt: skip


async def reasoning(door: AccessGate) -> None:  # noqa: PLR0915 one story, read from above
    """Scratch graphs: made, asked, changed, exchanged, saved and committed."""
    call, pages = door.call, door.pages
    made = [{"source": one, "target": two, "relation": "calls"} for one, two in EDGES]
    await call("add_node", label="API", type="Service", properties={"team": "core", "size": 3})
    await call("add_node", label="api", type="Service", properties={"team": "other"})
    await call("add_nodes", nodes=[{"label": "Auth", "type": "Service"}, {"label": "Order service"}, {"label": ""}])
    await call("add_edge", source="API", target="Nowhere", relation="calls")
    await call("add_edge", source="API", target="auth", relation="calls", properties={"weight": 2.5})
    await call("add_edges", edges=[{"source": "x", "target": "API", "relation": "calls"}, *made])
    await call("add_edges", edges=made, create_missing=True)
    for name in ("get_graph_info", "list_graphs", "connected_components", "find_cycles", "bridges", "communities",
                 "pagerank", "degree_centrality", "betweenness_centrality", "transitive_reduction"):  # fmt: skip
        await call(name)
    await pages("list_nodes", limit=3)
    await call("list_nodes", type="Service", max_in_degree=0)
    await call("list_nodes", max_out_degree=0, relation="calls")
    await pages("find_edges", limit=4)
    await call("find_edges", source="API", relation="calls")
    await pages("get_neighbors", node="Store", limit=2)
    await call("get_neighbors", node="web", direction="out")
    for query in ("orders", "database of stores", "zzz"):
        await call("find_node", query=query)
    await call("subgraph", nodes=["API", "Auth", "Missing"])
    await call("subgraph", nodes=["API", "Store"], include_edges=False)
    for ends in (("Web", "Disk"), ("Disk", "Web"), ("Mail", "Web"), ("Web", "Web")):
        await call("shortest_path", source=ends[0], target=ends[1])
        await call("all_paths", source=ends[0], target=ends[1], undirected=True, max_length=5)
    await call("common_causes", target="Disk")
    await call("shortest_path", source="Web", target="Disk", weight="weight")
    await call("impact_of_removal", node="Store")
    await call("connected_components", mode="strong")
    await call("pagerank", top_n=2, weight="weight")
    await call("betweenness_centrality", undirected=False, top_n=3)
    await call("import_graph", format="dot", content=DOT, graph="letters")
    await call("find_cycles", graph="letters", max_length=3)
    await call("transitive_reduction", graph="letters")
    texts = {}
    for form in ("dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"):
        texts[form] = (await call("export_graph", format=form)).get("content", "")
        await call("export_graph", format=form, graph="letters", nodes=["a", "b"])
    for form in ("dot", "csv", "tsv", "json", "graphml"):
        await call("import_graph", format=form, content=texts[form], graph=f"again-{form}")
        await call("compare_graphs", other=f"again-{form}")
        await call("import_graph", format=form, content="<broken", graph="broken")
    await call("export_graph", format="json", max_chars=1000)
    await call("transitive_reduction", in_place=True)
    await call("remove_edge", source="Mail", target="Queue")
    await call("remove_edge", source="Mail", target="Queue", relation="calls")
    await call("remove_node", label="Queue")
    await call("rename_node", label="Mail", new_label="Post", graph="letters")
    await call("merge_nodes", keep="a", remove="b", graph="letters")
    await call("compare_graphs", other="again-json", limit=2)
    await call("save_graph", name="kept")
    await call("delete_graph")
    await call("open_graph", name="kept")
    await call("open_graph", name="kept", graph="letters")
    heron = first(await call("search_nodes", names=["Heron"]), "nodes")
    await call("load_memory_graph", graph="loaded", entity_uuids=[heron], hops=2)
    await call("load_memory_graph", graph="then", query="Heron", as_of="2024-02-05", limit=5)
    await call("compare_graphs", graph="loaded", other="then")
    await call("add_edge", graph="loaded", source="Heron", target="MySQL", relation="REPLACED", create_missing=True)
    await call("commit_graph", graph="loaded")
    await call("commit_graph", graph="loaded", dry_run=False, edges=[{"source": "Heron", "target": "MySQL"}])
    await call("commit_graph", graph="letters", nodes=["a"])
    await call("list_graphs")
    await call("delete_graph", graph="kept", saved=True)


async def offered(door: AccessGate) -> None:
    """What a client learns first."""
    client = door.client
    session = {"name": client.server_info.model_dump(mode="json"), "protocol": client.protocol_version}
    capabilities = client.server_capabilities.model_dump(mode="json")
    door.recording.keep(
        door.transport, ["initialize"], session | {"capabilities": capabilities, "instructions": client.instructions}
    )
    tools = (await door.client.list_tools()).tools
    door.recording.keep(door.transport, ["tools/list"], [tool.name for tool in tools])
    for tool in sorted(tools, key=lambda tool: tool.name):
        definition = tool.model_dump(mode="json", by_alias=True)
        door.recording.keep(door.transport, ["tools/list", tool.name], definition)
    await door.ask(["resources/list"], client.list_resources)
    await door.ask(["resources/templates/list"], client.list_resource_templates)
    await door.ask(["prompts/list"], client.list_prompts)
    for name, arguments in (
        ("journal_session", {}), ("journal_session", {"topic": "work"}), ("record_decision", {"decision": "Use X"}),
        ("record_decision", {}), ("review_entity", {"name": "Anna"}), ("nothing", {}),
    ):  # fmt: skip
        await door.ask(["prompts/get", name, arguments], lambda n=name, a=arguments: client.get_prompt(n, a))


async def odd(door: AccessGate) -> None:
    """Every tool with what does not fit it, and a tool that is none."""
    await door.call("no_such_tool")
    for tool in sorted((await door.client.list_tools()).tools, key=lambda tool: tool.name):
        for arguments in odd_calls(tool.input_schema):
            await door.call(tool.name, **arguments)


async def http(recording: Recording) -> None:
    """The same with a token, what other tokens may not, and bare requests."""
    tokens = {}
    for number, tier in enumerate(("curator", "librarian", "contributor", "reader")):
        made = json.loads(
            recording.run("tokens", "create", f"user{number}", "--tier", tier, "--json") or '{"token": ""}'
        )
        tokens[tier] = made["token"]
    port = free_port()
    recording.normaliser.hide(f":{port}", ":<port>")
    with serving(recording, port) as url:
        bare(recording, url, tokens["reader"])
        async with over_http(recording, url, tokens["curator"]) as door:
            for part in (offered, memory, reasoning, odd):
                await part(door)
        async with over_http(recording, url, tokens["curator"], "legacy") as door:
            await offered(door)
            await door.call("get_episodes", max_episodes=3)
        for tier in ("librarian", "contributor", "reader"):
            async with over_http(recording, url, tokens[tier]) as door:
                await refused(door)


async def refused(door: AccessGate) -> None:
    """A few tools of each tier."""
    await offered(door)
    await door.call("add_memory", **NOTES[0])
    for tool, arguments in (
        ("get_episodes", {}), ("delete_entity_edge", {"uuid": UNKNOWN}), ("delete_episode", {"uuid": UNKNOWN}),
        ("forget", {"query": "Anna"}), ("clear_graph", {}), ("add_node", {"label": "a"}), ("get_status", {}),
    ):  # fmt: skip
        await door.call(tool, **arguments)


def bare(recording: Recording, url: str, token: str) -> None:
    """Requests that no MCP client makes."""
    known = {"Authorization": f"Bearer {token}"}
    spoken = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for path in ("/", "/health", "/ready", "/metrics", "/mcp", "/nowhere"):
        for headers in ({}, {"Authorization": "Bearer wrong"}, known):
            if (path, headers) != ("/mcp", known):  # a stream that does not end
                recording.fetch(url, path, headers)
    recording.fetch(url, "/mcp", known | {"Host": "elsewhere.example"}, "{}")
    recording.fetch(url, "/mcp", known | spoken | {"Origin": "http://elsewhere.example"}, "{}")
    requests: tuple[Any, ...] = (
        {"method": "ping"}, {"method": "nothing"}, {"method": "tools/call", "params": {"name": 1}},
        {"method": "tools/list"}, {"method": "server/discover"}, [],
    )  # fmt: skip
    for request in requests:
        body = request and {"jsonrpc": "2.0", "id": 1, **request}
        recording.fetch(url, "/mcp", known | spoken, json.dumps(body))
    recording.fetch(url, "/mcp", known | spoken, "{no json")
    recording.fetch(url, "/mcp", known | {"Content-Type": "text/plain"}, "{}")


def commands(recording: Recording) -> None:
    """Help of every command, and what they answer beside no server."""
    for arguments in ("--help", "--version", "", "nothing", *(f"{command} --help" for command in COMMANDS)):
        recording.run(*arguments.split())
    for arguments in (
        "status", "status --json", "doctor", "doctor --json", "tokens list", "tokens list --json", "tokens create",
        "tokens revoke 00000000", "queue list", "queue list --json", "queue show 99", "queue retry --all",
        "queue pause", "queue resume", "reextract --since 2024 --dry-run", "reextract --episode 00000000",
        "reembed --dry-run", "reembed", "rebuild", "backup saved.tar", "restore saved.tar",
        "restore saved.tar --replace", "restore missing.tar", "status", "serve --toolsets nothing",
        "serve --transport carrier-pigeon", "serve --tools no_such_tool",
        "serve --config missing.yaml", "status --timezone Nowhere/City", "doctor --backend neo4j",
        "status --port many", "demo --data-dir demo",
    ):  # fmt: skip
        recording.run(*arguments.split())


async def play(recording: Recording) -> None:
    """All calls, or as many as the recording takes."""
    async with over_stdio(recording) as door:
        for part in (memory, offered, reasoning, odd):
            await part(door)
    if recording.full:
        return
    async with over_stdio(recording, "legacy") as door:
        await offered(door)
    await http(recording)
    commands(recording)
