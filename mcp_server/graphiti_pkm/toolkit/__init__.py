"""What every ``tools.py`` uses: the call, parameters, schemas, the text form, the declaration of a capability.

Nothing here depends on a particular capability.
"""
