"""Integrity rules: what must hold of memories, compiled to jsonpath."""
