"""The judge of two memories, and what becomes of the second one: error rates on labelled pairs."""
