"""Texts in base64, hex, percent signs, HTML entities and escapes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from ...late import late
from ..views import Decoded, View, replaced

_PERCENT = late(r"(?:%[0-9A-Fa-f]{2})+")
_ENTITY = late(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ESCAPE = late(r"\\u\{?[0-9A-Fa-f]{4,6}\}?|\\x[0-9A-Fa-f]{2}|\\+[nrt\"]")
# A run of tags, what a comment or CDATA begins and ends with, and the stars of an emphasis.
_TAG = late(
    r"(?:</?[A-Za-z][^<>]{0,300}>)+|<!--|-->|<!\[CDATA\[|\]\]>"
    r"|(?<![\w*])\*{1,3}(?=\w)|(?<=[^\s*])\*{1,3}(?![\w*])"
)
_BREAKING = late(r"</?(?:br|p|div|li|td|tr|th|h[1-6]|hr|img|ul|ol|table)\b", re.IGNORECASE)


def _percent(match: re.Match[str]) -> str | None:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return None


def _entity(match: re.Match[str]) -> str | None:
    import html  # its table of names is large, and few texts have one

    text = html.unescape(match[0])
    return None if text == match[0] else text


def _escape(match: re.Match[str]) -> str | None:
    if match[0][-1] in 'nrt"':
        # A string of JSON in a string; how often it was escaped does not matter.
        return '"' if match[0][-1] == '"' else "\n"
    code = int(match[0][2:].strip("{}")[:6], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else None


def percent_decoded(view: View) -> Iterator[View]:
    """Yield the text with `%40` and the like decoded."""
    return replaced(view, _PERCENT, _percent)


def entity_decoded(view: View) -> Iterator[View]:
    """Yield the text with HTML entities decoded."""
    return replaced(view, _ENTITY, _entity)


def escape_decoded(view: View) -> Iterator[View]:
    r"""Yield the text with `\\u0041`, `\\x41` and the escapes of a JSON string decoded."""
    return replaced(view, _ESCAPE, _escape)


def _untagged(match: re.Match[str]) -> str:
    """What a reader sees of a mark: nothing within a word, and nothing of an emphasis."""
    text, (start, end) = match.string, match.span()
    inside = start > 0 and text[start - 1].isalpha() and text[end : end + 1].isalpha()
    inside = inside and not _BREAKING.search(text, start, end)
    return "" if inside or match[0][0] == "*" else " "


def tags_removed(view: View) -> Iterator[View]:
    """Yield the text without the marks of HTML and Markdown that may stand between its words."""
    return replaced(view, _TAG, _untagged)


_BASE64 = late(
    r"[A-Za-z0-9+/]{60,76}(?:\r?\n[A-Za-z0-9+/]{1,76})+={0,2}|[A-Za-z0-9+/_-]{16,}={0,2}"
)
_HEX = late(r"(?:0x|\b)([0-9A-Fa-f]{2}(?:[ :]?[0-9A-Fa-f]{2}){7,})\b")


def _readable(raw: bytes) -> str | None:
    """The bytes as text, None where they are none: random bytes are hardly ever UTF-8."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    if len(text) < 8:
        return None
    odd = sum(1 for c in text if not (c.isprintable() or c in "\t\n\r"))
    return text if odd * 20 <= len(text) else None


def _unbase64(token: str) -> str | None:
    compact = "".join(token.split()).rstrip("=")
    if len(compact) % 4 == 1:
        compact = compact[:-1]
    altered = compact.replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(altered + "=" * (-len(altered) % 4)))
    except (ValueError, binascii.Error):
        return None


def base64_decoded(view: View) -> Iterator[View]:
    """Yield what the base64 tokens say that hold text."""
    for match in _BASE64.finditer(view.text):
        text = _unbase64(match[0])
        if text is not None:
            yield Decoded(text, match.start(), match.end(), view)


def hex_decoded(view: View) -> Iterator[View]:
    """Yield what the runs of hexadecimal bytes say that hold text."""
    for match in _HEX.finditer(view.text):
        text = _readable(bytes.fromhex(re.sub("[ :]", "", match[1])))
        if text is not None:
            yield Decoded(text, match.start(), match.end(), view)
