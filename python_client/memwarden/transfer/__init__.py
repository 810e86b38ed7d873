"""Import from and export to other memory systems.

A source yields records, each a write request that passes the gates like any other, under a key of
its own: an import that was killed and is run again writes nothing twice.
"""
