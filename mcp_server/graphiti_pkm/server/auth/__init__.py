"""Who calls and how much they may: tokens, callers, rate limits.

What each tier may do to the memory stands with the tools.
"""
