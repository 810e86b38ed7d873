"""What the server and the client must compute alike: canonical form, hashes, text, schema checks.

Pure functions without a database, a network or a clock. The modules are imported one by one, so
that a caller pays only for what it uses.
"""
