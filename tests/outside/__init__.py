"""Test suites of other memory servers, run from a copy of their repositories against ours.

Only what puts our server in the place of theirs belongs here; their files do not.
"""
