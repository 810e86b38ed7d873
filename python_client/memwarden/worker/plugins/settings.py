"""Settings as an administrator gave them, read with care, and secrets, which are not among them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwarden.worker.plugin import PluginError

# Whoever may set a verifier names a variable; it must not be any variable of the worker's.
SECRET_PREFIX = "MEMWARDEN_SECRET_"


def text(settings: Mapping[str, Any], name: str) -> str:
    """Return a text that has to be there.

    Raises:
        PluginError: it is not.
    """
    value = settings.get(name)
    if not isinstance(value, str) or not value:
        raise PluginError(f"the setting {name} is missing or no text")
    return value


def number(
    settings: Mapping[str, Any], name: str, default: float, *, least: float, most: float
) -> float:
    """Return a number within bounds.

    Raises:
        PluginError: what is set is none, or lies outside.
    """
    value = settings.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise PluginError(f"the setting {name} is no number from {least:g} to {most:g}")
    return float(value)


def secret(settings: Mapping[str, Any], name: str = "secret_env") -> str | None:
    """Return the secret from the variable that the setting names; None where it names none.

    Instead of the variable there may be one of the same name and `_FILE`: the path of a file.

    Raises:
        PluginError: the variable is not one for secrets, or not set; the file cannot be read.
    """
    variable = settings.get(name)
    if variable is None:
        return None
    if not isinstance(variable, str) or not variable.startswith(SECRET_PREFIX):
        raise PluginError(f"the setting {name} names no variable {SECRET_PREFIX}...")
    value = os.environ.get(variable)
    path = os.environ.get(f"{variable}_FILE")
    if not value and path:
        try:
            value = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            raise PluginError(f"the file of {variable}_FILE cannot be read") from None
    if not value:
        raise PluginError(f"the variable {variable} is not set for this worker")
    return value
