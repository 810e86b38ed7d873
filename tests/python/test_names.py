"""Names that are run together with others or with numbers are found by their parts."""

from __future__ import annotations

import pytest

from memwarden_core.server import parts_of_names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("iPhone14 and OPPOFindX3", "iPhone OPPO Find"),
        ("word374 word25", "word word"),
        ("MacBookPro2019", "Mac Book Pro"),
        ("nothing is joined here, 14 times", None),
        ("a1b2c3d4e5", None),
        ("0123456789abcdef0123456789abcdef01", None),
        ("", None),
    ],
)
def test_parts_of_three_letters_and_more_are_told(text: str, parts: str | None) -> None:
    """Of neither keys nor hashes, which are longer, nor of what has shorter parts alone."""
    assert parts_of_names(text) == parts
