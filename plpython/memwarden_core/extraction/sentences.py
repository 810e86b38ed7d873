"""What one sentence says that is worth remembering, by the rules of `extraction`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence

from ..late import late
from ..light import NamedTuple
from .layout import Sentence, is_continued, sentences_of, without_signs
from .words import (
    ATTRIBUTES,
    CONDITIONS,
    ENDEAVOURS,
    FADING,
    FLEETING,
    HABITS,
    LIKES,
    NO_CONTRAST,
    OPPOSITE,
    PASSING,
    POINTING,
    STATES,
    SUPERLATIVE,
    SUPPOSED,
    VAGUE,
)

_IGNORE = 2  # re.IGNORECASE, without the module: patterns are compiled when they are used
_QUOTED = late(
    r"[\"\u201c\u201d\uff02]|(?:^|\s)'\w|[\u00ab\u2039].*[\u00bb\u203a]|[\u00bb\u203a].*[\u00ab\u2039]"
    r"|[\u300c\u300e\u301d].*[\u300d\u300f-\u301f]"
)
_CLAUSE = late(
    r"(?:\s*[,;\u2014\u2013]\s*|\s+-+\s+|\s+)(?:and|but|so|plus|yet)\s+(?:also\s+)?"
    r"(?=(?:i|i'm|i've|i'll|we|we're|we've|we'll|my|our)\b)"
    r"|\s*[;\u2014\u2013]\s*|\s+-+\s+"
    r"|\s*,\s*(?=(?:i|i'm|i've|we|we're|we've|my|our)\s)"
    r"|\s*,\s*(?=(?:it|that|they|he|she|you)(?:'s|'re|\s))|\s+and\s+(?=(?:it|that|they|he|she|you)\s)"
    r"|\s*,?\s+so\s+(?=let's\b|\w+ing\b)"
    r"|\s*,?\s+(?:because|since|cause|although|even though|but|so that|which)\s+.*$",
    _IGNORE,
)
_OPENING = late(
    r"^(?:(?:yeah|yes|yep|well|oh|wow|hey|hi|hello|ok|okay|thanks|thank you|sure|right|true|haha"
    r"|lol|honestly|personally|actually|basically|anyway|also|plus|and|but|so|you know|by the way"
    r"|btw|for me|in fact|as for me|to be honest|sorry|fyi|speaking of which)\b[\s,!.:]*)+",
    _IGNORE,
)
_ADDRESS = late(r"^[A-Z][a-z]+,\s+(?=(?:i|i'm|i've|we|my|our)\b)", 0)
_OFTEN = (
    r"(?:\s+(?:really|absolutely|always|also|still|generally|usually|definitely|truly|personally"
    r"|strongly|so|actually|just|especially|both|currently|now|finally|all|already|mostly|do|even"
    r"|totally|normally|often|only|mainly|recently))*"
)
_LIKE = late(
    rf"^(?:i|we){_OFTEN}(?P<no>\s+(?:don't|do not|didn't|never))?{_OFTEN}\s+"
    rf"(?P<verb>{'|'.join(LIKES)}|(?:can't|cannot|can not) stand)\s+(?P<what>.+)$",
    _IGNORE,
)
_FOND = late(
    rf"^(?:i'm|i am|we're|we are){_OFTEN}(?P<no>\s+not)?{_OFTEN}\s+"
    r"(?:(?:a|an)\s+(?:\w+\s+)?fan of|fond of|into|passionate about|keen on|partial to)\s+"
    r"(?P<what>.+)$",
    _IGNORE,
)
_MINE = late(
    r"^(?P<whose>my|our)\s+(?P<what>(?:[\w-]+(?:'s)?\s+){0,3}?[\w-]+)"
    r"(?:'s(?!\s+(?:[\w-]+\s+){1,3}(?:is|are|was)\b)"
    r"|\s+(?:is|are|was|is called|is named|are called))"
    r"\s+(?P<value>.+)$",
    _IGNORE,
)
_CALLED = late(
    r"^(?:(?:please\s+)?call me|my name is|my name's|i'm called|i am called|i go by)"
    r"\s+(?P<value>.+)$",
    _IGNORE,
)
_AM = late(rf"^(?:i'm|i am){_OFTEN}(?P<no>\s+not)?\s+(?P<value>.+)$", _IGNORE)
_STATE = late(
    rf"^(?:i|we){_OFTEN}(?P<no>\s+(?:don't|do not|never))?{_OFTEN}\s+"
    rf"(?P<verb>{'|'.join(sorted([*STATES, *HABITS], key=len, reverse=True))})\s+(?P<what>.+)$",
    _IGNORE,
)
_HAVE = late(
    rf"^(?:i|we){_OFTEN}\s+(?:have|'ve got|have got)\s+(?P<what>(?:a|an|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|\d+|twin|no)\s+.+)$|^(?:i've|we've) got\s+(?P<got>(?:a|an|two|three"
    r"|four|five|\d+|twin)\s+.+)$",
    _IGNORE,
)
_BEEN = late(
    rf"^(?:i've|i have|we've|we have){_OFTEN}\s+been{_OFTEN}\s+(?P<verb>\w+ing)\s+"
    r"(?P<what>.+\b(?:for|since)\b.+)$",
    _IGNORE,
)
_DECIDED = late(
    rf"^(?P<who>i|we|it was|the team|the board|they)(?:'ve| have| has|'s)?{_OFTEN}\s+(?:been\s+)?"
    r"(?:decided|agreed|chose|chosen|settled|opted|picked|resolved|voted|committed)\s+"
    r"(?P<what>(?:(?:to|on|that|for|upon|against|not to|with)\s+)?.+)$",
    _IGNORE,
)
_GOING = late(
    r"^(?:let's|let us|we'll|we will|we're going to|we are going to|we're going with"
    r"|we are going with)\s+(?P<what>.+)$",
    _IGNORE,
)
_COMMITS = late(
    r"^(?:go with|use|adopt|switch to|migrate to|move to|stick with|deploy|standardi[sz]e on|drop"
    r"|stay with|replace)\b",
    _IGNORE,
)
_DECISION = late(
    r"^(?:the\s+)?(?:final\s+)?decision(?:\s+(?:is|was)|\s*:)\s+(?P<what>.+)$", _IGNORE
)
_CORRECTED = late(
    r"^(?P<opening>(?:no|nope|actually|wait|correction|oops|sorry|not quite)\b[\s,:.!]+)?"
    r"(?:i meant\s+(?P<meant>.+?)|(?P<subject>.+?)(?:'s|\s+(?:is|are|was|were))\s+(?P<value>.+?))"
    r"(?P<pause>,)?\s+(?:and\s+)?not\s+(?P<wrong>[^,]+)$",
    _IGNORE,
)
_REMEMBER = late(
    r"^(?:(?:please|can you|could you)\s+)?(?:remember|note|keep in mind|bear in mind|don't forget"
    r"|make a note|for the record|for future reference)(?:\s+that\b|\s*:)\s*(?P<what>.+)$",
    _IGNORE,
)
_ORDER = late(
    r"^(?:(?:from now on|in (?:the )?future),?\s+(?:please\s+)?(?:always\s+|never\s+)?\w+"
    r"|(?:please\s+)?(?:always|never)\s+(?:add|answer|ask|avoid|book|call|check|commit|deploy|end"
    r"|explain|format|give me|include|mention|order|push|put|recommend|remind|reply|respond|run"
    r"|send|show|sign|speak|start|suggest|tell|translate|use|write))\b.+$",
    _IGNORE,
)
_THEIRS = late(
    r"^(?P<subject>(?:(?:the|our)\s+(?:[\w-]+\s+){0,2}?[\w-]+)|user|(?:project|team)\s+\w+)\s+(?:now\s+)?"
    r"(?P<verb>uses|runs on|requires|depends on|belongs to|expires on|starts at|lives in|prefers"
    r"|likes|dislikes|works at|works for|works as|has started using|has switched to|is called"
    r"|is named|is hosted on|is written in|is owned by|is due on|is built with|is located in)"
    r"\s+(?P<what>.+)$",
    _IGNORE,
)
_CHANGED = late(
    r"^(?P<subject>(?:the|our)\s+(?:[\w-]+\s+){0,3}?[\w-]+)\s+(?:has|have)\s+been\s+"
    r"(?:increased|extended|reduced|changed|moved|set|disabled|enabled|renamed|upgraded|migrated"
    r"|replaced|raised|lowered|delayed|postponed|deprecated)\b(?P<what>.*)$",
    _IGNORE,
)
_LABEL = late(
    r"^(?P<subject>(?:[\w-]+\s+){1,4}(?:policy|milestone|status|rule|limit|deadline|version|owner"
    r"|contact|address|schedule|budget|target|procedure))\s*:\s+(?P<what>\S.+)$",
    _IGNORE,
)
_DOING = late(
    rf"^(?:i'm|i am){_OFTEN}\s+(?P<verb>studying|volunteering|living (?:in|at|with|near)|teaching"
    r"|learning|training|pursuing|running for|working (?:at|for|as|on|in)|renovating|writing"
    r"|majoring in|building)"
    r"\s+(?P<what>.+)$",
    _IGNORE,
)
_WORD = late(r"[^\W_][\w'\u2019-]*")
_TRIMMED = " \t,;:.!?-\u2014\u2013()[]*~"
_LONGEST = 600
_MOST_LINES = 16


class Said(NamedTuple):
    """What a sentence says. The subject I is whoever speaks; a predicate is a key."""

    rule: str
    subject: str | None
    predicate: str | None
    content: object
    confidence: float
    excerpt: str
    write_class: str | None = None


def is_opening(words: str) -> bool:
    """Whether a rule reads these words and a colon as how a sentence begins: Note, Decision."""
    begun = f"{words}: it is so, not so"
    corrected = _CORRECTED.match(begun)
    opened = _OPENING.match(begun)
    return (
        any(rule.match(begun) for rule in (_REMEMBER, _LABEL, _DECISION))
        or bool(corrected and corrected["opening"])
        or bool(opened and len(opened[0]) > len(words))
    )


def said_in(text: str) -> Iterator[Said]:
    """What a text says that is worth remembering; the excerpt of each as it was written."""
    text = unicodedata.normalize("NFC", text)
    sentences = list(sentences_of(text))
    at = 0
    while at < len(sentences):
        said, last = _said_from(sentences, at)
        written = text[sentences[at].start : sentences[last].end]
        yield from (each._replace(excerpt=written) for each in said)
        at = last + 1


def _said_from(sentences: Sequence[Sentence], first: int) -> tuple[list[Said], int]:
    """What a sentence says, with the lines that it goes on in, and the last of these."""
    said, last = said_in_sentence(sentences[first].text), first
    joined = sentences[first].text
    for at in range(first + 1, min(first + _MOST_LINES, len(sentences))):
        line = sentences[at]
        if not line.goes_on or len(joined) > _LONGEST:
            break
        surely = is_continued(sentences[at - 1].text, line.text)
        if not surely and said_in_sentence(line.text):
            break
        if not surely and said:
            # Nobody knows whether "I prefer green" goes on with "tea".
            return [], at
        if not surely and at > first + 3:
            break
        joined = f"{joined} {line.text}"
        found = said_in_sentence(joined)
        if found or surely:
            said, last = found, at
    return said, last


def said_in_sentence(sentence: str) -> list[Said]:
    """What a sentence says that is worth remembering, at most one thing a clause."""
    if "?" in sentence[-3:] or _QUOTED.search(sentence) or len(sentence) > _LONGEST:
        return []
    whole = without_signs(sentence)
    for rule in (_remembered, _corrected, _labelled):
        found = rule(whole, sentence)
        if found is not None:
            return [found]
    said = []
    for clause in _clauses(whole):
        for each in _RULES:
            found = each(clause, sentence)
            if found is not None:
                said.append(found)
                break
    return said


def _clauses(sentence: str) -> Iterator[str]:
    for part in _CLAUSE.split(sentence):
        clause = _ADDRESS.sub("", _OPENING.sub("", part.strip(_TRIMMED))).strip(_TRIMMED)
        if clause and not _words(clause) & SUPPOSED:
            yield clause


def _words(text: str) -> set[str]:
    return {match[0].lower() for match in _WORD.finditer(text)}


def _object(text: str | None) -> str | None:
    """What a sentence is about, without what it trails off with; None where it only points."""
    words = (text or "").strip(_TRIMMED).split()
    while words and words[-1].strip(_TRIMMED).lower() in FADING:
        words.pop()
    said = " ".join(words).strip(_TRIMMED)
    first = next((m[0].lower() for m in _WORD.finditer(said)), "")
    if not first or first in POINTING or not 2 <= len(said) <= 160:
        return None
    return said


def _sure(confidence: float, what: str) -> float:
    """Less of what may be over tomorrow, or is told at length."""
    if _words(what) & FLEETING:
        confidence -= 0.25
    return confidence - (0.1 if len(what.split()) > 12 else 0)


def _many(
    rule: str, name: str, what: str | None, confidence: float, excerpt: str, kind: str | None = None
) -> Said | None:
    """One of several things of its kind that may hold of the speaker."""
    if what is None:
        return None
    return Said(rule, "I", None, {name: what}, _sure(confidence, what), excerpt, kind)


def _liked(clause: str, sentence: str) -> Said | None:
    match = _LIKE.match(clause)
    if match is not None:
        verb = LIKES.get(match["verb"].lower(), "dislikes")
    else:
        match = _FOND.match(clause)
        if match is None:
            return None
        verb = "likes"
    kind = OPPOSITE[verb] if match["no"] else verb
    if kind is None:
        return None
    what = _object(match["what"])
    # Which one "the" means was plain to who was there.
    sure = 0.45 if what is not None and what.lower().startswith("the ") else 0.8
    return _many("preference", kind, what, sure, sentence, "preference")


def _called(clause: str, sentence: str) -> Said | None:
    match = _CALLED.match(clause)
    what = _object(match["value"]) if match else None
    if what is None or len(what.split()) > 4 or not what[0].isupper():
        return None
    return Said("name", "I", "name", what, 0.9, sentence)


def _attribute(clause: str, sentence: str) -> Said | None:
    """My daughter's name is Ana."""
    match = _MINE.match(clause)
    if match is None:
        return None
    what, value = match["what"].lower(), _object(match["value"])
    head = what.split()[-1]
    if what in SUPERLATIVE and what != "dream":
        return None
    names = set(what.replace("'s", "").split())
    aims = match["value"].lower().startswith("to ") and head in ("goal", "dream", "plan", "job")
    if aims:
        value = match["value"].strip(_TRIMMED)
    if value is None:
        return None
    superlative = bool(names & SUPERLATIVE)
    known = head in ATTRIBUTES or superlative
    named = value[0].isupper() or value[0].isdigit()
    described = value.lower().startswith(("a ", "an ", "the "))
    if not (aims or superlative or (known and (named or described))):
        return None
    subject = "I" if match["whose"].lower() == "my" else None
    confidence = _sure(0.8 if named or superlative else 0.65, value)
    kind = "preference" if names & {"favourite", "favorite", "preferred"} else None
    if subject is None:
        return Said("attribute", f"our {what}", "is", value, confidence - 0.1, sentence, kind)
    return Said("attribute", subject, what, value, confidence, sentence, kind)


