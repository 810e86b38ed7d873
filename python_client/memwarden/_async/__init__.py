"""The client for programs that use asyncio, written by hand; `_sync` is generated from it."""
