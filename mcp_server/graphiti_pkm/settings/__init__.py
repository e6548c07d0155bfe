"""Settings by subject and the loader, the only reader of the environment.

The configuration of other servers is read in ``foreign.py`` and ``upstream.py``.
"""
