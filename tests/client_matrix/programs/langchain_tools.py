"""LangChain by its MCP adapters, in the form that it sends to OpenAI's API."""

import asyncio

from connecting import CALL, TOOL, say, session
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import load_mcp_tools


async def main() -> None:
    async with session() as found:
        made = await load_mcp_tools(found)
        tools = {tool.name: convert_to_openai_tool(tool)["function"]["parameters"] for tool in made}
        answer = await next(tool for tool in made if tool.name == TOOL).ainvoke(CALL)
    say("langchain-mcp-adapters", tools, str(answer))


asyncio.run(main())
