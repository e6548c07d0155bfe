"""Pictures of scratch graphs, as SVG and in characters. Reading and writing other formats stands in ``formats``."""
