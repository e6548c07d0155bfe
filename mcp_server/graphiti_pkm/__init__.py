"""A temporal personal memory behind an MCP server.

``bootstrap.py`` puts the parts together; nothing else knows them all.
"""
