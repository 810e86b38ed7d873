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

OFTEN = stems(
    """
    need want write learn talk listen watch believe see say think travel fly look dream argue
    subscribe donate involve afraid include contain help support offer sell get give make work play
    buy eat drink study go return know use wear
    """
)
"""Who does one of these does it with several."""
ONE_AT_A_TIME = frozenset(
    (stem(verb), link)
    for verb, link in (
        *(("play", "for"), ("buy", "from"), ("study", "at"), ("go", "to")),
        *(("work", "at"), ("work", "for"), ("work", "as"), ("work", "")),
    )
)
"""But for these, with the word behind them."""
SEVERAL_NOUNS = stems(
    """
    friend brother sister child son daughter cousin uncle aunt colleague student pupil member hobby
    skill allergy pet dog cat language book project task idea part example reason advantage
    ingredient goal neighbour interest symptom customer supplier sibling parent event meeting option
    kind type
    """
)
"""Of what these nouns name somebody or something has several."""
LED = stems("lead head run manage chair direct coordinate supervise captain own")
"""Of a thing one does these."""
TAUGHT = stems("conduct coach teach edit")
"""And these, where a word says that it is so now."""
