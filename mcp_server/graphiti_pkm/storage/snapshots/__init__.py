"""Files of snapshots in the data directory: how they are written, read, checked and redacted.

What a snapshot means, and how a group gets its state back, is decided in ``capabilities/staging``.
"""
