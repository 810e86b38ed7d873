"""Finding orders to whoever reads a memory."""
