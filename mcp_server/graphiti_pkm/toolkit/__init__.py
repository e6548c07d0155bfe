"""What a ``tools.py`` is made of: the call, parameters, schemas, the text form, how a capability declares itself.

It knows no capability.
"""
