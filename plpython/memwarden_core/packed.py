"""The texts in a MessagePack value, such as LangGraph keeps of a conversation.

Only erasing reads them: it looks for a person's name. What is not MessagePack to its end is read
as UTF-8 as well, so that no text is missed.
"""

from __future__ import annotations

from collections.abc import Iterator

_LENGTHS = {
    # first byte: (bytes of the length, bytes of a type behind it, kind)
    **{0xD9 + i: (1 << i, 0, "text") for i in range(3)},
    **{0xC4 + i: (1 << i, 0, "bytes") for i in range(3)},
    **{0xC7 + i: (1 << i, 1, "bytes") for i in range(3)},
    **{0xDC + i: (2 << i, 0, "values") for i in range(2)},
    **{0xDE + i: (2 << i, 0, "pairs") for i in range(2)},
}
_PLAIN = {
    **dict.fromkeys((0xC0, 0xC2, 0xC3), 0),
    0xCA: 4,
    0xCB: 8,
    **{first + i: 1 << i for first in (0xCC, 0xD0) for i in range(4)},
}
_DEPTH = 20
"""A value in a value in a value: deeper is read as UTF-8."""


def packed_text(value: bytes) -> str:
    """Return every text in a MessagePack value, one a line, without NUL."""
    return "\n".join(_texts(value, 0)).replace("\x00", "\n")


def _texts(value: bytes, depth: int) -> Iterator[str]:
    at, end = 0, len(value)
    whole = depth < _DEPTH
    while whole and at < end:
        first = value[at]
        at += 1
        # Containers need no counting: what they hold follows.
        if first < 0xA0 or first >= 0xE0:
            continue
        if first < 0xC0:
            size, kind = first & 0x1F, "text"
        elif first in _PLAIN:
            size, kind = _PLAIN[first], "number"
        elif first in _LENGTHS:
            width, skipped, kind = _LENGTHS[first]
            size = int.from_bytes(value[at : at + width], "big")
            at += width + skipped
            if kind in ("values", "pairs"):
                continue
        elif 0xD4 <= first <= 0xD8:
            at, size, kind = at + 1, 1 << (first - 0xD4), "bytes"
        else:
            size, kind = end, "unknown"
        whole = at + size <= end and kind != "unknown"
        inner = value[at : at + size]
        at += size
        if whole and kind == "text":
            yield inner.decode("utf-8", "replace")
        elif whole and kind == "bytes":
            yield from _texts(inner, depth + 1)
    # A text on its own, or JSON, is MessagePack of small numbers: it stands here.
    if not whole or not value or _is_text(value):
        yield value.decode("utf-8", "replace")


def _is_text(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
