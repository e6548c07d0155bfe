"""What is computed on a whole scratch graph, in a worker process where it may explode.

It knows numbers of nodes, no labels and no tools.
"""
