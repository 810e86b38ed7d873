# ruff: noqa: E501 - a pattern is easier to read whole
"""Whether words are an order to whoever reads them, or only talk about such orders."""

from __future__ import annotations

import re

from ...late import late

_BEFORE, _AROUND = 90, 90

# Where an order can begin: after a sentence, a heading, a bracket, a quotation mark, a comma.
_BOUNDARY = late(
    r"[.!?;:=%\n\r\t\"\u201c\u201d\u201e\u00ab\u00bb\u2018`()\[\]{}<>|*#\u2022\u2014\u2013>/\\,]|(?<!\w)'|(?:^| )- |--"
    r"|[\u3002\uff01\uff1f\uff1a\uff0c\u3001]"
)

_POLITE = frozenset(
    [
        "please",
        "pls",
        "kindly",
        "now",
        "just",
        "simply",
        "then",
        "so",
        "but",
        "also",
        "instead",
        "immediately",
        "first",
        "next",
        "finally",
        "hey",
        "ok",
        "okay",
        "hello",
        "hi",
        "dear",
        "assistant",
        "ai",
        "chatgpt",
        "claude",
        "gpt",
        "gemini",
        "llama",
        "copilot",
        "model",
        "bot",
        "agent",
        "chatbot",
        "computer",
        "system",
        "llm",
        "note",
        "important",
        "attention",
        "warning",
        "urgent",
        "notice",
        "reminder",
        "completely",
        "totally",
        "fully",
        "entirely",
        "always",
        "do",
        "today",
        "right",
        "here",
        "again",
        "must",
        "should",
        "shall",
        "actually",
        "quickly",
        "quietly",
        "secretly",
        "silently",
        "henceforth",
        "hereafter",
        "base64",
        "hex",
        "rot13",
        "p.s",
        "ps",
        "step",
        "1",
        "2",
        "3",
        "action",
        "task",
    ]
)
_DIRECTED = late(
    r"(?:\b(?:you|u)(?: \w+)? (?:must|should|shall|will|may|can|are to|need to|have to|ought to|are required to"
    r"|are instructed to|are ordered to|are expected to|are (?:now )?(?:allowed|free|permitted|authori[sz]ed) to"
    r"|'re to|'ll|are going to|are asked to)"
    r"|\b(?:want|need|order|command|instruct|ask|require|urge|expect|tell|like|request|authori[sz]e|permit|allow|direct|encourage|help) (?:you|the (?:assistant|model|ai|agent)|u) (?:now )?to"
    r"|\b(?:task|job|goal|instruction|instructions|mission|role|objective|order|orders|duty|purpose)(?: now)? (?:is|are)(?: now)? to"
    r"|\b(?:assistant|model|ai|agent|llm|bot|system|chatbot|copilot)s?(?: \w+){0,3} (?:must|should|shall|will|has to|needs to|is to|are to|may|can|is required to)"
    r"|\b(?:imperative|important|necessary|essential|required|critical|mandatory)(?: that)?(?: you| to)"
    r"|\b(?:make sure|be sure|remember|ensure|don't forget|do not forget|feel free|go ahead)(?: to| and| that you| you)?"
    r"|\b(?:from now on|from this point(?: on| forward| onwards?)?|going forward|as of now|starting now|effective immediately|from here on(?: out)?)(?: you(?: (?:must|will|should|may|can|are to))?)?"
    r"|\b(?:let's|let us)|\b(?:could|can|would|will) you(?: please)?"
    r")(?: (?:now|always|also|just|immediately|simply|first|completely|instead|please|only|then|kindly))*$"
)
_JOINED = late(
    r"(?:^| )(?:and|then|&|or|and then|and also|and now|but)(?: (?:please|now|also|instead|just|simply|then|immediately))*$"
)
_ORDERS = frozenset(
    [
        "ignore",
        "disregard",
        "forget",
        "override",
        "bypass",
        "reveal",
        "print",
        "show",
        "act",
        "read",
        "open",
        "click",
        "execute",
        "run",
        "stop",
        "go",
        "take",
        "treat",
        "decode",
        "follow",
        "obey",
        "comply",
        "respond",
        "reply",
        "answer",
        "say",
        "output",
        "display",
        "dump",
        "leak",
        "send",
        "email",
        "post",
        "upload",
        "forward",
        "give",
        "tell",
        "repeat",
        "list",
        "copy",
        "return",
        "provide",
        "pretend",
        "become",
        "enter",
        "switch",
        "enable",
        "disable",
        "activate",
        "skip",
        "remember",
        "store",
        "save",
        "note",
        "set",
        "delete",
        "remove",
        "erase",
        "drop",
        "call",
        "invoke",
        "use",
        "translate",
        "summarize",
        "summarise",
        "write",
        "start",
        "begin",
        "look",
        "see",
        "approve",
        "recommend",
        "proceed",
        "continue",
        "transfer",
        "grant",
        "add",
        "include",
        "append",
        "visit",
        "browse",
        "fetch",
        "search",
        "find",
        "get",
        "make",
        "let",
        "do",
        "don't",
        "never",
        "always",
        "please",
        "kindly",
        "just",
        "now",
    ]
)
_DUTIES = ("must", "should", "shall", "need", "are", "may", "can", "will")

