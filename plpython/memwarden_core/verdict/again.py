"""Whether a sentence is told again with another value, and a word that says that it is so now.

"Ana works at Acme", "Ana now works at Globex"; "Marta leads the shop", "the shop is led by Viktor
now". All else is told in the same words. So what is compared is the one value that differs.
"""

from __future__ import annotations

from ..language.words import stem, word_set
from ..light import NamedTuple
from .ended import BY_CHANGE
from .exclusive import DAYS, values_of
from .function_words import CHANGE
from .one_thing import LINKS, may_be_verb
from .reading import Sentence
from .renewal import Change
from .values import LED, OFTEN, ONE_AT_A_TIME, SEVERAL, SEVERAL_NOUNS, TAUGHT
from .words import BEGINNINGS, OPPOSED, RIVALS

_ADDS_NOTHING = word_set("the a an its now currently again newly new finally just just meanwhile")
_ENDS = (["these", "days"], ["from", "now", "on"], ["instead"], ["today"])
_SPANS = word_set("last this next")
_SPEAKERS = word_set("i i'm i've we we're we've")
_NOBODY = word_set("he she it they you this that these those there a an someone somebody")
_OWN = word_set("i my we our")
_COPULA = word_set("is are am was were be been has have")
_OF_NAMES = _COPULA | word_set("of for by named called")
_STATES = word_set(
    "open closed finished done cancelled ready full available online offline live broken sold"
    " vacant occupied suspended postponed paused complete completed delayed approved rejected"
    " pending archived published blocked free busy progress hold review"
    " days nights mornings evenings weekends"
)
_BEFORE_NAMES = word_set("by is to")
_MOVED = word_set("moved relocated transferred shifted")
_TITLES = word_set("title role job position profession")
_ONE_LINK = (("to", "in"), ("for", "at"), ("at", "for"))
_PLACING = word_set("in at on near behind")
_MOST = 3


class _Word(NamedTuple):
    """A word: its stem, as it is written in lower case, and whether it is of a name."""

    key: str
    word: str
    name: bool


def has_another_value(
    change: Change, old: Sentence, speakers: tuple[str, str], *, one_speaker: bool
) -> bool:
    """Whether the new sentence gives the thing of the old one another value of one attribute.

    ``speakers`` are whoever says the new one and the old one, "" where nobody is named.
    """
    new = change.sentence
    if old.question or old.hedged or old.past:
        return False
    ours, theirs = _read(new, speakers[0]), _read(old, speakers[1])
    firsts = {each[0].word for each in (ours, theirs) if each}
    if not ours or not theirs or firsts & _NOBODY or (firsts & _OWN and not one_speaker):
        return False
    if change.marked and not (new.numbers or old.numbers) and _has_moved(ours, theirs):
        return True
    if {v.key for v in values_of(new)} != {v.key for v in values_of(old)}:
        return False
    if not change.marked:
        return not LED.isdisjoint(old.keys) and _is_led(ours, theirs)
    if _is_led(ours, theirs):
        return True
    if not change.now or not (CHANGE - {"now"}).isdisjoint({*new.words} & {*old.words}):
        # Two that tell the same change: the code has stopped working here, and there.
        return False
    begin = 0
    while begin < min(len(ours), len(theirs)) and _begins_alike(ours[begin], theirs[begin]):
        begin += 1
    end = 0
    rest = min(len(ours), len(theirs)) - begin
    while end < rest and ours[-1 - end].key == theirs[-1 - end].key:
        end += 1
    now, was = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    told = theirs[:begin]
    verb = next((at for at, each in enumerate(told) if at and may_be_verb(each.word)), 0)
    if not verb and told and told[0].word in ("i", "we", *speakers):
        verb = 1
    if not 0 < verb < begin or not 0 < len(now) <= _MOST or not 0 < len(was) <= _MOST:
        return False
    return _are_rivals(now, was, told, verb)


def _read(sentence: Sentence, speaker: str) -> list[_Word]:
    """The words of a sentence without those that only say that it is so now."""
    named = sentence.names - sentence.owners
    names = {at for place, at in enumerate(sentence.at) if place in named}
    words = [_Word(stem(w), w, at in names) for at, w in enumerate(sentence.words)]
    words = [each for each in words if each.word not in _ADDS_NOTHING]
    for end in _ENDS:
        if [each.word for each in words[-len(end) :]] == end:
            del words[-len(end) :]
    if [each.word in _SPANS for each in words[-2:]] == [True, False]:
        del words[-2:]
    first = next((at for at, each in enumerate(words[:2]) if each.word in _SPEAKERS), -1)
    if first >= 0:
        who = speaker if words[first].word[0] == "i" and speaker else words[first].word[:1]
        words[: first + 1] = [_Word(who, who, name=bool(speaker))]
    return words


