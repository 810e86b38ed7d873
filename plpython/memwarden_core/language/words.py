"""What the judge of evidence knows of English words: their stems, and which turn a clause."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text between spaces."""
    return frozenset(text.split())


STOP = word_set(
    """
    a also am an and are as at be been being by did do does done for from had has have having he
    her here hers him his i in into is it its just me mine my of on onto or our please quite
    rather really shall she so than that the their theirs them then there these they this those
    to us very was we were what which who whom whose will with you your
    """
)
"""Words whose absence changes nothing, and which prove nothing."""

NEGATION = word_set(
    """
    arent cannot cant ceased couldnt denied denies didnt doesnt dont failed fails hadnt
    hasnt havent isnt lack lacked lacking lacks longer mustnt n't neither never no nobody
    none nor not nothing nowhere refused refuses shouldnt stopped unable wasnt werent
    without wont wouldnt
    """
)

HEDGE = word_set(
    """
    allegedly barely claimed claims considering considers could expected expects hardly hoped hopes
    if intends may maybe might perhaps planned planning plans possibly probably proposed proposes
    reportedly rumored rumoured scarcely should suggested suggests supposedly unless wanted wants
    whether would
    """
)
"""Words after which nothing is said to be so."""

BREAK = word_set(
    """
    although and because but however instead or since though whereas which while who yet
    """
)
"""Words at which a clause ends, and a negation with it."""

PRONOUN = word_set("he she they it him her them his its their hers theirs")
FIRST_PERSON = word_set(
    """
    i i'd i'll i'm i've im ive me mine my
    """
)

_IRREGULAR_FORMS = """
    went:go gone:go goes:go came:come took:take taken:take gave:give given:give made:make
    said:say told:tell knew:know known:know saw:see seen:see got:get wrote:write written:write
    ran:run spoke:speak spoken:speak bought:buy sold:sell won:win lost:lose kept:keep held:hold
    led:lead left:leave met:meet paid:pay sent:send spent:spend built:build chose:choose
    chosen:choose drank:drink drunk:drink drove:drive driven:drive ate:eat eaten:eat fell:fall
    fallen:fall flew:fly flown:fly grew:grow grown:grow rode:ride ridden:ride rose:rise
    risen:rise sang:sing sat:sit slept:sleep stood:stand swam:swim taught:teach thought:think
    threw:throw thrown:throw wore:wear worn:wear men:man women:woman children:child
    people:person feet:foot mice:mouse teeth:tooth became:become began:begin begun:begin
    broke:break broken:break brought:bring caught:catch felt:feel found:find heard:hear lay:lie
    meant:mean put:put read:read set:set shown:show shut:shut cut:cut hit:hit moved:move
    lived:live prefers:prefer preferred:prefer using:use used:use uses:use dying:die lying:lie
    tied:tie died:die series:series indices:index
"""
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_FORMS.split())
PAST_FORMS = frozenset(form for form, base in _IRREGULAR.items() if form != base) - word_set(
    """
    goes men women children people feet mice teeth prefers using uses dying lying series indices
    """
)
"""Irregular forms that tell of what was."""

# Longer ones first: each with what stands in its place.
_ENDINGS = """
    ational:ate ization:ize isation:ise fulness:ful iveness:ive ousness:ous ations:ate ation:ate
    ments: ment: ences: ence: ances: ance: ions: ion: ness: ingly: edly: ily:y ly: ings: ing:
    ied:y ies:y sses:ss shes:sh ches:ch xes:x zes:z ed: es: s:
"""
_SUFFIXES = [(suffix, instead) for suffix, instead in (e.split(":") for e in _ENDINGS.split())]


def _by_last_letters() -> dict[str, tuple[tuple[str, str], ...]]:
    """For the last two letters of a word the endings it may have: most words have none."""
    pairs = {suffix[-2:] for suffix, _ in _SUFFIXES}
    return {
        pair: tuple(e for e in _SUFFIXES if e[0].endswith(pair) or pair.endswith(e[0]))
        for pair in pairs
    }


_SUFFIXES_BY_LETTERS = _by_last_letters()


def base_form(word: str) -> str:
    """What an irregular form is a form of; any other word is itself."""
    return _IRREGULAR.get(word, word)


def stem(word: str) -> str:
    """A lower-case word without its endings: what connect, connects and connection share."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    plural = _SUFFIXES_BY_LETTERS["s"] if word[-1] == "s" else ()
    for suffix, instead in _SUFFIXES_BY_LETTERS.get(word[-2:], plural):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if suffix == "s" and rest[-1] in "sui":
                break
            if len(rest) < 3 or not any(letter in "aeiouy" for letter in rest):
                continue
            if (
                suffix in ("ing", "ed", "ings")
                and len(rest) > 3
                and rest[-1] == rest[-2] not in "lsz"
            ):
                rest = rest[:-1]
            word = rest + instead
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word
