"""A sandbox for code that nobody vouches for: bubblewrap, limits, and a filter of system calls."""

from memwarden.worker.sandbox.running import MAX_OUTPUT, Run, run
from memwarden.worker.sandbox.walls import Bounds

__all__ = ["MAX_OUTPUT", "Bounds", "Run", "run"]
