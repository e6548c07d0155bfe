"""Google's SDK for Gemini: its own conversion of MCP tools to function declarations."""

import asyncio

from connecting import CALL, TOOL, say, session
from google.genai._mcp_utils import mcp_to_gemini_tool


async def main() -> None:
    async with session() as found:
        tools = {}
        for tool in (await found.list_tools()).tools:
            (declared,) = mcp_to_gemini_tool(tool).function_declarations or ()
            tools[tool.name] = declared.parameters.model_dump(mode="json", by_alias=True, exclude_none=True)
        answer = await found.call_tool(TOOL, CALL)
    say("google-genai", tools, answer.content[0].text)


asyncio.run(main())
