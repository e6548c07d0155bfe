"""Bookmarks: entities that a person wants to come back to. The reading of facts in general stands in ``explore``."""
