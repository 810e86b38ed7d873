"""Pairs of our own for the gates: two things in the same words, and newer values of one thing.

A gate that takes a word for another value of one thing loses a memory here. Everything is made
from the lists below, in the same order every time.
"""

from __future__ import annotations

from itertools import product

from memwarden.evaluation.gates.corpus import Pair

# Two things that only their names tell apart: numbers, names, owners, kinds, places.
_ENGLISH = """
Customer 1|Customer 2
Ticket 17|Ticket 18
Room 12|Room 13
Invoice A-100|Invoice A-101
Ana|Bruno
Chen Wei|Li Na
Project Orion|Project Vega
The printer|The scanner
The kitchen|The bathroom
The red team|The blue team
The first batch|The second batch
Ana's laptop|Bruno's laptop
My sister|My brother
The office in Rome|The office in Oslo
"""
_ENGLISH_WORDS = """
{} moved to the Pro plan.
{} is no longer open.
{} is now red.
{} joined the search team.
{} became the main contact.
{} has recently been replaced.
{} stopped working on Monday.
{} switched to German.
The latest report about {} is ready.
{} was renamed Falcon.
{} does not work anymore.
Since May, {} has been closed.
{} is open.
{} has 3 keys.
{} costs 30 euros.
{} upgraded to version 5.
{} lives in Paris now.
{} currently runs on Linux.
"""
_OTHERS = (
    (
        "Kunde 1|Kunde 2\nAna|Bruno\nDer Drucker|Der Scanner\nMein Bruder|Mein Onkel\n"
        "Raum 12|Raum 13",
        "{} ist jetzt offen.\n{} ist nicht mehr offen.\n{} ist nach Berlin gezogen.\n"
        "{} wurde kürzlich ersetzt.\n{} hat jetzt 3 Schlüssel.",
    ),
    (
        "Le client 1|Le client 2\nAna|Bruno\nLa porte|La fenêtre\nMon frère|Mon oncle",
        "{} est maintenant ouvert.\n{} n'est plus ouvert.\n{} a déménagé à Lyon.\n"
        "{} est devenu membre.",
    ),
    (
        "El cliente 1|El cliente 2\nAna|Bruno\nLa puerta|La ventana\nMi hermano|Mi tío",
        "{} ahora está abierto.\n{} ya no está abierto.\n{} se mudó a Madrid.\n{} tiene 3 llaves.",
    ),
)
# What there is one of, and an older and a newer value of it.
_ONE_THING = (
    (
        "The north gate|The garden door|Our shop|The lift in the annex|Ana's office|Room 12",
        "is open:is now closed|is closed:is open|is clean:is dirty now|is empty:is now full"
        "|is open:is not open",
    ),
    (
        "The deadline of the audit|Our deadline|The deadline for Orion",
        "is on Monday:is now on Friday|is in May:is in June|is on 3 May:is on 5 May",
    ),
    ("Our budget|The price of the ticket", "is 300 euros:is now 400 euros|is 20 euros:is 25 euros"),
    ("Ana|Alice Brown|My brother", "is tall:is short|lives in Paris:moved to Berlin"),
    ("Ana|My brother|Alice Brown", "smokes:does not smoke|eats fish:does not eat fish"),
    ("Ana's car|My bicycle|The front door", "is red:is now blue|is green:is white"),
    ("The lift|The backup|The pump", "is running:is not running|is fast:is slow"),
)


def other_things() -> list[Pair]:
    """Pairs about two things: neither may replace, end or refuse the other."""
    pairs = []
    for names, wordings in ((_ENGLISH, _ENGLISH_WORDS), *_OTHERS):
        for line, wording in product(names.strip().split("\n"), wordings.strip().split("\n")):
            one, other = (wording.format(_inside(name, wording)) for name in line.split("|"))
            pairs += [Pair(new, old, "other thing") for old, new in ((one, other), (other, one))]
    return pairs


def _inside(name: str, wording: str) -> str:
    """A name as it stands where it does not begin the sentence."""
    article = name.startswith(("The ", "My "))
    return name[0].lower() + name[1:] if article and not wording.startswith("{}") else name


def corrections() -> list[Pair]:
    """Pairs in which the second is the newer value of the same thing."""
    pairs = []
    for things, values in _ONE_THING:
        for thing, value in product(things.split("|"), values.split("|")):
            before, after = value.split(":")
            pairs.append(Pair(f"{thing} {after}.", f"{thing} {before}.", "correction"))
    return pairs
