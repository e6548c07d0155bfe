"""What the tools over scratch graphs take and answer. The values inside a graph stand in ``limits.py``."""
