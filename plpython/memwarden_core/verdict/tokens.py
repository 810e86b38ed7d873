"""What the judge of two memories takes a chunk of text for: an amount, a date, a short form."""

from __future__ import annotations

import re

from ..language.words import word_set

ORDINALS = {
    "1st": "first",
    "2nd": "second",
    "3rd": "third",
    "4th": "fourth",
    "5th": "fifth",
    "6th": "sixth",
    "7th": "seventh",
    "8th": "eighth",
    "9th": "ninth",
    "10th": "tenth",
}
ABBREVIATIONS = word_set(
    """
    mr mrs ms dr prof rep sen gov gen lt col capt sgt st jr sr inc corp ltd co vs etc no approx
    jan feb mar apr jun jul aug sep sept oct nov dec fig vol dept univ est ave rd e.g i.e
    """
)
EDGES = "\"'()[]{}<>,;:.!?*_`\u201c\u201d\u2018\u2019\u2026"
AMOUNT = re.compile(
    r"([-+]?)([$€£]?)(\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(\.\d{1,18})?([^\W\d]{0,12}|%)"
)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
INSIDE = re.compile(r"[-/\u2010-\u2015_]+")
PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2212": "-"})
SPEAKER = re.compile(r"([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}): (?=\S)")
"""The name before what somebody says: "Ana: I live in Rome"."""
