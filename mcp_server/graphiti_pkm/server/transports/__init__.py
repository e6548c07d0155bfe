"""stdio, HTTP and worker processes: how calls arrive and how a server ends.

What a call does is decided in ``tools`` and the capabilities.
"""
