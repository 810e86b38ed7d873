"""The SQL that the client sends, a module for each part of the client.

Columns are named, so that a server that adds some still fits.
"""
