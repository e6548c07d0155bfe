"""Calls of a chat model and what goes wrong with them. What it is asked stands in ``graphiti_adapter``."""
