"""Scratch graphs: transient graphs to think with, apart from memory. Only ``memory_bridge`` reads or writes memory."""