def _being(clause: str, sentence: str) -> Said | None:
    """I'm a nurse; I'm from Lisbon; I'm allergic to nuts; I'm 34 years old."""
    match = _AM.match(clause)
    if match is None or match["no"]:
        return None
    value = match["value"].strip(_TRIMMED)
    words = value.lower().split()
    if words[0] == "from" and len(words) > 1 and words[1] not in POINTING:
        return Said("fact", "I", "is from", " ".join(value.split()[1:]), 0.8, sentence)
    if words[0].isdigit() and "old" in words[:4]:
        return Said("fact", "I", "age", value, 0.8, sentence)
    if words[0] in CONDITIONS:
        return _many("fact", "is", _object(value), 0.75, sentence)
    if words[0] in ("a", "an") and 2 <= len(words) <= 10 and words[1] not in VAGUE:
        return _many("fact", "is", value, 0.65, sentence)
    return None


def _state(clause: str, sentence: str) -> Said | None:
    match = _STATE.match(clause)
    if match is None:
        return None
    verb, what = match["verb"].lower(), _object(match["what"])
    if what is None:
        return None
    denied = match["no"] is not None
    if verb in STATES and not denied:
        return Said("fact", "I", STATES[verb], what, _sure(0.8, what), sentence)
    if verb in STATES:
        return None
    name = f"does not {verb}" if denied else HABITS[verb]
    return _many("fact", name, what, 0.6, sentence)


