"""Text formats of scratch graphs: DOT, GraphML, CSV, TSV and JSON are read and written, Mermaid is written.

A text is parsed completely before any graph is changed.
"""
