"""Pydantic AI, with the schemas made strict that it sends to OpenAI."""

import asyncio

from connecting import ARGUMENTS, CALL, COMMAND, TOOL, say
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer


async def main() -> None:
    async with MCPToolset(StdioTransport(COMMAND, ARGUMENTS)) as server:
        tools = {}
        for tool in await server.list_tools():
            tools[tool.name] = OpenAIJsonSchemaTransformer(tool.input_schema, strict=True).walk()
        answer = await server.direct_call_tool(TOOL, CALL)
    say("pydantic-ai-slim", tools, str(answer))


asyncio.run(main())
