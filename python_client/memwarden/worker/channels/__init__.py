"""The channels that come with the worker."""
