"""Whether two sentences that differ in a word speak of two things, and so do not disagree.

"Customer 1 is on the Pro plan" and "customer 2 is on the Basic plan" differ in what they speak of.
What stands before the verb says that, but for "a" and its like: "a red car is parked" and "a blue
car is parked" may tell of one sight.
"""

from __future__ import annotations

from itertools import pairwise

from ..language.units import NUMBERS
from ..language.words import PAST_FORMS, stem, word_set
from .alignment import MONTH_STEMS, Alignment, Conflict, is_year
from .reading import Sentence
from .tokens import ORDINALS
from .words import BEINGS, describes

_ONE_OF_MANY = word_set("a an some several another") | NUMBERS.keys()
_UNNAMED = word_set("a an some somebody someone")
_NOW = ("is", "are")
_IS = word_set("is are was were be been being as")
_VERBS = _IS | word_set(
    """
    has have had will can does do did would should may might became becomes become got gets stays
    stayed remains remained seems looks costs cost weighs now
    """
)
_DEFINITE = word_set("the my our your his her its their this that")
_WHEN = word_set("since in on at after before during from until by last next")
_ARTICLES_ELSEWHERE = frozenset(map(stem, word_set("le la les el los las der die das il lo o os")))
_TALE = 6
_THERE = {("there", "is"), ("there", "are")}
_ORDINALS = frozenset(map(stem, ORDINALS.values()))


def is_another(new: Sentence, old: Sentence, conflict: Conflict) -> bool:
    """Whether the words of a conflict are what tells one thing from another."""
    place, other = conflict.new, conflict.old
    if place < 2 and other < 2 and _names_a_being(new, place):
        return True
    if place == other and _is_of_subject(new, place) and _is_of_subject(old, other):
        return True
    if conflict.method == "antonym" and place == other == 0 and _is_one_of_many(new, 0):
        # "A small dog barks", "a big dog barks"
        return True
    return new.keys[place] in BEINGS and _is_one_of_many(new, place)


def tells_two_apart(found: Alignment) -> bool:
    """Whether a figure, a code or a name that differs says which thing each sentence is about.

    "There are 4 beds in room 12", "there are 6 beds in room 13": where two things differ and one of
    them is such a word, nobody knows which is the value.
    """
    new, old = found.new, found.old
    figures = [c for c in found.conflicts if c.method == "number" or new.keys[c.new] in _ORDINALS]
    if len(found.conflicts) == 1:
        rest = ((new, found.in_new), (old, found.in_old))
        if all(any(_is_code(s, p) or p in s.names for p in places) for s, places in rest):
            return True
        counted = _THERE.intersection(pairwise(new.words)) or new.at[0] == old.at[0] == -1
        return bool(figures and counted) and _is_label(new, old, figures[0])
    undated = [c for c in found.conflicts if c.method != "date"]
    return bool(figures) and (len(undated) > 1 or any(_is_label(new, old, c) for c in figures))


def has_two_codes(sentence: Sentence, first: int, last: int) -> bool:
    """Whether at least two figures or codes stand in these places: "port 80 of srv-12"."""
    return sum(_is_code(sentence, place) for place in range(first, last)) > 1


def _is_code(sentence: Sentence, place: int) -> bool:
    """Whether a word is a figure, counts as one, has one in it, or is a letter alone."""
    key = sentence.keys[place]
    known = place in sentence.numbers or key in _ORDINALS
    return known or len(key) == 1 or any(map(str.isdigit, key))


def _is_label(new: Sentence, old: Sentence, conflict: Conflict) -> bool:
    """Whether a figure stands right behind a noun: in room 12."""
    return all(
        0 < place in each.numbers
        and _is_behind(each, place)
        and not is_verb(each.words[each.at[place - 1]])
        for each, place in ((new, conflict.new), (old, conflict.old))
    )


def _is_behind(sentence: Sentence, place: int) -> bool:
    """Whether a number without a unit follows a word that is no month, with nothing between."""
    if sentence.numbers[place][1] or sentence.keys[place - 1] in MONTH_STEMS:
        return False
    at = sentence.at[place]
    if at < 0:
        return False
    # A figure is no word, and has the place of the word before it.
    return at - sentence.at[place - 1] == (sentence.words[at] in NUMBERS)


