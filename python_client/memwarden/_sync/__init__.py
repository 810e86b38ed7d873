"""The client for programs without asyncio. Generated: see `[tool.unasyncd]` in pyproject.toml."""
