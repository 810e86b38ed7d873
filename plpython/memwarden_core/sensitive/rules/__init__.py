"""The rules that are shipped, by what they look for."""
