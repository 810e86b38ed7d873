"""The Python client, its command and the demo, against a real server."""
