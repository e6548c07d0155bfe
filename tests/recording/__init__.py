"""What callers see, recorded: two versions of the server are compared by their answers to the same calls.

Nothing of the package is imported, so that one recording fits any version of it.
"""
