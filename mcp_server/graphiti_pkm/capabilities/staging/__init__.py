"""Groups that are tried out before they are relied on: snapshots, copies between groups, and going back.

Commands of the operator, and one tool for curators. What the file of a snapshot looks like belongs in
``storage/snapshots``.
"""
