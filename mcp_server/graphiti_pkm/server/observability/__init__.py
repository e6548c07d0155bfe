"""What operators see: logs, the audit log, metrics.

The metrics are listed in ``core/ports/metrics.py``.
"""
