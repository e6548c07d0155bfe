"""What operators see: logs, the audit, the registry of figures.

What is counted is listed in ``core/ports/metrics.py``.
"""
