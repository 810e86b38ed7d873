"""JSON Schema: what contents may look like, and whether one does."""
