# ruff: noqa: E501 - a pattern is easier to read whole
"""Shipped rules for numbers that the state or a bank gives out."""

from __future__ import annotations

from ...light import Any
from .national import NATIONAL_RULES


def _named(
    name: str,
    pattern: str,
    words: list[str],
    positive: list[str],
    negative: list[str],
    **members: Any,
) -> dict[str, Any]:
    """A rule for numbers without a checksum: only where the text names them, and only flagged."""
    return {
        "id": f"pii.{name}",
        "version": 1,
        "kind": f"pii.{name}",
        "level": "suspicious",
        "action": "flag",
        "score": 0.7,
        "pattern": pattern,
        "context": words,
        "within": 25,
        "prefilter": [word.rstrip("*") for word in words],
        "tests": {"positive": positive, "negative": negative},
        **members,
    }


ID_RULES: list[dict[str, Any]] = [
    {
        "id": "pii.card",
        "version": 1,
        "kind": "pii.card",
        "level": "high",
        "action": "block",
        "detector": "card",
        "prefilter_pattern": r"[0-9](?:[ .\-/_,|*\t\r\n]{0,3}[0-9]){11}",
        "tests": {
            "positive": [
                "Card 4012888888881881",
                "pay with 5105-1051-0510-5100 please",
                "amex 3782 822463 10005",
                "UATP card 122000000000003",
                "Kartennummer: 9999 4444 2222 3333",
                "my card is 4012 8888\n8888 1881",
            ],
            "negative": [
                "Card 4012888888881882",
                "Order number 4012888888881881",
                "trace 94012888888881881",
                "The job saw 122000000000003 rows",
                "SIM card 8944110068256270054",
            ],
        },
    },
    {
        "id": "pii.iban",
        "version": 1,
        "kind": "pii.iban",
        "level": "high",
        "action": "block",
        "detector": "iban",
        "prefilter_pattern": r"(?-i:^|[^A-Za-z0-9])[A-Z]{2} ?[0-9]{2}[ \-]?[A-Z0-9]{4}",
        "tests": {
            "positive": [
                "GB82 WEST 1234 5698 7654 32",
                "IBAN: DE89370400440532013000",
                "fr14 2004 1010 0505 0001 3m02 606",
            ],
            "negative": [
                "GB82 WEST 1234 5698 7654 33",
                "DE8937040044053201300",
                "Flight GB82 to Western Samoa",
            ],
        },
    },
    {
        "id": "pii.ssn",
        "version": 1,
        "kind": "pii.ssn",
        "level": "high",
        "action": "block",
        "detector": "ssn",
        "prefilter_pattern": r"[0-9]{3}[\- .]?[0-9]{2}[\- .]?[0-9]{4}",
        "tests": {
            "positive": [
                "SSN 078-05-1120",
                "my social security number is 219 09 9999",
                "Values 321-54-9876 and others",
            ],
            "negative": [
                "000-12-3456",
                "Part 321-54-9876-B",
                "call 321-549-8760",
                "Order 321549876",
            ],
        },
    },
    *NATIONAL_RULES,
    _named(
        "national_insurance",
        r"\b([A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d])\b",
        ["national insurance", "nino", "ni number", "ni no"],
        [
            "NINO AE123456C",
            "National Insurance number: JG 12 13 16 A",
            "Her NI number is AB123456D.",
        ],
        ["Room AE123456C", "NINO: pending", "National insurance rose by 2 percent in 2024."],
        level="high",
        action="block",
        kind="pii.national_id",
        within=30,
    ),
    _named(
        "passport",
        r"\b([A-Za-z]{0,2}[0-9]{6,9})\b",
        [
            "passport",
            "passport no",
            "passport number",
            "reisepass*",
            "passeport",
            "pasaporte",
            "passaporto",
            "paspoort",
        ],
        ["Passport number: X1234567", "passport no. 925665416", "Reisepassnummer C01234567"],
        [
            "Passport renewal takes six weeks.",
            "Order X1234567",
            "Passports were issued to 120 people.",
        ],
    ),
    _named(
        "driver_license",
        r"\b([A-Za-z]{1,2}[0-9]{5,12}|[A-Za-z][0-9]{3}-[0-9]{4}-[0-9]{4}|[A-Za-z]{5}[0-9]{6}[A-Za-z0-9]{5})\b",
        [
            "driver's license",
            "drivers license",
            "driver license",
            "driving licence",
            "driver's licence",
            "driving license",
            "dl number",
            "licence no",
            "license number",
            "f\u00fchrerschein*",
        ],
        ["driver's license D1234567", "Driving licence: MORGA657054SM9IJ", "DL number A12345678"],
        ["driver's license expired in 2024", "Part D1234567", "The license number is on the box."],
    ),
    _named(
        "vat",
        r"\b((?:AT ?U|BE ?0|DE|FR ?[0-9A-Z]{2}|IT|NL|ES|PL|CHE-?|GB) ?[0-9]{8,11})\b",
        [
            "ust-id*",
            "ust id*",
            "ustid*",
            "ust-idnr",
            "vat",
            "vat id",
            "umsatzsteuer*",
            "tva",
            "mwst*",
            "btw",
            "p.iva",
            "partita iva",
            "steuernummer",
        ],
        ["USt-IdNr DE 136695976", "VAT: GB 980780684", "TVA FR83404833048"],
        ["VAT is 19 percent", "Flight DE 123456789", "USt-IdNr fehlt"],
        within=20,
    ),
    _named(
        "bank_account",
        r"\b([0-9]{2,4}(?:[- ]?[0-9]{2,5}){1,4})\b",
        [
            "account number",
            "account no",
            "acct",
            "bank account",
            "kontonummer",
            "konto-nr",
            "routing number",
            "sort code",
            "cuenta bancaria",
            "num\u00e9ro de compte",
        ],
        ["Account number: 0012345678", "sort code 20-00-00", "Kontonummer 532013000"],
        ["The account number is printed on the card.", "We have 12345678 rows", "Accounts: 12"],
        prefilter=[
            "account n",
            "acct",
            "bank account",
            "konto",
            "routing",
            "sort code",
            "cuenta",
            "compte",
        ],
        validator="digits>=6",
    ),
]
