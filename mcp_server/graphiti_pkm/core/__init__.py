"""What all capabilities share: values, names, the rules of facts, paging, ports, and what differs between systems.

It knows no database, no MCP and no capability.
"""
