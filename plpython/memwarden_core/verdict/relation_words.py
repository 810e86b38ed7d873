"""English words by the relation that they tell of: to speak and to be fluent, to like and a fan.

General words about people. ``!`` before a line: who does it does not do what the line is about.
"""

from __future__ import annotations

from ..language.words import stem, word_set

_RELATIONS = """
speak|speak speaks spoke fluent bilingual multilingual
like|like prefer love enjoy adore avid fan passion passionate hobby keen enthusiast enthusiastic
+ relish fond interest interested
!like|dislike hate detest loathe despise
part|participate participates participation participant attend attendance attendee volunteer
+ involved involvement experience engage join joins joined
travel|travel visit trip journey travelled traveling travelling
field|specialize specialise specialist specializing specialising expertise
known|known renowned famous recognized recognised noted
favour|advocate proponent supporter champion promote support
!favour|oppose opponent critic reject
lead|lead leads led leader head organize organise run direct director conduct conductor manage
+ manager coordinate
work|work worked employed employee serve
write|write writes author published publish
teach|teach teaches teacher taught instruct instructor mentor lecture
study|study studied studies
award|win receive received receives
have|own owns owner possess
native|born native birthplace
live|live lives lived reside resident residing based hometown residence
married|married spouse wife husband
employer|employer
profession|profession occupation job
eat|eat drink consume
background|background
meet|met meet
found|founded founder cofounded cofounder co-founded
"""
_JOINED = _RELATIONS.replace("\n+", "")


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


def _tables() -> tuple[dict[str, str], frozenset[str]]:
    relations: dict[str, str] = {}
    against = set()
    for line in _JOINED.strip().split("\n"):
        name, words = line.split("|")
        keys = set(map(stem, words.split()))
        if name.startswith("!"):
            against |= keys
        relations.update(dict.fromkeys(keys, name.lstrip("!")))
    return relations, frozenset(against)


RELATIONS, AGAINST = _tables()
"""For the stem of a word its relation; and those that say that it is not so."""


NOUNS = _stems(
    """
    fluent avid fan passion hobby keen enthusiast fond expert expertise specialist advocate
    proponent supporter champion opponent critic leader head director conductor manager author
    teacher instructor mentor owner native resident background founder cofounder participant
    volunteer involved involvement experience interest interested known renowned famous employed
    based born
    married member
    """
)
"""Those that a form of "to be" stands before."""
SINGLE_RELATIONS = word_set("field native live married background")
"""Of these somebody has one at a time."""
ONCE = word_set("meet found")
"""What happens once between the same people, or to one thing."""
OWNED = word_set("married employer profession native live")
"""Relations that a noun behind an owner tells: "Ana's husband is ..."."""
ROLES = _stems(
    "ceo cto cfo president chairman chairwoman chair mayor captain headmaster owner treasurer king"
    " queen"
)
"""Of something only one is that."""
ALSO_DENIED = frozenset({("eat", "like")})
"""Who does not do the first does not do the second."""
HOMELY = _stems("home outside abroad country")
"""Words behind "never travelled" that say no more than that."""
ONLY = word_set("only exclusively solely entirely strictly purely")
MAINLY = word_set("primarily mainly chiefly especially mostly best")
VAGUE = _stems(
    """
    any anything anyone activity event form kind type sort other others thing something at ever
    all various several many numerous multiple local regular regularly frequent frequently often
    actively related matter topic initiative program programme project effort work new one some
    both few own personal such
    """
)
"""Words of an object that hardly narrow it."""
FRAMES = _stems("titled named entitled called")
"""Behind these stands the name of what is spoken of."""
SCHOOLS = _stems("university college school")
DEGREES = _stems(
    "degree bachelor master doctorate phd diploma graduate graduated university college"
)
GETS = _stems("receive earn hold have obtain complete graduate get")

# What is a kind of what, where the groups of words do not know it.
_KINDS = """
outdoor outdoors outside nature|hike hiker trek camp climb mountaineer birdwatch kayak canoe ski
+ surf fish garden jog run cycle trail park mountain wilderness sail hunt forage
indoor indoors|read paint knit chess cook bake puzzle sew crochet
sport athletics|football soccer tennis basketball run marathon swim cycle golf hockey rugby
seafood|fish sushi shrimp salmon tuna crab lobster oyster prawn
meat|beef pork chicken lamb steak bacon ham sausage burger
alcohol|wine beer whisky whiskey vodka rum gin cocktail champagne
dairy|milk cheese yogurt butter cream
sweet|chocolate cake candy dessert cookie
pet animal|dog cat puppy kitten rabbit hamster parrot horse
sibling|brother sister
child|son daughter
parent|mother father
abroad overseas foreign|country
music|guitar piano violin concert song opera jazz
"""


def _kinds() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _KINDS.replace("\n+", "").strip().split("\n"):
        wide, narrow = map(_stems, line.split("|"))
        for word in narrow:
            found[word] = found.get(word, frozenset()) | wide
    return found


KINDS = _kinds()
