"""Whether an excerpt bears out a claim: denied, borne out, or unclear. Rules, and no model.

Borne out is certain: the excerpt says each sentence of the claim as it stands, or its speaker says
it of himself. Denied is the same, said not to be so. All else is unclear: nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..language.words import word_set
from ..late import late
from ..written import identity, without_id
from .around import is_framed, leaves_it, starts
from .claim import Claim, Statement, claimed, holds, statements
from .same import clauses, said_of, without_denial
from .speaker import PEOPLE, Turn, is_one, speaker_of, turns
from .text import Sentence, sentences

BORNE_OUT, UNCLEAR, DENIED = 1.0, 0.0, -1.0
_MAX_COST = 500_000
_FIRST_PERSON = word_set("i me my mine myself we us our ours i'd")
_NAME = late(r"[^\W\d_][^\W_]*(?:[ .'\u2019-]+[^\W_]+)*\.?")
_read = json.JSONDecoder().raw_decode


class _Heard:
    """A turn, read once: its sentences, and the names that its speaker goes by."""

    def __init__(self, turn: Turn, uri: str, *, spoken: bool) -> None:
        self.read = sentences(turn.text)
        self.names = turn.names or (speaker_of(uri) if spoken else ())
        self.spoken = spoken
        self.me: frozenset[str] = frozenset(self.names)
        if spoken and (not self.names or not PEOPLE.isdisjoint(self.names)):
            self.me |= PEOPLE
        self.keys = tuple(key for s in self.read for key in s.keys)


class _Asked:
    """A claim, and the excerpt that is to bear it out."""

    def __init__(self, claim: Sequence[Statement], heard: Sequence[_Heard]) -> None:
        self.claim, self.heard = claim, heard
        # Whoever speaks may be spoken to.
        self.names = frozenset(name for each in heard for name in each.names)
        self.told = {tuple(f.keys) for s in claim for f in s.forms}

    def verdict(self) -> float:
        """Denied where one statement is, and borne out where each is."""
        found = BORNE_OUT
        for statement in self.claim:
            found = min(found, self.one(statement))
            if found == DENIED:
                break
            if found == UNCLEAR and len(self.claim) > 8:
                break
        return found

    def one(self, statement: Statement) -> float:
        denied = False
        for heard in self.heard:
            for form in statement.forms:
                if not self.is_of(statement, form, heard):
                    continue
                if self.says(form, heard):
                    return BORNE_OUT
                denied = denied or self.denies(form, heard)
        return DENIED if denied else UNCLEAR

    def is_of(self, statement: Statement, form: Sentence, heard: _Heard) -> bool:
        """Whether the words are of whom the claim says."""
        first_person = not _FIRST_PERSON.isdisjoint(form.keys)
        for whom in statement.whom:
            if heard.me and all(name in heard.me for name in whom):
                continue
            if heard.names and is_one(whom, heard.names):
                continue
            if not heard.names and self.is_whole and (heard.spoken or not _is_of_another(form)):
                continue
            if first_person or not holds(heard.keys, whom):
                return False
        return True

    @property
    def is_whole(self) -> bool:
        """Whether the claim is all that the excerpt says."""
        told = tuple(key for s in self.claim for key in (s.forms[0].keys if s.forms else ("",)))
        return told == tuple(key for each in self.heard for key in each.keys)

    def says(self, form: Sentence, heard: _Heard) -> bool:
        """Whether a turn says a sentence: in one of its own, or each main clause in one."""
        if self.says_it(form, heard):
            return True
        if form.end == "?":
            return False
        parts = clauses(form, heard.me)
        return len(parts) > 1 and all(self.says_it(part, heard) for part in parts)

    def says_it(self, form: Sentence, heard: _Heard) -> bool:
        keys = form.keys
        for place, sentence in enumerate(heard.read):
            asks = sentence.end == "?"
            if asks or form.end == "?":
                if asks and form.end == "?" and keys == sentence.keys:
                    return True
                continue
            first = keys[0].removesuffix("'s")
            if first not in heard.me and first != "the" and keys[0] not in sentence.keys:
                continue
            if self.bears(form, sentence, heard.me) and not self.framed(heard.read, place):
                return True
        return False

    def bears(self, form: Sentence, sentence: Sentence, me: frozenset[str]) -> bool:
        words = sentence.words
        for start in starts(words, self.names):
            end = said_of(form.words, words, start, me)
            if end < 0 or not leaves_it(words[end:], self.names):
                continue
            if all(w.quoted for w in words[start:end]) and not all(w.quoted for w in form.words):
                # Somebody else's words.
                continue
            return True
        return False

    def framed(self, read: Sequence[Sentence], place: int) -> bool:
        """Whether what stands around a sentence, and not in the claim, makes it unclear."""
        first = place - 1 if place and tuple(read[place - 1].keys) not in self.told else place
        last = place + 1
        if last < len(read) and tuple(read[last].keys) not in self.told:
            last += 1
        return is_framed(read[first:last], place - first)

    def denies(self, form: Sentence, heard: _Heard) -> bool:
        """Whether a whole sentence says the same, but that it is not so."""
        for place, sentence in enumerate(heard.read):
            if "?" in (sentence.end, form.end) or self.framed(heard.read, place):
                continue
            for claim, said in without_denial(form.words, sentence.words):
                if said_of(claim, said, 0, heard.me, exact=True) == len(said):
                    return not all(w.quoted for w in sentence.words)
        return False


def _is_of_another(form: Sentence) -> bool:
    """Whether a sentence names at its beginning whom it is about."""
    words = form.words
    if not _FIRST_PERSON.isdisjoint(form.keys) or len(words) < 3 or form.end == "?":
        return False
    return (
        words[0].raw[:1].isupper()
        and words[1].key in ("has", "is", "was", "had", "does", "lives", "likes", "works", "owns")
        and words[0].key not in ("it", "this", "that", "what", "there", "he", "she", "everything")
        and not words[1].mark
    )


def _quotes(excerpt: str, said: Claim) -> bool:
    """Whether a content is the excerpt word for word, and of nobody but who may have said it."""
    if len(said.texts) != 1 or said.unread:
        return False
    text = said.texts[0]
    return text.whole and not text.speaker and text.words.split() == excerpt.split()


def _by_name(subject: str | None, recorded: str | None) -> tuple[str | None, str | None]:
    """Whom a claim is about and who speaks, by names; ids tell whether they are one."""
    if subject is None or recorded is None:
        return subject and without_id(subject), recorded
    name, whose = without_id(subject), identity(recorded)
    if identity(subject) == whose:
        # An id is no word that a sentence begins with.
        name = name if _NAME.fullmatch(name) else "Somebody"
        return name, name
    has_both = identity(subject) != subject and whose != recorded
    return name, whose if has_both else without_id(recorded)


def supports(
    subject: str | None,
    predicate: str | None,
    content: str,
    excerpts: Sequence[str | None],
    types: Sequence[str],
    uris: Sequence[str],
    speakers: Sequence[str | None] | None = None,
) -> list[float]:
    """For each excerpt whether it bears out a content (JSON text): BORNE_OUT, UNCLEAR or DENIED.

    ``speakers`` has who spoke each where that is recorded. The work is bounded: an excerpt that
    would exceed _MAX_COST is unclear.
    """
    read = _read(content)[0]
    said = claimed(subject, predicate, read)
    claims: dict[str | None, list[Statement]] = {}
    found: list[float] = []
    spent = 0
    for place, (excerpt, kind, uri) in enumerate(zip(excerpts, types, uris, strict=True)):
        if not excerpt:
            found.append(UNCLEAR)
            continue
        if subject is None and _quotes(excerpt, said):
            found.append(BORNE_OUT)
            continue
        recorded = speakers[place] if speakers is not None else None
        name, recorded = _by_name(subject, recorded)
        if name not in claims:
            whose = said if name == subject else claimed(name, predicate, read)
            claims[name] = statements(name, predicate, whose)
        claim = claims[name]
        if not claim or said.unread:
            found.append(UNCLEAR)
            continue
        heard = [
            _Heard(turn, uri, spoken=kind == "human_input") for turn in turns(excerpt, recorded)
        ]
        words = sum(len(each.keys) + 5 for each in heard)
        spent += words * sum(len(f.words) + 2 for s in claim for f in s.forms)
        found.append(_Asked(claim, heard).verdict() if spent <= _MAX_COST else UNCLEAR)
    return found
