"""Candidates for memory in what was captured."""
