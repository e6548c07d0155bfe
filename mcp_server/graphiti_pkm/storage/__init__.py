"""Where the memory lies: graph, journal, and the commit that keeps both together.

It decides nothing about the meaning of what it stores.
"""
