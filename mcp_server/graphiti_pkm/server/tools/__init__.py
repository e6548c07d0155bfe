"""The registry of capabilities, the guard around every tool, instructions, prompts and resources.

The tools themselves are in the capabilities.
"""
