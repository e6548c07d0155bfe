"""Requests and answers of the tools over scratch graphs. The values inside a graph are in ``limits.py``."""
