"""Shipped rules for the numbers that states give to people."""

from __future__ import annotations

from ...light import Any
from .national_alone import ALONE_RULES
from .national_more import MORE_RULES
from .national_named import NAMED_RULES

NATIONAL_RULES: list[dict[str, Any]] = [*ALONE_RULES, *NAMED_RULES, *MORE_RULES]
