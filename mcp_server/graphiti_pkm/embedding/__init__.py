"""Texts to vectors: batching, a service, changing the model. Searching by vectors stands in ``storage``."""
