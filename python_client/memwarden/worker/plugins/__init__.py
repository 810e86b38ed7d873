"""The plug-ins that come with the worker."""
