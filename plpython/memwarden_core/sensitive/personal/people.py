# ruff: noqa: E501 - a pattern is easier to read whole
"""Where people can be found: e-mail addresses, dates of birth, postal addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from ...late import late
from ..context import Words, near
from ..findings import Hit

_LONGEST_LOCAL = 64
_LAST_LATIN = "\u024f"
_DOMAIN = late(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.){1,8}(?:[Xx][Nn]--[A-Za-z0-9\-]{2,59}|[A-Za-z]{2,24})"
    r"(?![A-Za-z])"
)
_WIDE_DOMAIN = late(r"(?:[^\W_](?:[\w\-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}")
_NO_TLD = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "pdf",
        "js",
        "ts",
        "css",
        "html",
        "htm",
        "json",
        "md",
        "py",
        "rb",
        "txt",
        "yml",
        "yaml",
        "zip",
        "tgz",
        "gz",
    ]
)
_NOT_PEOPLE = frozenset(["git"])


def emails(text: str, lower: str) -> Iterator[Hit]:
    """Yield e-mail addresses, and `name (at) host (dot) org` written out with brackets or words."""
    at = text.find("@")
    while at >= 0:
        hit = _email_at(text, at)
        if hit:
            yield hit
        at = text.find("@", at + 1)
    if "dot" in lower or "punkt" in lower or "(at)" in lower or "[at]" in lower:
        for match in _WRITTEN_OUT.finditer(lower):
            yield Hit(match.start(), match.end(), 0.8)


def _email_at(text: str, at: int) -> Hit | None:
    start = _local_start(text, at)
    if start == at or (start > 0 and text[start - 1] in "@/"):
        return None
    domain = _DOMAIN.match(text, at + 1)
    if domain is None:
        domain = _WIDE_DOMAIN.match(text, at + 1)
        if domain is None or domain[0].isascii():
            return None
    ending = domain[0].rpartition(".")[2].lower()
    if ending in _NO_TLD or (text[start:at] in _NOT_PEOPLE and text[domain.end() :][:1] == ":"):
        return None
    return Hit(start, domain.end(), 0.95)


def _local_start(text: str, at: int) -> int:
    """Where the part before the `@` begins; text of another script before ASCII is not of it."""
    start = at
    ascii_only = at > 0 and text[at - 1].isascii()
    while start > 0 and at - start < _LONGEST_LOCAL:
        c = text[start - 1]
        if not (c.isalnum() or c in "._+-%'") or (ascii_only and c > _LAST_LATIN):
            break
        if c == "." and text[start] == ".":
            break
        start -= 1
    while start < at and text[start] in ".'-%":
        start += 1
    return at if start < at and text[at - 1] == "." else start


_AT = r"[ ]{0,2}(?:\(at\)|\[at\]|\{at\}|<at>)[ ]{0,2}"
_DOT = r"[ ]{0,2}(?:\(dot\)|\[dot\]|\{dot\}|<dot>|\(punkt\)|\[punkt\])[ ]{0,2}"
_ENDINGS = (
    r"(?:com|org|net|edu|gov|io|ai|co|dev|app|info|me|de|uk|fr|it|es|nl|ch|at|eu|us|ca|au|in|jp|br)"
)
_WRITTEN_OUT = late(
    rf"(?<![\w.+\-])[\w.+\-]{{1,64}}{_AT}(?:[a-z0-9\-]{{1,63}}(?:{_DOT}|\.| dot )){{1,4}}[a-z]{{2,24}}(?![\w])"
    rf"|(?<![\w.+\-])[\w.+\-]{{1,64}} at (?:[a-z0-9\-]{{1,63}}(?:{_DOT}| dot )){{1,4}}{_ENDINGS}(?![\w])"
    rf"|(?<![\w.+\-])[\w.+\-]{{1,64}}@(?:[a-z0-9\-]{{1,63}}(?:{_DOT}| dot )){{1,4}}{_ENDINGS}(?![\w])"
)

_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = late(
    r"(?<![\w./\-])(?:"
    r"(?P<y>(?:19|20)[0-9]{2})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})"
    r"|(?P<a>[0-9]{1,2})[-/.](?P<b>[0-9]{1,2})[-/.](?P<c>(?:19|20)?[0-9]{2})"
    rf"|{_MONTHS}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)[0-9]{{2}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{_MONTHS}\.?,? (?:19|20)[0-9]{{2}}"
    r")(?![\w\-]|[./][0-9])"
)
_BORN = Words(
    ["dob", "d.o.b", "date of birth", "birth date", "birthdate", "born", "birthday", "geburtsdatum",
     "geboren", "date de naissance", "né le", "née le", "fecha de nacimiento", "nacido", "nacida",
     "data di nascita", "geboortedatum", "data de nascimento", "date_of_birth"]
)  # fmt: skip


def births(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield dates that the text calls somebody's birth."""
    for match in _DATE.finditer(lower):
        if near(_BORN, lower, *match.span(), 24, 0) and _is_date(match):
            yield Hit(match.start(), match.end(), 0.85)


def _is_date(match: re.Match[str]) -> bool:
    if match["y"]:
        return _exists(int(match["y"]), int(match["m"]), int(match["d"]))
    if match["a"]:
        first, second, year = int(match["a"]), int(match["b"]), int(match["c"])
        year += 1900 if year < 100 else 0
        return _exists(year, first, second) or _exists(year, second, first)
    return True


def _exists(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Way"
    r"|Square|Sq|Parkway|Pkwy|Circle|Cir|Highway|Hwy|Close|Crescent|Row|Mews|Gardens|Alley)"
)
_NAME = r"(?:[A-Z][a-z'\u2019]{1,20}|[0-9]{1,3}(?:st|nd|rd|th)|[NSEW]\.?)"
_ADDRESS = late(
    rf"(?<![\w.,$#\-])[0-9]{{1,5}}[A-Za-z]? {_NAME}(?: {_NAME}){{0,3}} {_STREET}(?!\w)\.?"
    r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|#)\.? ?[0-9A-Za-z]{1,5}(?!\w))?"
    r"(?:, [A-Z][A-Za-z.' ]{1,30}){0,2}(?:,? [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?)?"
    r"|(?<!\w)[A-Z\u00c4\u00d6\u00dc][\w\-]{1,30}(?:stra(?:\u00df|ss)e|str\.|weg|allee|platz|gasse) [0-9]{1,4}[a-z]?(?!\w)"
    r"(?:,? [0-9]{5} [A-Z]\w{1,30})?"
)
_LIVES = Words(
    ["address", "lives", "live", "living", "lived", "home", "house", "resid*", "ship to", "deliver*", "mail*",
     "moved", "moving", "wohn*", "adresse", "anschrift", "direcci*", "apartment", "apt", "zip", "postcode"]
)  # fmt: skip
_ZIP = late(r"[0-9]{5}")


def addresses(text: str, lower: str) -> Iterator[Hit]:
    """Yield street addresses that the text calls an address, or that carry a postal code."""
    if text == lower:
        # Each has a capital letter.
        return
    for match in _ADDRESS.finditer(text):
        if near(_LIVES, lower, *match.span(), 40, 20) or _ZIP.search(match[0]):
            yield Hit(match.start(), match.end(), 0.7)
