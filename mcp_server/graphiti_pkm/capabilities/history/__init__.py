"""Shows what changed in the record, ends a fact or corrects an entity by hand and undoes it.

The rules for endings are in ``core/facts``.
"""
