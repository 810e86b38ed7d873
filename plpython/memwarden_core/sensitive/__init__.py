"""Sensitive content: what a text holds of personal data, secrets and hidden instructions."""
