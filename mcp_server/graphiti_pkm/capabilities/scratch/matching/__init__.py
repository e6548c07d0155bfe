"""What a text means among the labels of a scratch graph.

The forms in which labels are compared stand in ``graphs``.
"""
