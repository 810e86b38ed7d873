"""The web page of those who review, against a real server and in a real browser."""
