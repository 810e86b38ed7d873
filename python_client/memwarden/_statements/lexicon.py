"""Statements on dictionaries."""

from __future__ import annotations

from typing import Final, LiteralString

LOAD_LEXICON: Final[LiteralString] = """
SELECT words, senses, is_new
  FROM memwarden.load_lexicon(folder => %(folder)s::text, language => %(language)s::text)
"""

DROP_LEXICON: Final[LiteralString] = """
SELECT memwarden.drop_lexicon(language => %(language)s::text) AS dropped
"""
