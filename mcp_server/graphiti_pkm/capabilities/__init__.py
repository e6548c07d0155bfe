"""One folder for each thing the memory can do, named in ``server/tools/registry.py``.

What two capabilities share stands in ``core``.
"""
