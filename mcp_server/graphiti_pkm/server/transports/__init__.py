"""stdio, HTTP and worker processes: how a call arrives and how a server ends.

What a call does is decided elsewhere.
"""
