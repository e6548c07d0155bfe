"""Texts from and to scratch graphs: DOT, GraphML, CSV, JSON, Mermaid.

A text is parsed completely before any graph is touched.
"""
