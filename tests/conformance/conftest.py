"""Whole suites of others run when somebody asks for them."""

from __future__ import annotations

import os

if "MEMWARDEN_CONFORMANCE" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
