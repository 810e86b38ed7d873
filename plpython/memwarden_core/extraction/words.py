"""What extraction knows of English: verbs that tell of a state, and words that take it back."""

from __future__ import annotations

from ..language.words import word_set

LIKES = {
    "prefer": "prefers",
    "favour": "prefers",
    "favor": "prefers",
    "like": "likes",
    "love": "likes",
    "enjoy": "likes",
    "adore": "likes",
    "hate": "dislikes",
    "dislike": "dislikes",
    "detest": "dislikes",
    "despise": "dislikes",
    "loathe": "dislikes",
}
"""Verbs of liking, and what they come to."""

OPPOSITE = {"likes": "dislikes", "dislikes": None, "prefers": None}
"""What is said by denying it. Not to dislike is nothing to remember."""

STATES = {
    # What has one value at a time is a key.
    "live in": "lives in",
    "live at": "lives at",
    "reside in": "lives in",
    "work at": "works at",
    "work for": "works for",
    "work as": "works as",
    "come from": "comes from",
    "was born in": "was born in",
    "was born on": "was born on",
    "grew up in": "grew up in",
    "graduated from": "graduated from",
    "moved to": "moved to",
    "report to": "reports to",
}
"""States of which somebody has one: their predicate is a key."""

HABITS = {
    "own": "owns",
    "speak": "speaks",
    "study": "studies",
    "teach": "teaches",
    "play": "plays",
    "practise": "practises",
    "practice": "practises",
    "volunteer": "volunteers",
    "collect": "collects",
    "drive": "drives",
    "use": "uses",
    "manage": "manages",
    "run": "runs",
    "work in": "works in",
    "work with": "works with",
    "work on": "works on",
    "live with": "lives with",
    "belong to": "belongs to",
    "suffer from": "suffers from",
    "specialise in": "specialises in",
    "specialize in": "specialises in",
    "avoid": "avoids",
    "eat": "eats",
    "drink": "drinks",
    "wear": "wears",
}
"""States of which somebody may have many: each is a memory of its own."""

ATTRIBUTES = word_set(
    """
    address age allergy background birthday boss brother budget car cat children city colleague
    company contact country cousin daughter deadline degree diet dog email employer father fiance
    fiancee goal hobby hometown house husband job kids landlord language major manager mentor
    mother nickname name number occupation partner passion pet phone position profession pronouns
    religion role school sister size son spouse stack team timezone title username wife
    """
)
"""What people have one of and would be asked for."""

SUPERLATIVE = word_set(
    "favourite favorite preferred native main first best biggest dream middle last full"
)

CONDITIONS = word_set(
    """
    allergic bilingual bisexual blind celiac coeliac colour-blind deaf diabetic divorced engaged gay
    intolerant left-handed lesbian married nonbinary pregnant retired single trans transgender
    unemployed vegan vegetarian widowed
    """
)
"""Adjectives for what somebody is for long."""

SUPPOSED = word_set(
    """
    if would wouldn't i'd we'd wish wished maybe perhaps might could should unless imagine suppose
    pretend whether probably possibly almost nearly hopefully hope guess wonder wondering kidding
    joking used supposed
    """
)
"""A clause with one of these says nothing that is so now."""

POINTING = word_set(
    """
    it that this them those these him her you there here so what how when where all everything
    something anything one ones mine yours hers his theirs to your its such
    """
)
"""What begins with one of these is understood only there and then."""

FLEETING = word_set(
    """
    now today tonight tomorrow yesterday currently lately recently soon later moment week weekend
    month morning afternoon evening
    """
)
"""What is said with one of these may not last."""

FADING = word_set("too also though lol haha anyway honestly really right yeah always tbh")
"""What a sentence trails off with."""

VAGUE = word_set("big bit bunch fan huge little lot mess mix ton wreck")
"""I'm a mess: that says nothing of what somebody is."""

PASSING = word_set(
    """
    bit blast bunch chance couple day favor favour feeling few fun good great hard idea image long
    look lot meeting nice photo pic picture plan point problem question rough surprise time ton
    tough video
    """
)
"""What somebody has for an hour."""

ENDEAVOURS = word_set("dreaming feeling going hoping looking meaning thinking trying waiting")
"""What somebody has been doing without anything being so for it."""

NO_CONTRAST = word_set(
    "always because found going gonna have just only quite really sure that to yet"
)
"""What stands behind "not" where nothing else is put in its place."""