def may_be_one_sight(new: Sentence, old: Sentence, conflict: Conflict) -> bool:
    """Whether what differs describes what may be one: "a tall man runs", "a short man runs".

    Colours stay out: there are many dogs, and who tells two apart names their colours.
    """
    return (
        conflict.method in ("antonym", "number", "opposite", "rival")
        and _is_of_many(new)
        and _is_of_many(old)
        and BEINGS.isdisjoint((new.keys[conflict.new], old.keys[conflict.old]))
    )


def is_of_a_moment(new: Sentence, old: Sentence, conflict: Conflict) -> bool:
    """Whether the two may tell of different moments, or of different ones of many.

    "A man is opening a small door", "a man is opening a large door"; also "the man is sitting on a
    bench", "the man is standing on a bench", where what he does is what differs.
    """
    if conflict.new in new.numbers or conflict.old in old.numbers:
        # A figure is no word.
        return False
    doing = (new.words[new.at[conflict.new]], old.words[old.at[conflict.old]])
    if all(word.endswith("ing") for word in doing):
        return all(_is_of_many(each) or each.keys[0] in BEINGS for each in (new, old))
    return conflict.method in ("antonym", "opposite") and is_episode(new) and is_episode(old)


def is_episode(sentence: Sentence) -> bool:
    """Whether a sentence tells what one of many is doing: "a man is opening a door".

    Of two of them nobody knows that they tell of one thing, so opposites do not exclude each other.
    """
    return _being_done(sentence) > 0 and (_is_of_many(sentence) or _is_bare(sentence))


def denies_which(sentence: Sentence) -> bool:
    """Whether a denial tells which of many is doing something: "a man without a hat is singing"."""
    return is_episode(sentence) and 0 <= sentence.denial < _being_done(sentence)


def _being_done(sentence: Sentence) -> int:
    """The place of "is" among all words in "is opening", "are slowly walking"; 0 without one."""
    words = [(at, word) for at, word in enumerate(sentence.words) if not word.endswith("ly")]
    done = (at for (at, be), (_, do) in pairwise(words) if be in _NOW and do.endswith("ing"))
    return next(done, 0)


def _is_of_many(sentence: Sentence) -> bool:
    """Whether a sentence begins as what tells of one of many does: "a man", "some dogs"."""
    return bool(sentence.words) and sentence.words[0] in _ONE_OF_MANY


def _is_bare(sentence: Sentence) -> bool:
    """Whether a sentence begins with persons or animals without an article: "people", "dogs"."""
    return sentence.keys[0] in BEINGS and sentence.at[0] == 0


def is_somebody_else(new: Sentence, old: Sentence) -> bool:
    """Whether two sentences begin with somebody who has no name, and not in the same words.

    "Someone plays the flute", "a man plays the harp": two people may be meant.
    """
    one, other = new.words[:1], old.words[:1]
    alike = one == other or {*one, *other} == {"a", "an"}
    return not alike and not _UNNAMED.isdisjoint(one + other)


def has_another_subject(found: Alignment) -> bool:
    """Whether each sentence names something before its verb that the other does not."""
    return all(
        _is_definite(sentence, _begin(sentence))
        and any(sentence.at[place] < first_verb(sentence) for place in missing)
        for sentence, missing in ((found.new, found.in_new), (found.old, found.in_old))
    )


def first_verb(sentence: Sentence) -> int:
    """The place of the first word that is known for a verb, -1 where none is."""
    return next((at for at, word in enumerate(sentence.words) if is_verb(word)), -1)


def is_verb(word: str) -> bool:
    """Whether a word is known for a verb."""
    return (
        word in _VERBS or word in PAST_FORMS or word.endswith(("ted", "ned", "ved", "hed", "n't"))
    )


def has_another_name(found: Alignment) -> bool:
    """Whether the sentences begin with different names, each alone: two may do the same.

    Of what few others do, told in many words, it is another claim who did it, where both are
    named in full.
    """
    whole = all(0 in each.names and 1 in each.names for each in (found.new, found.old))
    return (found.matched <= _TALE or not whole) and all(
        _begins_with(sentence, missing) and not _is_joined(sentence, missing)
        for sentence, missing in ((found.new, found.in_new), (found.old, found.in_old))
    )


def _begins_with(sentence: Sentence, missing: list[int]) -> bool:
    """Whether the first of the words that differ is in the name that a sentence begins with."""
    if not missing:
        return False
    place = missing[0]
    return place == 0 or (
        place in sentence.names
        and sentence.names.issuperset(range(place))
        and sentence.at[place] == sentence.at[0] + place
    )


