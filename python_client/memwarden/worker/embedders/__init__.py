"""Embedders that come with the worker."""
