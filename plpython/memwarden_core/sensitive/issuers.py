"""Which numbers payment schemes give out: their first digits and lengths.

A number of these ranges with a right check digit is a card wherever it stands. The schemes' widest
ranges are left out, such as Maestro's whole 6 and the 1 of UATP: a tenth of all numbers passes the
check, so there the text must speak of a card.
"""

from __future__ import annotations

_LONG = (16, 17, 18, 19)
_MAESTRO = (12, 13, 14, 15, 16, 17, 18, 19)
_DINERS = (14, 16, 17, 18, 19)

# (first, last, lengths): first digits of the ranges that the payment schemes publish.
_RANGES: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("4", "4", (13, 16, 19)),  # Visa, and Elo's and Dankort's numbers beginning with it
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", _DINERS),  # Diners Club
    ("309", "309", _DINERS),
    ("36", "36", _DINERS),
    ("38", "39", _DINERS),
    ("6011", "6011", _LONG),  # Discover
    ("644", "649", _LONG),
    ("65", "65", _LONG),
    ("3528", "3589", _LONG),  # JCB
    ("2131", "2131", (15,)),
    ("1800", "1800", (15,)),
    ("62", "62", _LONG),  # UnionPay
    ("81", "81", _LONG),
    ("2200", "2204", _LONG),  # Mir
    ("2205", "2205", (16,)),  # Borica
    ("60", "60", (16,)),  # RuPay, Hipercard, Cabal
    ("82", "82", (16,)),
    ("508", "508", (16,)),
    ("506099", "506198", (16, 18, 19)),  # Verve
    ("507865", "507964", (16, 18, 19)),
    ("9792", "9792", (16,)),  # Troy
    ("504175", "504175", (16,)),  # Elo
    ("506699", "506778", (16,)),
    ("509000", "509999", (16,)),
    ("627780", "627780", (16,)),
    ("501105", "501105", (16,)),  # Argencard
    ("589562", "589562", (16,)),  # Naranja
    ("589657", "589657", (16,)),  # Cabal
    ("507803", "507803", (16,)),  # Meeza
    ("507808", "507810", (16,)),
    ("8600", "8600", (16,)),  # UzCard
    ("9860", "9860", (16,)),  # Humo
    ("636", "639", _LONG),  # InterPayment, InstaPayment, Maestro, Elo
    ("5018", "5018", _MAESTRO),  # Maestro
    ("5020", "5020", _MAESTRO),
    ("5038", "5038", _MAESTRO),
    ("5893", "5893", _MAESTRO),
    ("6304", "6304", _MAESTRO),
    ("6759", "6763", _MAESTRO),
    ("6767", "6767", _MAESTRO),
    ("6706", "6706", _LONG),  # Laser
    ("6709", "6709", _LONG),
    ("6771", "6771", _LONG),
    ("5019", "5019", (16,)),  # Dankort
    ("5610", "5610", (16,)),  # Bankcard
    ("560221", "560225", (16,)),
    ("604001", "604204", _LONG),  # UkrCard
)


def is_issued(digits: str) -> bool:
    """Whether a scheme gives out numbers that begin so and are so long."""
    size = len(digits)
    return any(
        size in lengths and first <= digits[: len(first)] <= last
        for first, last, lengths in _RANGES
    )
