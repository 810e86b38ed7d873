"""The small words of English, as the judge of two memories takes them."""

from __future__ import annotations

from enum import IntEnum

from ..language.denials import DENIALS
from ..language.words import BREAK, HEDGE, STOP, word_set


class Kind(IntEnum):
    """What a word that is not weighed does to those around it."""

    SKIP = 0
    DENY = 1
    HEDGE = 2
    BREAK = 3
    NOW = 4
    PAST = 5


# Said of the time of a statement, not of its matter.
_NOW_WORDS = word_set("now currently nowadays presently today recently lately anymore already")
_PAST_WORDS = word_set("formerly previously former ex originally initially")
CHANGE = _NOW_WORDS | word_set(
    """
    since longer henceforth instead changed switched moved became updated replaced upgraded renamed
    promoted transferred relocated migrated newly latest starting effective becomes changes
    moves switches replaces joined stopped quit resigned retired
    """
)
"""Words that tell of a change, or that something holds from some time on."""
REPORTS = word_set(
    "said says told tells me us thinks thought believes dreamt dreamed imagines wishes claims heard"
)
"""Before "that" and before a quotation: what follows is somebody's words, or a dream."""
BEARING = word_set(
    """
    from to into onto in on at by of for with i me my mine we us our you your he him his she her
    they them their was were had will shall who whom whose
    """
)
"""Words that are not weighed, and without which two texts say something else."""
MUTE = frozenset({"both", "there", "too", "any", "ever", "once"})
FUNCTION = (
    dict.fromkeys(STOP | MUTE, Kind.SKIP)
    | dict.fromkeys(DENIALS, Kind.DENY)
    | dict.fromkeys(HEDGE, Kind.HEDGE)
    | dict.fromkeys(BREAK, Kind.BREAK)
    | dict.fromkeys(_NOW_WORDS, Kind.NOW)
    | dict.fromkeys(_PAST_WORDS, Kind.PAST)
)
ENGLISH = word_set(
    """
    the is are of and to for with has had have were been his she they their this that these from by
    at it its you your we our my not and about who which where when after before while does
    lives lived works worked born called married graduated studied years
    """
)
"""A sentence with none of these may be in another language, whose small words are not known."""
