"""Pictures of scratch graphs, as SVG and as text. Other formats are in ``formats``."""