def _having(clause: str, sentence: str) -> Said | None:
    match = _HAVE.match(clause)
    what = _object(match["what"] or match["got"]) if match else None
    if what is None or set(what.lower().split()[1:3]) & PASSING:
        return None
    return _many("fact", "has", what, 0.6, sentence)


def _since(clause: str, sentence: str) -> Said | None:
    match = _BEEN.match(clause)
    if match is None or match["verb"].lower() in ENDEAVOURS:
        return None
    what = _object(match["what"])
    if what is not None and what.lower().startswith("hard"):
        return None
    return _many("fact", f"has been {match['verb'].lower()}", what, 0.65, sentence)


def _decided(clause: str, sentence: str) -> Said | None:
    match = _DECIDED.match(clause) or _DECISION.match(clause)
    if match is not None:
        what = match["what"].strip(_TRIMMED)
    else:
        match = _GOING.match(clause)
        if match is None:
            return None
        what = match["what"].strip(_TRIMMED)
        with_it = "going with" in clause.lower()[:22]
        if not with_it and not _COMMITS.match(what):
            return None
    rest = what.split(None, 1)
    if rest and rest[0].lower() in ("to", "on", "that", "for", "upon", "against", "with", "not"):
        if len(rest) < 2 or rest[1].split()[0].lower() in ("it", "this", "them"):
            return None
    elif _object(what) is None:
        return None
    subject = "I" if clause[:2].lower() in ("i ", "i'") else None
    confidence = _sure(0.75, what) - (0.1 if len(what.split()) < 2 else 0)
    return Said(
        "decision", subject, None, {"decided": what}, confidence, sentence, "decision_outcome"
    )


