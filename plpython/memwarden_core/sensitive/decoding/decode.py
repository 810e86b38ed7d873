"""What there is to decode in a text, and how.

No decoding is applied twice to the same characters, but for those that make the text shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..views import View
from .encodings import (
    base64_decoded,
    entity_decoded,
    escape_decoded,
    hex_decoded,
    percent_decoded,
    tags_removed,
)
from .spelling import normalised, parted, reversed_text, tag_text, unleeted, unspaced

MAX_DEPTH = 3

Decoder = Callable[[View], Iterator[View]]

# The pattern (RE2) that a text matches when there is something to decode, and what decodes it.
LONG_TOKEN = r"[A-Za-z0-9+/_\-]{16}"
DECODERS: tuple[tuple[str, Decoder], ...] = (
    (r"%[0-9A-Fa-f]{2}", percent_decoded),
    (r"&#?[A-Za-z0-9]{2,8};", entity_decoded),
    (r"\\u\{?[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrt\"]", escape_decoded),
    (r"</?[a-z]|[^ \n*]\*|\*[^ \n*]", tags_removed),
    (LONG_TOKEN, base64_decoded),
    (r"[0-9A-Fa-f]{2}(?:[ :]?[0-9A-Fa-f]{2}){7}", hex_decoded),
    (r"\b\w(?:[ ]{1,3}\w){4}\b|\b\w(?:[\t\-._*|/]\w){4}\b|\b\w(?:  ?\w){4}\b", unspaced),
    (r"[a-z][-_.+][a-z]+[-_.+][a-z]|(?-i:[a-z][A-Z][a-z]+[A-Z][a-z])|[a-z]{18}", parted),
    (r"[a-z][013457$!]+[a-z]", unleeted),
    (r"snoitcurtsni|tpmorp|erongi|drowssap|sterces|laever|draged?rsid", reversed_text),
    (r"[^\x00-\x7f]", normalised),
    (r"[\x{e0020}-\x{e007f}]{3}", tag_text),
)

# What these decode is shorter and may be encoded once more in the same way.
SHRINKING: frozenset[Decoder] = frozenset(
    [percent_decoded, entity_decoded, escape_decoded, base64_decoded, hex_decoded]
)
