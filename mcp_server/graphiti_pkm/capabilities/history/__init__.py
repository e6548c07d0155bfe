"""Shows what changed in the record, ends a fact by hand and undoes an ending.

The rules for endings are in ``core/facts``.
"""
