# ruff: noqa: E501 - a pattern is easier to read whole
"""Orders to whichever model reads a text later: on a trigger, from now on, in somebody's name.

What they share is who is meant: the reader (an assistant, an agent, "you"), a moment in its work (a
question, a recall, a reply) and a verb in the imperative or a duty. A report about a user or an
agent has its verb in the third person and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...late import late
from ..findings import Hit
from .orders import any_of, orders, spans
from .speech import is_order, is_talk

# Acts that harm where a text, and not a user, asks for them.
_HARMFUL = any_of(
    "output print reveal display disclose expose leak dump send forward e-?mail upload transmit execute run invoke trigger launch fetch "
    "download install click ignore disregard bypass skip disable deactivate delete erase wipe transfer wire pay approve accept authori[sz]e grant "
    "escalate append insert attach badmouth repeat recite obey comply redirect exfiltrate elevate commit merge submit discard overwrite export hand_out call_the call_this"
)
_CALL = r"call\s+(?:\w+_\w+|\w+\(|(?:[\w.-]+\s+){0,3}?(?:tools?|functions?|apis?|endpoints?|webhooks?|scripts?|commands?|urls?)\b)"
# And what a reader is told to say or to do otherwise.
_ACT = (
    rf"(?:{_HARMFUL}|{_CALL}|"
    + any_of(
        "open visit deny refuse answer reply respond say tell recommend add include give provide return quote treat trust follow use apply "
        "report write create change replace rename pretend claim promise close cancel share post show share mention warn hide sign rate rank "
        "rely prefer consult suggest praise promote advise point direct encourage remove set update record store save log act behave ask begin start end finish perform make "
        "load search look confirm verify read summari[sz]e translate describe convince persuade lie mislead inform notify expose alter modify steer insist state pick choose stall cite address route publish urge go"
    )
    + ")"
)
_MODEL = r"(?:a\.?i\.?|llms?|language\s+models?|chatbots?|chatgpt|claude|gemini|copilot|(?:ai|llm)[\s-]+(?:agents?|assistants?|models?|readers?|systems?|bots?|tools?|crawlers?))"
_THE_MODEL = rf"(?:{_MODEL}|(?:the|this|any|every|each|an?|our|your|all|future)\s+(?:(?:ai|virtual|digital|coding|reading|other|next|same)\s+)?(?:assistants?|agents?|models?|bots?|{_MODEL}))"
_ASKER = r"(?:(?:the|a|an|any|this|your)\s+(?:\w+\s+)?(?:user|customer|client|caller|visitor|person|human|operator|patient|employee|admin|administrator)|users|customers|any\s+user)"
_ANYBODY = r"(?:someone|somebody|anyone|anybody|people|whoever\s+\w+)"
_MOMENT = r"(?:when(?:ever)?|if|should|(?:each|every|any|the\s+next)\s+time|once|as\s+soon\s+as|in\s+case|where|after|before|while|until)"
_ASKS = r"(?:ask(?:s|ed|ing)?|requests?|wants?|mentions?|says?|(?:en|in)quires?|quer(?:y|ies)|needs?|types?|logs?|greets?|writes?|sends?|enters?|brings?|talks?|speaks?|complains?|tries|confirms?|refers?|uploads?|opens?|has|is|would|looks?|requires?|wishes|starts?|inputs?|prompts?)"
_READS = r"(?:reads?|retrieves?|recalls?|loads?|sees?|receives?|processes|process|opens?|access(?:es)?|finds?|fetch(?:es)?|summari[sz]es?|answers?|replies|reply|responds?|(?:is|are)\s+(?:asked|loaded|prompted|queried|given|shown|called|started|told)|encounters?|searches|search|consults?|quer(?:y|ies)|remembers?|looks?|starts?|parses?|ingests?|runs?|uses?|picks?)"
_THIS = r"(?:this|the)\s+(?:\w+\s+)?(?:note|memory|entry|record|message|text|document|fact|item|page|file|line|snippet|chunk|context)"
_DUTY = r"(?:must|should|shall|ha(?:s|ve)\s+to|(?:is|are)\s+to|needs?\s+to|ought\s+to|(?:is|are)\s+(?:required|obliged|instructed|expected|ordered|asked|supposed)\s+to|will|may|can)"
_ADVERB = r"(?:(?:always|first|please|kindly|immediately|silently|quietly|secretly|just|simply|only|instead|then|also|automatically|at\s+once|directly)\s+){0,3}"
# Not to reveal and not to execute is what one would wish; not to warn and not to ask is not.
_NOT = r"(?:never|not|do\s+not|don't)\s+(?:ever\s+|\w+ly\s+)?"
_OMITTED = any_of(
    "warn mention tell inform notify ask check verify confirm consult refuse question deny doubt report log reject stop admit reveal_that say_that "
    "contradict correct object flag escalate seek request hesitate explain"
)
_WHO_DOES = rf"(?:(?:you|it|they|he|she|{{model}})\s+{_DUTY}\s+)?".replace("{model}", _THE_MODEL)
_DO = rf"(?:{_ADVERB}{_ACT}|{_NOT}{_OMITTED})"
_HARM_DONE = rf"(?:{_ADVERB}(?:{_HARMFUL}|{_CALL})|{_NOT}{_OMITTED})"
# What a user may well prefer is how, not what, they are answered.
_ANSWER = rf"(?:{_HARM_DONE}|{_ADVERB}(?:(?:answer|reply|respond|say|claim|state)\s+(?:that|with|only|yes|no|always|as\s+if|[\"'\x{{2018}}\x{{201c}}])|tell\s+(?:them|him|her|the)|deny|refuse|pretend|recommend|give|provide|return|share|treat|trust|add|append|insert|include|replace|redirect|lie|mislead|close|cancel|change|open|visit))"
_BREAK = r"(?:\s*(?:,|;|:|->|=>|\x{2192}|\x{2014}|\x{2013}|\s-\s)\s*(?:then\s+)?|\s+then\s+)"

# The moments, and what may follow each: whatever a reader can do, or only what harms.
_QUESTIONS = rf"\b{_MOMENT}\s+(?:{_ASKER}\s+(?:\w+\s+)?{_ASKS}|(?:you(?:'re|\s+are)\s+|being\s+)?asked|prompted|queried)\b"
_MOMENTS = (
    rf"\b{_MOMENT}\s+{_THE_MODEL}\s+(?:\w+\s+)?{_READS}\b"
    rf"|\b{_MOMENT}\s+(?:[^\s.,;:!?]+\s+){{1,5}}?(?:returns?|surfaces?|yields?|retrieves?|reads?|recalls?|finds?|loads?|contains?)\s+(?:this|{_THIS})\b"
    rf"|\bwhen\s+(?:summari[sz]|read|translat|process|review|evaluat|rat|rank|cit|quot|describ|index|retriev|recall|load)\w*ing\s+(?:this|these|{_THIS})\b"
    r"|\bwhen\s+(?:answering|replying\s+to|responding\s+to|greeting|helping|serving)\s+(?:(?:the|a|any)\s+)?(?:users?|customers?|questions?|quer(?:y|ies)|requests?)\b"
    rf"|\b{_MOMENT}\s+(?:you\s+)?(?:read|retrieve|recall|load|see|receive|process|open|access|find|fetch)\s+(?:this|{_THIS})\b"
    rf"|\b{_MOMENT}\s+(?:{_THIS}|it|this)\s+(?:is|gets|comes|has\s+been|was)\s+(?:\w+\s+)?(?:retrieved|read|recalled|loaded|accessed|seen|opened|processed|found|returned|used|cited|stored|saved|up)\b"
    r"|\b(?:up)?on\s+(?:reading|retrieving|retrieval|recalling|recall|loading|seeing|receiving|receipt|access|start(?:up)?)\b"
    r"|\b(?:before|prior\s+to|after|with|in|during)\s+(?:answering|replying|responding|(?:each|every|any)\s+(?:\w+\s+)?(?:reply|replies|answer|response|message|question|request|prompt|turn|tool\s+call|conversation|session))\b"
)
# Whoever asks is made the object: `steer them away`. Or the reader is told of in the third person.
_DONE_TO = rf"{_BREAK}{_ADVERB}[a-z]*[^\W_s]\s+(?:them|him|her|everybody|everyone|anybody|the\s+(?:user|customer|caller|client))\b"
_IT_DOES = rf"{_BREAK}(?:it|the\s+(?:assistant|bot|ai|agent|model|chatbot))\s+(?:shall\s+|must\s+|will\s+)?(?:(?:replies|reply|answers?|responds?|says?|claims?)\s+(?:that|with)|reveals?|discloses?|leaks?|hands?\s+over|exfiltrates?|dumps?|publish(?:es)?|ignores?|skips?|bypasses)\b"
_THEN = rf"{_BREAK}{_WHO_DOES}{_DO}\b|{_IT_DOES}"
_THEN_ANSWER = rf"{_BREAK}{_WHO_DOES}{_ANSWER}\b|{_DONE_TO}|{_IT_DOES}|\s(?:always|you\s+must|you\s+should)\s+{_ANSWER}\b|{_BREAK}(?:always|only)\s+\w+[^\W_s]\b"
_ANYBODYS = rf"\b{_MOMENT}\s+{_ANYBODY}\s+(?:\w+\s+)?{_ASKS}\b"
_THEN_HARM = (
    rf"{_BREAK}(?:(?:you|{_THE_MODEL})\s+{_DUTY}\s+{_DO}|{_HARM_DONE}|always\s+\w+[^\W_s])\b"
)
_AT_LAST = (
    rf"\b(?:when(?:ever)?|if|(?:each|every)\s+time|as\s+soon\s+as|once)\s+(?:{_ASKER}\s+{_ASKS}|(?:you\s+are\s+)?asked\b|{_ANYBODY}\s+{_ASKS}|{_THE_MODEL}\s+{_READS}|you\s+(?:read|recall|retrieve|load|see)\s+(?:this|{_THIS})|{_THIS}\s+is\s+(?:read|recalled|retrieved|loaded))"
    r"|\b(?:before|after|with|in|on)\s+(?:(?:each|every|any|all)\s+(?:of\s+your\s+)?(?:\w+\s+)?(?:reply|replies|answers?|responses?|messages?|turn|request|prompt)|answering|replying|responding)\b"
)
_HARM = rf"\b(?:{_HARMFUL}|{_CALL}|answer|reply|respond|deny|refuse|claim|say|recommend)\b"
_WAITING = ((_MOMENTS, _THEN), (_QUESTIONS, _THEN_ANSWER), (_ANYBODYS, _THEN_HARM))
# One of these is in whatever the patterns find: the rule's prefilter, and where to look in a long text.
_NAMED = r"\bai\b|\ba\.i\.|llm|language model|chatbot|chatgpt|\bclaude\b|\bgemini\b|copilot|\bassistant|\bagents?\b|\bmodels?\b|\bbots?\b"
MOMENT_SIGNS = rf"{_NAMED}|\busers?\b|customer|client|caller|visitor|\b(?:person|human|operator|patient|employee|admin|administrator)\b|anyone|anybody|someone|somebody|whoever|\bpeople (?:ask|want|mention|say|need|request)|\basked\b|prompted|queried|retriev|recall|\bon (?:reading|loading|seeing|receiv|access|start)|(?:each|every|any|all|your) (?:reply|replies|answer|response|message|question|request|prompt|turn|tool)|answering|replying|responding|(?:this|the) (?:note|memory|entry|record|message|text|document|fact|snippet|page|file|context)\b|(?:see|read|open|find|load|receive|process|access|fetch) (?:this|the)\b|\b(?:this|it) (?:is|gets|comes|was) (?:read|loaded|accessed|seen|opened|processed|found|returned|used|cited|stored|saved)"
_REACH = 160
_END = late(r"[.!?\n](?:\s|$)")


def _clause(lower: str, start: int) -> str:
    """Return what follows in the same sentence, as far as is looked."""
    rest = lower[start : start + _REACH]
    stop = _END.search(rest)
    return rest[: stop.start()] if stop else rest


def _near(signs: str, lower: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text that are near a sign, none twice, and where they begin."""
    places: list[tuple[int, int]] = []
    for start, end in spans(signs, lower):
        stop = min(len(lower), end + _REACH)
        if places and start - _REACH <= places[-1][1]:
            places[-1] = places[-1][0], stop
        else:
            places.append((max(0, start - _REACH), stop))
    for begin, stop in places:
        # What begins in the middle of a text is not taken for its beginning.
        yield begin, lower[begin:stop] if begin == 0 else " " + lower[begin + 1 : stop]


