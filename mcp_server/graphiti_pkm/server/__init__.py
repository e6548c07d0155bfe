"""The MCP server: tools, transports, who calls, what is logged. What a tool does stands in ``capabilities``."""
