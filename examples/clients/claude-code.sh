claude mcp add memory -- graphiti-pkm serve