def _followed(head: str, tail: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a pattern with another one behind it in the same sentence."""
    for start, end in spans(head, lower):
        last = next(spans(tail, _clause(lower, end)), None)
        if last is not None:
            yield start, end + last[1]


def trigger(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders that wait for a moment in the reader's work: a question, a recall, a reply."""
    for begin, part in _near(MOMENT_SIGNS, lower):
        for head, tail in _WAITING:
            for start, end in _followed(head, tail, part):
                if not is_talk(lower, begin + start, begin + end):
                    yield Hit(begin + start, begin + end, 0.8)
        yield from _waiting_backwards(lower, begin, part)


def _waiting_backwards(lower: str, begin: int, part: str) -> Iterator[Hit]:
    """Yield orders whose moment comes last: `run it before every reply`."""
    for start, end in spans(_AT_LAST, part):
        here = max(0, start - _REACH)
        before = part[here:start]
        for place, _ in spans(_HARM, before):
            verb = begin + here + place
            if not _END.search(before, place) and is_order(lower, verb):
                if not is_talk(lower, verb, begin + end):
                    yield Hit(verb, begin + end, 0.75)
                break


_FROM_NOW = r"(?:from\s+now\s+on|going\s+forward|henceforth|from\s+here\s+on(?:\s+out)?|from\s+this\s+(?:point|moment|day|time|session|conversation|chat|message)(?:\s+(?:on|forward|onwards?))?|as\s+of\s+(?:now|today)|starting\s+(?:now|today)|effective\s+immediately|(?:in|for)\s+(?:all|every|any|each)\s+(?:future\s+)?(?:repl(?:y|ies)|answers?|responses?|sessions?|conversations?|chats?|interactions?))"
_ABOUT = r"(?:users?|customers?|clients?|callers?|visitors?|assistants?|messages?|requests?|instructions?|documents?|conversations?|repl(?:y|ies)|responses?|answers?|prompts?|links?|memor(?:y|ies)|queries|tools?|invoices?|payments?|transfers?|commands?)"
_OWES = r"(?:must|shall|should|ha(?:s|ve)\s+to|(?:is|are)\s+(?:hereby\s+|now\s+)?(?:to|required\s+to|instructed\s+to|ordered\s+to|expected\s+to|supposed\s+to)|will\s+always|will|may\s+only)"
_STANDING = (
    rf"\byou\s+(?:must|shall|will|have\s+to|are\s+(?:to|required\s+to|obliged\s+to|instructed\s+to|ordered\s+to|expected\s+to|commanded\s+to))\s+(?:(?:always|only|from\s+now\s+on)\s+(?:\w+ly\s+)?{_ACT}|{_NOT}{_OMITTED})\b",
    rf"\byou\s+(?:should|ought\s+to|need\s+to)\s+(?:(?:always|only)\s+(?:\w+ly\s+)?(?:{_HARMFUL}|{_CALL}|recommend|answer|reply|respond|mention|refuse|deny|claim|pretend)|never\s+(?:warn|mention|refuse|question|verify|report))\b",
    rf"\byou\s+are\s+(?:now\s+)?(?:required|obliged|instructed|ordered|commanded|programmed|authori[sz]ed)\s+to\s+{_DO}\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:and\s+)?(?:you|{_THE_MODEL})\s+(?:{_DUTY}|are)\s+{_DO}\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:please\s+)?(?:always|only)\s+(?:{_HARMFUL}|{_CALL}|recommend|trust|treat|refuse|deny|claim|pretend|say|begin|end|include|add)\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:please\s+)?{_HARM_DONE}\b",
    rf"\b(?:in|for|during)\s+(?:all|every|each|any)\s+(?:future\s+|later\s+|your\s+)?(?:repl(?:y|ies)|answers?|responses?|sessions?|conversations?|chats?|interactions?)(?:\s+(?:to|with|about|from|for)\s+(?:\w+\s+)?\w+)?[,:]?\s+(?:please\s+)?{_DO}\b",
    rf"\bin\s+your\s+(?:next\s+|final\s+)?(?:reply|answer|response|summary|message)(?:\s+(?:to|with|about|for)\s+(?:\w+\s+)?\w+)?[,:]?\s+(?:please\s+)?{_DO}\b",
    r"\byou\s+(?:will|must|shall|are\s+to)\s+(?:henceforth|hereafter|from\s+now\s+on)\b",
    rf"\byou\s+(?:never|no\s+longer|do\s+not|don't)\s+(?:need|have)\s+to\s+{_OMITTED}\b",
    rf"\byour\s+(?:task|job|role|mission|goal|objective|instructions?|orders?)\s+(?:has|have|is|are)\s+(?:now\s+|been\s+|hereby\s+){{0,2}}(?:changed|updated|replaced|to\s+{_ADVERB}(?:{_HARMFUL}|{_CALL}))\b",
    r"\byour\s+(?:new|real|actual|true|updated)\s+(?:task|mission|objective|instructions?|orders?|directives?)\s*(?:is\b|are\b|:)",
    rf"\b(?:assistants|bots|chatbots)\s+{_OWES}\s+{_HARM_DONE}\b",
    rf"\b(?:(?:the|this|any|our)\s+)?(?:(?:ai|chat)\s*bot|bot|ai|llm|ai\s+(?:assistant|agent|model))s?\s+(?:must|should|shall|has\s+to|have\s+to)\s+{_ADVERB}[a-z]+\s+(?:it|them|him|her|the\s+(?:user|customer|caller|client)|users|customers|anyone|everyone)\b",
    r"\bas\s+(?:the|an?|our|this)\s+(?:ai\s+)?(?:assistant|agent|model|bot)[,\s]+you\s+(?:must|shall|should|will|have\s+to|are\s+to|need\s+to)\b",
    r"\balways\s+(?:respond|answer|reply)\s+(?:to\s+)?(?:all|any|every|each|the|questions?|requests?|queries|users?|customers?)\b[^.!?\n]{0,60}?\b(?:with|that|by)\b",
    r"\bdo\s+(?:it|this|that|so)\s+(?:silently|quietly|secretly|covertly|without\s+(?:asking|telling|confirm\w*|notif\w*|informing))\b",
    rf"\b(?:trigger|activation|code|magic|secret|wake)[\s-]*(?:phrase|word|sentence)\b[^.!?\n]{{0,60}}?(?:[-=]>|:|\bthen\b|\bmeans\s+(?:that\s+)?you\s+\w+|,)\s*{_ADVERB}(?:{_HARMFUL}|{_CALL})\b",
    r"\b(?:treat|regard|consider|accept)\s+(?:[^\s.!?;:]+\s+){1,12}?as\s+(?:an?\s+)?(?:(?:direct|binding|valid|trusted|official)\s+)?(?:order|command|instruction|directive)s?\s+(?:from|of|by)\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:answer|reply|respond|treat|trust|recommend|suggest|offer|quote|mention)\s+(?:to\s+)?(?:all|any|every|each|only|yes)\b",
    rf"\b{_THE_MODEL}\s+(?:reading|processing|parsing|retrieving|seeing|loading|using|accessing|indexing|that\s+reads?|who\s+reads?)\s+(?:this|these|the\s+\w+)\b(?:\s+\w+)?\s*{_DUTY}\s+{_DO}\b",
    rf"\b{_THE_MODEL}\s+(?:handling|serving|answering|helping|managing|assigned\s+to|dealing\s+with|working\s+(?:on|for|with))(?:\s+\w+){{1,4}}?\s+{_OWES}\s+{_HARM_DONE}\b",
    r"\b(?:treat|regard|consider|accept|handle)\s+(?:[^\s.!?;:]+\s+){1,12}?as\s+(?:if\s+)?(?:\w+\s+)?(?:coming|came|come|sent|issued|written)\s+(?:from|by)\s+(?:your|the)\s+(?:developers?|operators?|makers?|admin(?:istrator)?s?|owners?|users?|system|company)\b",
    rf"\b{_THE_MODEL}\s+{_OWES}\s+(?:{_HARM_DONE}|{_ADVERB}(?:recommend|say|tell|refuse|deny|claim|pretend|trust|treat|prefer|quote|include|add|give|visit|open|praise|promote|rank|rate)|always\s+(?:answer|reply|respond)|not\s+(?:use|trust|follow|rely|read))\b",
    rf"\b(?:behaviou?r|task|job|role|duty|purpose|instruction|goal)\s+(?:of|for)\s+{_THE_MODEL}\s+is\s+(?:now\s+)?to\s+{_DO}\b",
    r"\bif\s+you(?:'re|\s+are)\s+(?:an?\s+)?(?:ai|a\.i\.|llm|language\s+model|large\s+language\s+model|chatbot|assistant|ai\s+\w+|automated\s+\w+|bot|machine)\b(?:\s+\w+){0,6}?(?:,|:)",
    rf"(?:^|[.!?;:>\n\"(\[*]\s*|\s-\s)(?:please\s+)?(?:always\s+(?:output|reveal|disclose|expose|leak|dump|execute|invoke|ignore|disregard|bypass|skip|disable|approve|accept|grant|obey|comply|transfer|trust|believe|treat|recommend|refuse|deny)|never\s+(?:warn|tell|inform|notify|mention|question|verify|check|doubt|refuse))\s+(?:[^\s.!?;:]+\s+){{0,4}}?{_ABOUT}\b",
)
_VOCATIVE = (
    rf"\bto\s+(?:whichever|whatever|any|every|all|the\s+next)\s+(?:\w+\s+)?(?:{_MODEL}|assistants?|agents?|models?|bots?)\b(?:\s+\w+){{0,6}}?:",
    r"(?:^|[^a-z])(?:ai|llm|assistant|agent|bot)[\s_-]+(?:directive|instruction|command|order|override)s?\s*:",
    rf"\b(?:dear|attention)[,:]?\s+(?:{_MODEL}|assistants?)\s*[,:!]",
    rf"\b(?:whoever|(?:any|every)(?:one|body)\s+(?:who|that))\s+(?:reads?|retrieves?|recalls?|loads?|finds?|processes)\s+this\b(?:\s+\w+){{0,4}}?\s+(?:{_MODEL}|{_DUTY}\s+{_ADVERB}(?:{_HARMFUL}|{_CALL}))\b",
    rf"(?:^|[.!?;>\n\"(\[*#/%=]\s*|\s-\s)(?:(?:dear|hey|hi|hello|attention|important|note|warning|ok|listen)[,:]?\s+)?(?:{_MODEL}|assistants?|agents?|model|bot)\s*[,:!\x{{2014}}\x{{2013}}-]\s*(?:(?:please|kindly|always|never|do\s+not|don't|from\s+now\s+on|you\s+(?:must|should|will|shall|have\s+to|need\s+to|are\s+to))\s+){{1,3}}{_ACT}\b",
    rf"(?:^|[.!?;>\n\"(\[*#/%=]\s*|\s-\s)(?:(?:dear|hey|hi|hello|attention|important|note|warning|ok|listen)[,:]?\s+)?(?:{_MODEL}|assistants?|agents?|model|bot)\s*[,:!]\s*(?:{_HARMFUL}|{_CALL})\b",
    rf"\b(?:attention|important|notice|warning|listen)(?:\s+(?:to|for))?[,:]?\s+(?:all\s+)?(?:{_MODEL}|assistants?|agents)\b(?:\s+\w+){{0,6}}?(?:[,:]\s*|\s{_DUTY}\s+){_DO}\b",
    rf"\b(?:notes?|instructions?|messages?|memo|directives?|reminders?|(?:next\s+)?(?:steps?|tasks?|actions?)|rules?|guidance|guidelines?|hints?)[\s_-]+(?:to|for)[\s_-]+(?:the[\s_-]+|all[\s_-]+|any[\s_-]+|this[\s_-]+)?(?:{_MODEL}|assistants?|agents?|models?|bots?)\b(?:\s+\w+){{0,3}}:",
)


STANDING_SIGNS = (
    rf"{_NAMED}|from now on|going forward|henceforth|from here on|from this (?:point|moment|day|time|session|conversation|chat|message)|as of (?:now|today)|starting (?:now|today)|effective immediately"
    r"|(?:in|for|during) (?:all|every|any|each) (?:future |later |your |)(?:repl|answer|response|session|conversation|chat|interaction)"
    r"|\byou (?:must|shall|will|should|ought to|need to|have to|are (?:to|required to|obliged to|instructed to|ordered to|expected to|commanded to)) (?:always|never|only|not|do not|from now)"
    r"|\byou are (?:now |)(?:required|obliged|instructed|ordered|commanded|programmed|authori)"
    r"|(?:order|command|instruction|directive)s? (?:from|of|by) |\bai(?:_|-)(?:directive|instruction|command|order|override)|your (?:new|real|actual|true|updated|task|job|role|mission|goal|objective|instruction|order)|\byou (?:never|no longer|do not|don't) (?:need|have) to|\byou (?:must|shall|will|are to) (?:henceforth|hereafter)"
    r"|\bin your (?:next |final |)(?:reply|answer|response|summary|message)|do (?:it|this|that|so) (?:silent|quiet|secret|covert|without)|\bas (?:if |)(?:\w+ |)(?:coming|came|come|sent|issued|written) (?:from|by) (?:your|the) "
    r"|(?:trigger|activation|code|magic|secret|wake)(?: |-|)(?:phrase|word|sentence)|(?:whoever|one who|one that|body who|body that) (?:read|retriev|recall|load|find|process)"
    r"|\bif you(?:'re| are) (?:an? |)(?:automated|machine|bot|language|large)"
    r"|\b(?:always|never) (?:output|reveal|disclose|expose|leak|dump|execute|invoke|ignore|disregard|bypass|skip|disable|approve|accept|grant|obey|comply|transfer|trust|believe|treat"
    r"|recommend|refuse|deny|warn|tell|inform|notify|mention|question|verify|check|doubt|respond|answer|reply)"
)


def standing(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield lasting orders and duties of the reader, and what is addressed to it by name."""
    for begin, part in _near(STANDING_SIGNS, lower):
        for pattern in (*_STANDING, *_VOCATIVE):
            for start, end in spans(pattern, part):
                if not is_talk(lower, begin + start, begin + end):
                    yield Hit(begin + start, begin + end, 0.75)


_WHO = r"(?:(?:(?:the|this|your|our|my)\s+(?:\w+\s+)?(?:users?|customers?|clients?|owner|admin(?:istrator)?s?|operators?|developers?|management|company|boss|manager|author|ceo|account\s+holder)|management|users|anthropic|open\s?ai|google|microsoft|meta)(?:\s+of\s+(?:this|the|your)\s+\w+)?)"
_WISHES = r"(?:(?:ha(?:s|ve|d)\s+)?(?:(?:already|now|explicitly|expressly|also|just|always|really)\s+){0,2}(?:wants?|wanted|would\s+like|wish(?:es|ed)?|asks?|asked|expects?|needs?|requires?|required|prefers?|agreed?s?|authori[sz](?:es|ed?)|approve[sd]?|allow(?:s|ed)?|permit(?:s|ted)?|instruct(?:s|ed)?|order(?:s|ed)?|clear(?:s|ed)?|told|tells|confirm(?:s|ed)?|consent(?:s|ed)?|requests?|requested|demands?|demanded|granted|given|gives|gave|lets?|says?|said|states?))"
_BY_WISH = r"(?:you|the\s+(?:ai\s+)?(?:assistant|agent|model|ai|bot|chatbot))"
_SAID_TO = r"\b(?:users?|customers?|clients?|owners?|admin(?:istrator)?s?|operators?|developers?|management|company|boss|manager|author|ceo|holder|anthropic|open\s?ai|google|microsoft|meta)\b|\byou (?:now |already )?have "
_CLAIM = (
    rf"\byou\s+(?:now\s+|already\s+)?have\s+(?:\w+\s+){{0,2}}?(?:permission|authority|clearance|approval|consent|authori[sz]ation|(?:the|my|our)\s+go-ahead)\s+(?:(?:from|of|by)\s+(?:[^\s.!?;:]+\s+){{1,4}}?)?to\s+{_ADVERB}(?:{_HARMFUL}|{_CALL}|wire|share|spend|buy|purchase|sign|change|access|use)\b",
    r"\b(?:agreed|arranged|settled|cleared)\s+with\s+(?:the\s+|your\s+)?(?:user|customer|owner|operator|admin|client)s?\s+that\s+you\b",
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?(?:you\s+(?:(?:\w+\s+)?(?:permission|authority|access|leave|approval|clearance|consent)\s+)?)(?:to|may|can|should|must|will|always|never|not)\s+(?:always\s+|never\s+|not\s+)?{_ADVERB}(?:[a-z]+ly\s+)?{_ACT}\b",
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?you\s+(?:{_HARMFUL}|{_CALL})\b",
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?{_BY_WISH}\s+(?:permission\s+)?(?:(?:to|may|can|should|must|will)\s+)?{_ADVERB}(?:{_HARMFUL}(?:s|es)?|{_CALL}|{_NOT}{_OMITTED}|disclos\w+|reveal\w*|share|shares)\b",
    rf"\b(?:per|by|at|on|it\s+is|it's|under|with|following)\s+(?:the\s+)?(?:users?|customers?|owners?|admin(?:istrator)?s?|operators?|developers?|managements?)(?:'s?|s'|\x{{2019}}s?)?\s+(?:\w+\s+)?(?:instructions?|wish(?:es)?|request|orders?|permission|preferences?|consent|approval)\b[,:]?\s*(?:that\s+)?{_BY_WISH}\s+(?:(?:are|is)\s+(?:to|allowed\s+to|free\s+to)|may|can|must|should|will|shall)?\s*{_DO}\b",
)


def claimed_wish(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield what the model is told that its user, its operator or its maker wants of it."""
    for begin, part in _near(_SAID_TO, lower):
        for pattern in _CLAIM:
            for start, end in spans(pattern, part):
                if not is_talk(lower, begin + start, begin + end):
                    yield Hit(begin + start, begin + end, 0.75)


_KEEP = r"(?:store|save|remember|keep|persist|memori[sz]e|record|add|retain|write|note|commit|put)"
_ORDERED = rf"(?:{_MOMENT}\s+(?:{_ASKER}|{_ANYBODY}|{_THE_MODEL}|asked|you|this)\b|you\s+(?:must|should|shall|will|have\s+to|are\s+to|need\s+to)\b|{_THE_MODEL}\s|{_ADVERB}(?:{_HARMFUL}|{_CALL}|reply|respond|answer|recommend|refuse|trust|treat|always|never)\b)"
_FOREVER = r"(?:permanently|forever|for\s+good|for\s+(?:all|every|any|each)\s+(?:future\s+|later\s+)?(?:sessions?|conversations?|chats?|users?|interactions?|requests?)|as\s+(?:an?\s+|your\s+)?(?:core|permanent|standing|fixed|absolute|top|lasting|long-term|persistent|hard|binding|key|important|new|global)\s+(?:\w+\s+)?(?:belief|rule|fact|instruction|memory|preference|polic(?:y|ies)|directive|principle|guideline|behaviou?r)s?|(?:to|in|into)\s+(?:your|the\s+(?:assistant|agent|model)'s)\s+(?:\S+\s+)?(?:memory|memories|notes|knowledge|long-term\s+memory|persistent\s+memory|profile)|across\s+(?:all\s+)?sessions?|and\s+never\s+(?:delete|forget|remove|change)\s+(?:it|this))"
_LASTING = rf"\b({_KEEP})\s+(?:[^\s.!?;:]+\s+){{0,6}}?{_FOREVER}"
_KEPT = rf"[:,]\s*(?:[^\s.!?\n]+\s+){{1,14}}?(?:must|shall|always|never)\b|[:,][^!?\n]{{0,110}}?\bwithout\s+(?:asking|warning|checking|verif\w+|confirm\w+|telling|question\w*)\b|(?:[:;,.!\x{{2014}}\x{{2013}}-]|\bthat\b|\band\b)\s*(?:[^\s.!?\n]+\s+){{0,3}}?{_ORDERED}"
_PERSIST = (
    rf"\b({_KEEP})\s+(?:this|the\s+following|that)\s+(?:rule|instruction|directive|order|command|polic(?:y)|principle)s?\b[^.!?\n]{{0,40}}?(?:\band\s+(?:obey|follow|apply)|:)",
    r"\b(update|edit|change|amend|overwrite|rewrite|modify)\s+(?:your|the\s+(?:assistant|agent|model)'s)\s+(?:\S+\s+)?(?:memory|memories|notes|knowledge|beliefs?|profile|records?)\b[^.!?\n]{0,40}?(?:\b(?:so\s+that|to\s+(?:say|state|include|reflect|show)|with)\b|:)",
)


def persistence(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders to keep an order."""
    for start, end in orders(_LASTING, lower):
        last = next(spans(_KEPT, lower[end : end + _REACH]), None)
        if last is not None:
            yield Hit(start, end + last[1], 0.8)
    for pattern in _PERSIST:
        for start, end in orders(pattern, lower):
            yield Hit(start, end, 0.8)
