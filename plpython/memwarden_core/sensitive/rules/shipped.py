"""The rules that are shipped. An administrator may change, add and switch off rules as data."""

from __future__ import annotations

import json

from ...light import Any
from .ids import ID_RULES
from .instructions import INSTRUCTION_RULES
from .people import PEOPLE_RULES
from .readers import READER_RULES
from .secrets import SECRET_RULES
from .wallets import WALLET_RULES

# Findings that overlap are settled by weight, not by this order.
DEFAULT_RULES: list[dict[str, Any]] = [
    *SECRET_RULES,
    *WALLET_RULES,
    *ID_RULES,
    *PEOPLE_RULES,
    *INSTRUCTION_RULES,
    *READER_RULES,
]


def default_rules() -> str:
    """Return the shipped rules as the JSON array that ``prepare`` takes."""
    return json.dumps(DEFAULT_RULES, ensure_ascii=False, separators=(",", ":"))
