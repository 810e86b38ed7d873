"""The calls of a store on a client: made from `_async` by generate_sync.py."""
