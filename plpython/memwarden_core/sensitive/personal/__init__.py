"""Finding what belongs to a person or opens a door: names, numbers, addresses, secrets."""
