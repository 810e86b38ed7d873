"""What `memwarden demo` does: a conversation goes through the gates, then questions are asked."""
