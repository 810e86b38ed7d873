"""Texts behind a text: encoded, spelled out, written without spaces, or not drawn."""
