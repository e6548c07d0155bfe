"""OpenAI's Agents SDK, with schemas made strict."""

import asyncio

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from connecting import ARGUMENTS, CALL, COMMAND, TOOL, say


async def main() -> None:
    async with MCPServerStdio({"command": COMMAND, "args": ARGUMENTS}, client_session_timeout_seconds=60) as server:
        made = await MCPUtil.get_function_tools(server, True, RunContextWrapper(None), Agent("a"))  # noqa: FBT003
        as_they_are = [tool.name for tool in made if not tool.strict_json_schema]
        tools = {tool.name: None if tool.name in as_they_are else tool.params_json_schema for tool in made}
        answer = await server.call_tool(TOOL, CALL)
    say("openai-agents", tools, answer.content[0].text)


asyncio.run(main())