def _corrected(whole: str, sentence: str) -> Said | None:
    """No, the meeting is on Tuesday, not Monday."""
    match = _CORRECTED.match(whole)
    if match is None or len(match["wrong"].split()) > 6:
        return None
    subject = (match["subject"] or "").strip(_TRIMMED)
    first = match["wrong"].lower().split()[0]
    value = (match["value"] or match["meant"]).split()
    if first in NO_CONTRAST or len(value) > 8:
        return None
    words = subject.lower().split()
    points = not words or words[-1] in POINTING or words[0] in {"i", "we", "he", "she", "they"}
    is_plain = match["pause"] and not points and not match["meant"] and len(words) <= 6
    if match["opening"] is None and not is_plain:
        return None
    said = whole[len(match["opening"] or "") :].strip(_TRIMMED)
    # What "it" is stands in another turn: a reviewer may know.
    confidence = 0.45 if points else 0.75
    return Said("correction", None if points else subject, None, said, confidence, sentence)


def _remembered(whole: str, sentence: str) -> Said | None:
    match = _REMEMBER.match(whole)
    if match is None:
        return None
    what = match["what"].strip(_TRIMMED)
    for clause in _clauses(what):
        for rule in _RULES:
            found = rule(clause, sentence)
            if found is not None:
                return found._replace(confidence=min(0.95, found.confidence + 0.1))
    first = what.lower().split()[:1]
    if len(what.split()) < 3 or (first and first[0] in POINTING - {"all", "everything"}):
        return None
    return Said("asked", None, None, what, 0.7, sentence)


