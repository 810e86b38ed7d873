"""The parts of names that are run together with others or with numbers: iPhone14, OPPOFindX3."""

from __future__ import annotations

from ..late import late

# No key and no hash: those are longer.
_WORD = late(r"(?<![a-zA-Z0-9])[a-zA-Z0-9]{4,31}(?![a-zA-Z0-9])")
_RUN_TOGETHER = late(r"[a-zA-Z]{3}[0-9]|[a-z]{2}[A-Z]|[A-Z]{2}[a-z]{2}|[0-9][a-zA-Z]{3}")
# The i of iPhone is no word of its own.
_SEAM = late(r"(?<=[a-z])([a-z])(?=[A-Z])|([A-Z])(?=[A-Z][a-z]{2})")
_BETWEEN = late(r"[0-9 ]+")


def parts_of_names(text: str) -> str | None:
    """Return the parts of three letters and more, parted by spaces; None where there are none."""
    if not _RUN_TOGETHER.search(text):
        return None  # as most texts
    parts = [
        part
        for word in _WORD.findall(text)
        if _RUN_TOGETHER.search(word)
        for part in _BETWEEN.split(word if word.islower() else _SEAM.sub(r"\1\2 ", word))
        if 3 <= len(part) < len(word)
    ]
    return " ".join(parts) or None
