"""How far an excerpt bears out a claim."""
