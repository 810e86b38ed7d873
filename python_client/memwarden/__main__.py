"""`python -m memwarden` is the command `memwarden`."""

from memwarden.cli import main

main()
