"""Calls to a chat model and the errors of such calls. The prompts are in ``graphiti_adapter``."""
