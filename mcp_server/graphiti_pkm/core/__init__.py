"""What all capabilities share: values, names, the rules of facts, paging, and the ports.

It knows no database, no MCP and no capability.
"""
