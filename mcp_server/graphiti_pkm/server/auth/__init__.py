"""Authentication and rate limits: tokens, callers, buckets.

The tier that a tool requires is declared with the tool.
"""
