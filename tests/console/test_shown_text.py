"""What an agent wrote is shown as it is, and steers neither the page nor the eye."""

from __future__ import annotations

import html
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden.console.difference import changes
from memwarden.console.text import editable, headline, visible

_MARK = re.compile(r'<span class="unseen" title="[^"<>]*">U\+([0-9A-F]{4,6})</span>')
_TEXT = st.text(max_size=60)


def read(shown: str) -> str:
    """Return what a person can tell was written."""
    pieces = _MARK.split(shown)
    plain = [html.unescape(each) for each in pieces[::2]]
    named = [chr(int(each, 16)) for each in pieces[1::2]]
    return "".join(text + mark for text, mark in zip(plain, [*named, ""], strict=True))


@given(_TEXT)
def test_no_text_becomes_markup_and_none_is_lost(text: str) -> None:
    """Proves: F3 (what is shown to the reviewer)."""
    shown = str(visible(text))
    assert read(shown) == text
    rest = _MARK.sub("", shown)
    assert not set("<>\"'") & set(rest)


@given(_TEXT)
def test_what_has_no_shape_is_named(text: str) -> None:
    """Except line breaks, tabs and what joins emoji."""
    rest = _MARK.sub("", str(visible(text)))
    hidden = [each for each in rest if unicodedata.category(each) in ("Cc", "Cf", "Co", "Cs", "Cn")]
    assert set(hidden) <= set("\n\t\N{ZERO WIDTH JOINER}")


@pytest.mark.parametrize(
    "character",
    "\u202e\u2066\u200b\u00a0\u00ad\u3164\u2800\U000e0041\x1b\u034f\ufe00\U000e0100\ufeff\u2028\r\x00",
)
def test_hidden_characters_are_seen(character: str) -> None:
    """Also those that Unicode counts as letters, marks or spaces."""
    assert f"U+{ord(character):04X}</span>" in visible(f"pay{character}ment")
    assert character not in editable({"a": f"pay{character}ment"})


def test_emoji_and_other_scripts_stay_as_they_are() -> None:
    """People write them."""
    for text in ("👩\u200d💻 ❤\ufe0f", "אנה", "安娜", "naïve"):
        assert visible(text) == text


def test_the_edited_content_is_the_content() -> None:
    """The form shows an escape where there is nothing to see, which JSON reads as what it was."""
    assert editable({"a": "pay\u202ement"}) == '{\n  "a": "pay\\u202ement"\n}'
    assert json.loads(editable({"a": "\U000e0041x"})) == {"a": "\U000e0041x"}


@given(st.dictionaries(_TEXT, _TEXT | st.integers(), max_size=4))
def test_a_headline_is_one_line(content: dict[str, object]) -> None:
    """However long or broken the content is."""
    line = headline(content, 40)
    assert len(line) <= 40
    assert "\n" not in line


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=30))
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    """Marked or not, nothing is lost on either side."""
    [change] = changes({"statement": before}, {"statement": after})
    for shown, text in ((change.before, before), (change.after, after)):
        assert read(re.sub("</?(del|ins)>", "", str(shown))) == text


def test_a_difference_marks_words() -> None:
    """And names what is added or gone."""
    found = changes({"drink": "green tea", "cups": 1}, {"drink": "black tea", "sugar": True})
    assert [(each.field, each.kind) for each in found] == [
        ("drink", "changed"),
        ("sugar", "added"),
        ("cups", "removed"),
    ]
    assert found[0].after == "<ins>black</ins> tea"


def test_a_long_text_is_compared_as_a_whole() -> None:
    """Word by word takes the square of their number."""
    [change] = changes({"text": "a " * 50_000}, {"text": "b " * 50_000})
    assert str(change.after).count("<ins>") == 1
