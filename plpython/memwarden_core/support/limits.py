"""What an excerpt says and does not say is so, and what a claim adds that nobody said.

"I want to run" and "my sister ran" do not say that the speaker ran. "Ana runs and is a nurse" says
two things, and "I run" says one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..late import late
from .gist import find, hear, weight
from .text import Sentence, Token, sentences

_REST = r"(?:(?! by [a-z]{2,12}ing\b)[^.!?;\n])*"
_BY_THE_WAY = r"(?:(?:really|just|still|also|always|only|so|do|even)\s+){0,3}"
_WISH = late(
    rf"(?i)\b{_BY_THE_WAY}(?:(?:want|wants|wanted|wanting|hope|hopes|hoped|hoping|plan|plans|planned"
    r"|planning|intend|intends|wish|wishes|aim|aiming|dying|dream|dreams|dreaming)"
    r" (?:to|of|on|for|i|we)\b"
    rf"|(?:'d|would) {_BY_THE_WAY}(?:like|love|prefer)\b|thinking (?:of|about)\b){_REST}"
)
_WISHES = late(
    r"(?i)\b(?:want|hop(?:e|es|ed|ing)\b|plan|inten[dt]|wish|aim|dream|goal|would\b|might\b|may\b"
    r"|could\b|consider|interest|look\w* forward|desire|aspir|eager|think|will|going to\b|excite"
    r"|determin|motivat|passion|future|upcoming|prefer|need)"
)
_AHEAD = late(
    r"(?i)(?:\b(?:am|is|are|'m|'s|'re) going to|\bgonna|\bwill|'ll)\b"
    rf"(?! always| never| continue| keep| +the\b){_REST}"
)
_LOOKS_AHEAD = late(
    r"(?i)\b(?:next|soon|offer|about to\b|ready|support|believe|encourag|continu|keep|prepar"
    r"|tomorrow|start|decid|ask|commit)"
)
_KIN = (
    r"sister|brother|mother|father|mom|mum|dad|parents?|son|daughter|wife|husband|partner|boyfriend"
    r"|girlfriend|friends?|neighbou?rs?|colleagues?|cousins?|uncle|aunt|boss|grand\w{2,6}|kids?"
    r"|child|children|roommate|nephew|niece|buddy|coach|teacher"
)
_OF_ANOTHER = late(
    r"(?i)(?:(?<=[.!?;\n:,])|\b(?:and|but|since|because|when|so|that)\b|^)\s{0,3}"
    rf"(?:(?:one|some) of )?my (?:[a-z]+ ){{0,2}}(?:{_KIN})\b(?! and (?:i|me)\b)"
    r"(?:(?!\b(?:i|we|me|us|and|but|which|so)\b)[^.!?;\n]){0,200}"
)
_NAMES_KIN = late(rf"(?i)\b(?:{_KIN}|famil\w+)s?\b|'s\b")
_PARTS = late(r"(?i),? \b(?:and|but|while)\b |; |,? \bwho\b ")
_STATES = late(
    r"(?i)(?:also )?(?:is|was|has|had|[a-z]{3,14}(?<!s)s|[a-z]{3,12}ed|left|went|bought|got|ran|won"
    r"|lost|sold|kept|built|wrote|met|took|came|broke|drove|grew|taught|spent|paid|hurt|cut|quit)"
    r"\b (?!to |of )"
)
_ATTITUDE = late(
    r"(?i)(?:also )?(?:is |was )?(?:find|found|feel|felt|believ|consider|think|discuss|mention"
    r"|express|involv|has involved|offer|assur|see|help|bring|ma(?:k|d)e|show|appreciat|value|enjoy"
    r"|love|like|want|hope"
    r"|look|driven|excited|glad|happy|proud|grateful|hold|describ|emphasi|highlight|advocat"
    r"|encourag|inspir|motivat)"
)
_PLAIN = 1.0


def said_plainly(excerpt: str, claim: str) -> str:
    """An excerpt without what it says as wished, ahead, or of somebody else.

    What the claim itself says so stays: who notes a wish finds it in a wish.
    """
    wishes = _WISHES.search(claim) is not None
    if not wishes:
        excerpt = _WISH.sub(" ", excerpt)
        if _LOOKS_AHEAD.search(claim) is None:
            excerpt = _AHEAD.sub(" ", excerpt)
    if "my " in excerpt.lower() and _NAMES_KIN.search(claim) is None:
        excerpt = _OF_ANOTHER.sub(" ", excerpt)
    return excerpt


def adds(claim: str, read: Sequence[Sentence]) -> bool:
    """Whether a part of a claim says a thing of its own of which an excerpt says nothing."""
    added = list(_added(claim))
    if not added:
        return False
    said = hear("", read)
    return any(not any(find(t, said)[1] for t in part) for part in added)


def _added(claim: str) -> Iterator[Sequence[Token]]:
    """What each part of a sentence behind its first says of the subject, by its plain words."""
    for part in _PARTS.split(claim)[1:]:
        if _STATES.match(part) and not _ATTITUDE.match(part):
            tokens = [
                t
                for s in sentences(part.partition(",")[0])
                for t in s.tokens
                if weight(t) >= _PLAIN
            ]
            if tokens:
                yield tokens
