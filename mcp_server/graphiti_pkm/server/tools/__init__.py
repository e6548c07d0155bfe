"""The registry of capabilities, the guard around every tool, instructions, prompts and resources.

No tool stands here.
"""
