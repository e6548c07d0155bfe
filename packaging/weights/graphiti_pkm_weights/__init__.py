"""The files of all-MiniLM-L6-v2 in the folder ``model``. graphiti-pkm finds them without importing this."""
