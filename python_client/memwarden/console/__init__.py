"""The web page on which people decide about what agents want to remember."""
