"""Turns texts into vectors: batching, services, a change of model. Vector search is in ``storage``."""
