"""Numbers, units and months, as the judge of evidence reads them."""

from __future__ import annotations

_DIGITS = """
    zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_TENS = """
    dozen:12 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100
    thousand:1000 million:1000000
"""
NUMBERS = {word: number for number, word in enumerate(_DIGITS.split()) if word != "-"} | {
    word: int(number) for word, number in (pair.split(":") for pair in _TENS.split())
}

# Each unit in the first of its kind.
_UNITS = {
    "time": """
        ms:0.001 millisecond:0.001 milliseconds:0.001 s:1 sec:1 secs:1 second:1 seconds:1 min:60
        mins:60 minute:60 minutes:60 h:3600 hr:3600 hrs:3600 hour:3600 hours:3600 day:86400
        days:86400 week:604800 weeks:604800
    """,
    "month": """
        month:1 months:1 year:12 years:12
    """,
    "size": """
        byte:1 bytes:1 b:1 kb:1000 kib:1024 mb:1000000 mib:1048576 gb:1000000000 gib:1073741824
        tb:1000000000000 tib:1099511627776
    """,
    "share": """
        %:1 percent:1
    """,
    "length": """
        mm:0.001 cm:0.01 m:1 metre:1 metres:1 meter:1 meters:1 km:1000 kilometre:1000
        kilometres:1000 kilometer:1000 kilometers:1000 mile:1609.34 miles:1609.34
    """,
    "weight": """
        g:0.001 gram:0.001 grams:0.001 kg:1 kilogram:1 kilograms:1 tonne:1000 tonnes:1000
    """,
    "usd": """
        $:1 usd:1 dollar:1 dollars:1
    """,
    "eur": """
        €:1 eur:1 euro:1 euros:1
    """,
    "gbp": """
        £:1 gbp:1 pound:1 pounds:1
    """,
    "celsius": """
        °c:1 celsius:1
    """,
    "fahrenheit": """
        °f:1 fahrenheit:1
    """,
}
UNITS: dict[str, tuple[str, float]] = {
    name: (kind, float(factor))
    for kind, units in _UNITS.items()
    for name, factor in (unit.rsplit(":", 1) for unit in units.split())
}

_MONTHS = """
    january,jan february,feb march,mar april,apr may june,jun july,jul august,aug
    september,sep,sept october,oct november,nov december,dec
"""
MONTHS = frozenset(name for names in _MONTHS.split() for name in names.split(","))