def _is_joined(sentence: Sentence, missing: list[int]) -> bool:
    """Whether the first of the words that differ are joined to others: "Ana and Bo met"."""
    place = missing[0]
    while place in missing:
        place += 1
    return place in sentence.after_and


def _begin(sentence: Sentence) -> int:
    """The first place behind what only says when: "Since May, the office is closed"."""
    if _WHEN.isdisjoint(sentence.words[:1]):
        return 0
    places = range(len(sentence.keys))
    return next((p for p in places if sentence.clauses[p] > sentence.clauses[0]), 0)


def _is_definite(sentence: Sentence, begin: int) -> bool:
    """Whether the place where a sentence begins stands behind "the", "my" and their like."""
    at = sentence.at[begin]
    return not _DEFINITE.isdisjoint(sentence.words[max(at - 1, 0) : max(at, 1)])


def _is_of_subject(sentence: Sentence, place: int) -> bool:
    """Whether a word stands in the name of what a sentence speaks of: room 12, my older sister."""
    if sentence.words[:1] in ([], ["a"], ["an"], ["some"], ["there"]):
        return False
    begin = _begin(sentence)
    if sentence.keys[begin] in _ARTICLES_ELSEWHERE and begin + 1 < len(sentence.keys):
        begin += 1
    behind = place - begin
    at = sentence.at[place]
    if place in sentence.numbers:
        if behind == 0:
            # "The 2019 report"
            definite = _is_definite(sentence, begin) and sentence.at[place] < first_verb(sentence)
            return definite and is_year(sentence.numbers[place][0])
        return behind > 0 and _tells_apart(sentence, place, begin)
    if _is_definite(sentence, begin) and at < first_verb(sentence):
        # "The office in Rome is closed"
        return True
    if behind < 0 or at != sentence.at[begin] + behind or begin in sentence.numbers:
        return False
    return behind == 0 or (
        behind == 1 and (begin in sentence.owners or _is_verb_next(sentence, at))
    )


def _tells_apart(sentence: Sentence, place: int, begin: int) -> bool:
    """Whether a number stands behind what it tells from others, before the verb: room 12."""
    if not _is_behind(sentence, place):
        return False
    at = sentence.at[place]
    if _is_definite(sentence, begin) and at < first_verb(sentence):
        # "The pump in hall 2"; but "the old 12 rooms" are counted.
        named = sentence.at[place - 1] == at
        return named or sentence.at[place + 1 : place + 2] != [at + 1]
    straight = all(sentence.at[p] == sentence.at[begin] + p - begin for p in range(begin, place))
    return straight and (place == begin + 1 or _is_verb_next(sentence, at))


def _is_verb_next(sentence: Sentence, at: int) -> bool:
    return sentence.words[at + 1 : at + 2] != [] and sentence.words[at + 1] in _VERBS


def _names_a_being(sentence: Sentence, place: int) -> bool:
    if sentence.keys[place] in BEINGS:
        # "The captain is a woman" says what somebody is.
        at = sentence.at[place]
        return place == 0 or _IS.isdisjoint(sentence.words[max(at - 2, 0) : at])
    # "A black dog" is another one than "a white dog"; Ana's dog may be the one.
    after = sentence.keys[place + 1 : place + 2]
    return sentence.words[:1] in (["a"], ["an"]) and not BEINGS.isdisjoint(after)


def _is_one_of_many(sentence: Sentence, place: int) -> bool:
    """Whether a word stands behind "a", "some" or a number, and is not what something is."""
    at = sentence.at[place]
    while place > 0 and _stands_before(sentence, place) and _describes(sentence, place - 1):
        # "A small cat", "two white cats", "a black and brown cat"
        place -= 1
        at = sentence.at[place]
    return (
        at > 0
        and sentence.words[at - 1] in _ONE_OF_MANY
        and (at < 2 or sentence.words[at - 2] not in _IS)
    )


def _stands_before(sentence: Sentence, place: int) -> bool:
    """Whether no word but "and" stands between a word and the one that is weighed before it."""
    return sentence.words[sentence.at[place - 1] + 1 : sentence.at[place]] in ([], ["and"])


def _describes(sentence: Sentence, place: int) -> bool:
    return describes(sentence.words[sentence.at[place]], sentence.keys[place])
