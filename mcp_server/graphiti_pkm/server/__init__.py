"""The MCP server: tools, transports, authentication, observability. What a tool does is in ``capabilities``."""
