"""The MCP server: memory as tools and resources for hosts such as Claude Desktop and Cursor.

A thin layer over `AsyncClient`. Every call runs as the principal of the connection behind it, so
no tool sees or changes more than that login may. Needs `memwarden[mcp]`.
"""
