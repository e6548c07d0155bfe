"""Scratch graphs: temporary graphs for reasoning. Only ``memory_bridge`` and ``saving.py`` touch memory."""