def _ordered(clause: str, sentence: str) -> Said | None:
    """From now on answer in German."""
    if _ORDER.match(clause) is None or len(clause.split()) < 3:
        return None
    return Said("instruction", "I", None, {"asks": clause}, 0.6, sentence, "preference")


def _doing(clause: str, sentence: str) -> Said | None:
    """I'm volunteering at a shelter."""
    match = _DOING.match(clause)
    what = match["what"].strip(_TRIMMED) if match else ""
    preposition, _, rest = what.partition(" ")
    about = rest if preposition.lower() in ("at", "in", "for", "with", "to", "on", "a") else what
    if match is None or _object(about) is None or set(about.lower().split()[:2]) & PASSING:
        return None
    return _many("fact", f"is {match['verb'].lower()}", what, 0.55, sentence)


def _of_others(clause: str, sentence: str) -> Said | None:
    """The project uses PostgreSQL 15."""
    match = _THEIRS.match(clause)
    if match is not None:
        what = _object(match["what"])
        if what is None:
            return None
        confidence = _sure(0.6, what)
        return Said(
            "fact", match["subject"], None, {match["verb"].lower(): what}, confidence, sentence
        )
    match = _CHANGED.match(clause)
    if match is None:
        return None
    return Said("change", match["subject"], None, clause, _sure(0.6, clause), sentence)


def _labelled(whole: str, sentence: str) -> Said | None:
    """Retention policy: backups are kept for 90 days."""
    match = _LABEL.match(whole)
    if match is None:
        return None
    return Said("label", match["subject"], None, match["what"].strip(_TRIMMED), 0.6, sentence)


_RULES: tuple[Callable[[str, str], Said | None], ...] = (
    _called,
    _decided,
    _liked,
    _attribute,
    _being,
    _since,
    _state,
    _having,
    _doing,
    _ordered,
    _of_others,
)
