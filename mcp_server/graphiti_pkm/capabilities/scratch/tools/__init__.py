"""The tool functions over scratch graphs, by what they work on.

What they do stands in the modules beside this folder.
"""
