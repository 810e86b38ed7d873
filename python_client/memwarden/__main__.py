"""`python -m memwarden` is the command `memwarden`."""

from __future__ import annotations

import sys

from memwarden._needs import needs
from memwarden.errors import NotInstalled


def main() -> None:
    """Run the command; say what to install where there is only the core."""
    try:
        with needs("cli"):
            from memwarden.cli import main as run
    except NotInstalled as error:
        sys.exit(f"error: {error}")
    run()


if __name__ == "__main__":
    main()
