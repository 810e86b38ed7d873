"""What is sent for sources outside."""

from __future__ import annotations

from typing import Final, LiteralString

EXTERNAL_SOURCES: Final[LiteralString] = """
SELECT source, kind, settings, type, timeout, max_results
FROM memwarden.external_sources ORDER BY source
"""

SCREEN_ANSWERS: Final[LiteralString] = """
SELECT place, answer, suspicious
FROM memwarden.screen_answers(
    answers => %(answers)s::jsonb, layer => %(layer)s::text, surface => %(surface)s::text)
ORDER BY place
"""
