# ruff: noqa: E501 - a pattern is easier to read whole
"""Numbers with a shape or a checksum: IBANs, social security numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..context import Words, is_ascii_alnum, near
from ..findings import Hit
from ..validators import IBAN_LENGTHS, is_iban

# Numbers that are named as something else.
OTHER_NUMBERS = (
    "order", "orders", "invoice", "tracking", "shipment", "parcel", "serial", "part", "sku", "imei",
    "ticket", "case", "ref", "reference", "transaction id", "inventory", "item", "product", "model",
    "isbn", "ean", "upc", "barcode", "version", "build", "revision", "commit", "hash", "checksum",
    "timestamp", "epoch", "request id", "trace id", "session id", "batch", "lot", "bestellnummer",
    "rechnung", "po", "asset", "device id", "job", "run", "issue", "patent", "catalog*", "facture",
    "commande", "pedido", "factura", "tweet", "message id", "record", "row", "rows", "bytes",
    "population", "zip", "uuid", "guid", "doi", "arxiv", "pmid", "flight", "booking", "confirmation",
)  # fmt: skip

_IBAN_HEAD = late(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ ]?[0-9]{2}(?=[ \-]?[A-Za-z0-9])")


def ibans(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield IBANs, compact or in groups: as many characters as the country has, and the checksum."""
    for head in _IBAN_HEAD.finditer(text):
        length = IBAN_LENGTHS.get(head[0][:2].upper())
        if length is None:
            continue
        place, count = head.start(), 0
        while place < len(text) and count < length:
            if is_ascii_alnum(text, place):
                count += 1
            elif text[place] not in " -.\t\u00a0" or not is_ascii_alnum(text, place + 1):
                break
            place += 1
        if (
            count == length
            and not is_ascii_alnum(text, place)
            and is_iban(text[head.start() : place])
        ):
            yield Hit(head.start(), place, 0.98)


_SSN = late(r"(?<![0-9\-])([0-9]{3})([- .]?)([0-9]{2})\2([0-9]{4})(?![0-9])(?!-[0-9A-Za-z])")
_SSN_WORDS = Words(
    ["ssn", "ssns", "ssn#", "social security*", "social", "soc sec*", "itin", "tin", "taxpayer id*",
     "tax id*", "sozialversicherung*"]
)  # fmt: skip
_SSN_OTHER = Words([*OTHER_NUMBERS, "phone", "fax", "ext", "account", "routing"])
_MAIL_BEFORE = late(r"@[A-Za-z0-9.-]{1,253}\.[A-Za-z]{2,24}\Z")
_ITIN_GROUPS = frozenset([*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)])


def social_security(text: str, lower: str) -> Iterator[Hit]:
    """Yield US social security and taxpayer numbers.

    With dashes the shape is enough; run together or with other separators only where the text
    names it. Areas 000 and 666, group 00 and serial 0000 were never issued.
    """
    for match in _SSN.finditer(text):
        start, end = match.span()
        area, group, serial = match[1], match[3], match[4]
        if area in ("000", "666") or group == "00" or serial == "0000":
            continue
        if is_ascii_alnum(text, start - 1) and not _MAIL_BEFORE.search(
            text, max(0, start - 280), start
        ):
            continue
        if is_ascii_alnum(text, end) or text[end : end + 1] == "_":
            continue
        if start > 1 and text[start - 1] in ".,/" and text[start - 2].isdigit():
            continue
        named = near(_SSN_WORDS, lower, start, end, 40, 20)
        if match[2] != "-" and not named:
            continue
        if not named and near(_SSN_OTHER, lower, start, end, 30):
            continue
        if area[0] == "9" and int(group) not in _ITIN_GROUPS and not named:
            continue
        yield Hit(start, end, 0.95 if named else 0.85)