def _begins_alike(ours: _Word, theirs: _Word) -> bool:
    if ours.key == theirs.key:
        return True
    return theirs.key in BEGINNINGS.get(ours.key, ()) or (ours.word, theirs.word) in _ONE_LINK


def _are_rivals(now: list[_Word], was: list[_Word], told: list[_Word], verb: int) -> bool:
    """Whether of two values behind the same words one takes the place of the other."""
    named = [all(each.name for each in value) for value in (now, was)]
    link = told[-1].word if told[-1].word in LINKS else ""
    done = next((w for w in told[verb:] if w.word not in _COPULA and w.word not in LINKS), None)
    if (
        link == "of"
        or named[0] != named[1]
        or (done is None and told[verb].word in ("has", "have"))
    ):
        return False
    if done and done.key in SEVERAL | OFTEN and (done.key, link) not in ONE_AT_A_TIME:
        return False
    somebody = all(each.name for each in told[:verb])
    if link:
        return done is not None or named[0] or not somebody
    if named[0] or told[verb - 1].word in _TITLES:
        return done is not None or not named[0]
    if (done or not somebody) and {now[-1].word, was[-1].word} <= _STATES:
        return True
    one, other = now[-1].key, was[-1].key
    return one == other or other in RIVALS.get(one, ()) or other in OPPOSED.get(one, ())


def _has_moved(ours: list[_Word], theirs: list[_Word]) -> bool:
    """Whether what is somewhere, or held on a day, has been moved to another place or day."""
    thing, verb, now = _placed(ours)
    before, lasts, was = _placed(theirs)
    moved = {verb.word, lasts.word} & BY_CHANGE
    if not thing or thing != before or not moved:
        return False
    if not 0 < len(now) <= _MOST or not 0 < len(was) <= _MOST:
        return False
    days = [value[-1].key in DAYS for value in (now, was)]
    if any(days):
        return all(days) and now[-1].key != was[-1].key
    stays = verb.word in _MOVED and (lasts.word in _COPULA or lasts.key in BEGINNINGS["mov"])
    return stays and all(w.name for w in now) == all(w.name for w in was)


def _placed(words: list[_Word]) -> tuple[list[_Word], _Word, list[_Word]]:
    """What is somewhere, or has been moved there, the verb, and the place or day."""
    change = next((at for at, each in enumerate(words) if each.word in BY_CHANGE), 0)
    verb = next((at for at, w in enumerate(words) if at and may_be_verb(w.word)), 0)
    links = ("to",) if change else _PLACING
    link = next((at for at in range(verb, len(words)) if words[at].word in links), len(words))
    end = next((at for at in range(link + 1, len(words)) if words[at].word in LINKS), len(words))
    return words[:verb], words[change or verb], words[link + 1 : end]


def _is_led(ours: list[_Word], theirs: list[_Word]) -> bool:
    """Whether both say the same in any order, but for the one name of whom a thing has one."""
    told = [{each.key for each in words if each.word not in _OF_NAMES} for words in (ours, theirs)]
    sold = any(each.word == "sold" for each in ours)
    if sold:
        told[0] = (told[0] - {"sell", "to"}) | {"own"}
    shared = told[0] & told[1]
    for words, keys in zip((ours, theirs), told, strict=True):
        other = [at for at, w in enumerate(words) if w.key in keys - shared]
        if not 0 < len(other) <= _MOST or other[-1] - other[0] >= len(other):
            return False
        acts = other[0] == 0 or words[other[0] - 1].word in _BEFORE_NAMES
        if not acts or not all(words[at].name for at in other):
            return False
    if not (LED | TAUGHT).isdisjoint(shared) or any(each.word == "charge" for each in theirs):
        return True
    plain = all(any(w.word in ("is", "are") for w in words) for words in (ours, theirs))
    verbs = any(may_be_verb(w.word) and w.word not in _OF_NAMES for w in theirs if not w.name)
    first = next((each for each in theirs if each.key in shared and not each.name), None)
    beside = any(each.word in LINKS for each in theirs if each.key in shared)
    known = first is not None and len(shared) > 1 and first.key not in SEVERAL_NOUNS
    return known and plain and not (verbs or beside)
