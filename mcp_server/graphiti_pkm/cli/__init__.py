"""The command line: one module a command. No command decides anything about the memory; it asks the services."""
