"""What a thing has one of."""

from __future__ import annotations

from ..language.words import stem


def stems(words: str) -> frozenset[str]:
    """The stems of words between spaces."""
    return frozenset(map(stem, words.split()))


SINGLE = stems(
    """
    name surname nickname birthday birthplace born age address email phone number capital located
    location live reside based married spouse height weight size favourite favorite prefer
    preferred password deadline due status version port price cost salary budget owner ceo
    president manager boss founder headquarters title role job profession occupation employer
    nationality citizen language native timezone currency default limit timeout colour color
    graduate graduated specialize specialise specialist major degree born died founded due
    scheduled starts ends begins closes opens called named titled
    debut first last main primary only sole originally exclusively
    """
)
"""Of these a thing has one: another value is another claim."""

SEVERAL = stems(
    """
    like love enjoy adore hate dislike visit speak own have read study learn try collect
    interested fan fluent member allergic
    """
)
"""Of these a thing has many: it may like tea and coffee."""
HABITS = stems("play drink eat wear work cook teach watch follow use buy sell ride drive grow")
"""And of these where somebody with a name does them from time to time, not just now."""
