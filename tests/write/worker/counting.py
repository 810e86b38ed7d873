"""Plug-ins that the workers of the tests find installed beside the package.

They are given what to do by the content, and leave lines in the file that a setting names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwarden.worker import PluginError, Verdict

ENTRY_POINTS = """[memwarden.verifiers]
counting = worker_test_plugin:Counting
"""


class Counting:
    """Notes each call before it answers."""

    name = "counting"
    version = "1"

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Do what the content says: hang or die the first time, fail always, or accept."""
        content = payload["content"]
        with Path(settings["notes"]).open("a") as notes:
            notes.write(f"{content['text']}\n")
        calls = Path(settings["notes"]).read_text().splitlines().count(content["text"])
        if content.get("do") == "hang" and calls == 1:
            time.sleep(600)
        if content.get("do") == "die":
            os._exit(9)
        if content.get("do") == "fail":
            raise PluginError("it cannot be judged")
        if content.get("do") == "linger":
            time.sleep(1)
        return Verdict("accept")
