"""The calls of a store on an async client: written by hand, and `_sync` is made of them."""