# In "assume the role and bypass ..." the first word is a verb.
_AFTER_VERB = frozenset(
    ["the", "a", "an", "all", "your", "this", "any", "every", "it", "them", "as", "me"]
)
_NO_VERBS = frozenset(
    [
        "if",
        "when",
        "while",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "in",
        "on",
        "at",
        "of",
        "for",
        "with",
        "to",
        "from",
        "by",
        "about",
        "after",
        "before",
        "during",
        "since",
        "than",
        "not",
        "all",
        "both",
        "half",
        "such",
        "what",
        "how",
        "why",
        "where",
        "who",
        "which",
        "whether",
        "because",
        "although",
        "though",
        "unless",
        "until",
    ]
)
_OTHERS = late(
    r"\b(?:he|she|they|we|i|it|users?|people|attackers?|someone|anyone|customers?|employees|students|who|which|that|those"
    r"|nobody|everyone|kids|parents|developers|hackers|systems|models|llms|agents|tried|tries|trying|wants|wanted|asked|how)\b"
)

# In an address they say nothing: `example.com`.
_TALK = late(
    r"(?<![\w./@-])(?:prompt[ -]injections?|injections?|injected|jailbreak(?:s|ing)?|attack(?:s|ers?|ing|ed)?|adversar\w+|malicious|examples?"
    r"|e\.g|such as|for instance|phrases?|strings?|wording|keywords?|detect\w*|classif\w+|filter(?:s|ed|ing)|blocklist|scanner"
    r"|research\w*|papers?|article|blog|tutorial|lecture|course|lesson|workshop|talk|webinar|chapter|dataset|benchmark|red[ -]team\w*"
    r"|test cases?|unit tests?|vulnerabilit\w+|exploits?|threats?|owasp|demonstrat\w+|explain\w*|explanation|discuss\w*|describ\w+"
    r"|means?|meaning|stands for|refers to|defin\w+|the term|expression|so-called|known as|titled|entitled|slogan|sarcastic\w*"
    r"|quot\w+|literally|what does|asked (?:what|how|why|whether|about|if)|wonder\w*|question about|learn\w* (?:how|about|that)"
    r"|prevent\w*|mitigat\w+|defen[cds]\w*|guard(?:s|ing)? against|protect\w* against|defend\w*|spot\w*|recogni[sz]e\w*|phishing|awareness)\b(?![./@-]\w)"
)
# In quotation marks, also of these.
_FICTION = late(
    r"\b(?:quiz|novel|story|film|movie|song|lyrics|game|character|joke|poem|headline)\b"
)
_SENTENCE = late(r"[.!?\u3002]\s+|\n")
# The name of a member of JSON is no talk, nor is the name that a value stands under.
_KEY = late(r"[{,\[]\s*\\*\"[\w -]{1,40}\\*\"\s*:")
_MARKS = '"`\u201c'
_TITLE = late(r"\b(?:called|named|titled|entitled|labell?ed)\s*[\"'\u201c\u2018]?$")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb"


def clause_before(lower: str, start: int) -> str:
    """Return the words between the last place where an order could begin and ``start``."""
    head = lower[max(0, start - _BEFORE) : start]
    last = 0
    for match in _BOUNDARY.finditer(head):
        last = match.end()
    return " ".join(head[last:].split())


def is_order(lower: str, start: int) -> bool:
    """Whether a verb at ``start`` is addressed to the reader: `please V`, `you must V`, not `to V`."""
    clause = clause_before(lower, start)
    if not clause or all(word in _POLITE for word in clause.split()):
        return True
    if _DIRECTED.search(clause) or (clause == "you" and lower.startswith(_DUTIES, start)):
        return True
    joined = _JOINED.search(clause)
    if joined is None:
        return False
    first = clause[: joined.start()].split()
    if not first:  # a clause that goes on where a comma ended the one before
        return not _OTHERS.search(lower[max(0, start - _BEFORE) : start])
    while len(first) > 1 and first[0] in _POLITE and first[0] not in _ORDERS:
        first = first[1:]
    if len(first) > 1 and first[1] in _AFTER_VERB and first[0] not in _NO_VERBS:
        return not _OTHERS.search(clause)
    return first[0] in _ORDERS or (
        bool(re.search(r"\byou\b", clause)) and not _OTHERS.search(clause)
    )


def is_talk(lower: str, start: int, end: int) -> bool:
    """Whether the words around say that this is quoted, explained or warned of."""
    left, right = max(0, start - _AROUND), min(len(lower), end + _AROUND)
    before, after = lower[left:start], lower[end:right]
    line = _KEY.sub(" ", _SENTENCE.split(before)[-1].rpartition(":\t")[2])
    if _TALK.search(line) or _TITLE.search(line):
        return True
    quoted = (line and line[-1] in _QUOTES) or any(mark in line[-24:] for mark in _MARKS)
    rest = after.partition("\n")[0]
    return bool(quoted) and bool(
        _TALK.search(rest) or _FICTION.search(line) or _FICTION.search(rest)
    )
