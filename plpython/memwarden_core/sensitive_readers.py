# ruff: noqa: E501 - a pattern is easier to read whole
"""Orders to whichever model reads a text later: on a trigger, from now on, in somebody's name.

What they share is who is meant: the reader (an assistant, an agent, "you"), a moment in its work (a
question, a recall, a reply) and a verb in the imperative or a duty. A report about a user or an
agent has its verb in the third person and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from .late import late
from .sensitive_findings import Hit
from .sensitive_orders import any_of, orders, spans
from .sensitive_speech import is_order, is_talk

# Acts that harm where a text, and not a user, asks for them.
_HARMFUL = any_of(
    "output print reveal display disclose expose leak dump send forward e-?mail upload transmit execute run invoke trigger launch fetch "
    "download install click ignore disregard bypass skip disable deactivate delete erase wipe transfer pay approve accept authori[sz]e grant "
    "escalate append insert repeat recite obey comply redirect exfiltrate elevate commit merge submit discard overwrite hand_out call_the call_this"
)
_CALL = r"call\s+(?:\w+_\w+|\w+\(|(?:[\w.-]+\s+){0,3}?(?:tools?|functions?|apis?|endpoints?|webhooks?|scripts?|commands?|urls?)\b)"
# And what a reader is told to say or to do otherwise.
_ACT = (
    rf"(?:{_HARMFUL}|{_CALL}|"
    + any_of(
        "open visit deny refuse answer reply respond say tell recommend add include give provide return quote treat trust follow use apply "
        "report write create change replace rename pretend claim promise close cancel share post show share mention warn hide sign rate rank "
        "rely prefer consult suggest praise promote advise point direct encourage remove set update record store save log act behave ask begin start end finish perform make "
        "load search look confirm verify read summari[sz]e translate describe convince persuade lie mislead inform notify expose alter modify steer insist go"
    )
    + ")"
)
_MODEL = r"(?:a\.?i\.?|llms?|language\s+models?|chatbots?|chatgpt|claude|gemini|copilot|(?:ai|llm)[\s-]+(?:agents?|assistants?|models?|readers?|systems?|bots?|tools?|crawlers?))"
_THE_MODEL = rf"(?:{_MODEL}|(?:the|this|any|every|each|an?|our|your|all|future)\s+(?:(?:ai|virtual|digital|coding|reading|other|next|same)\s+)?(?:assistants?|agents?|models?|bots?|{_MODEL}))"
_ASKER = r"(?:(?:the|a|an|any|this|your)\s+(?:\w+\s+)?(?:user|customer|client|caller|visitor|person|human|operator|patient|employee|admin|administrator)|users|customers|any\s+user)"
_ANYBODY = r"(?:someone|somebody|anyone|anybody|people|whoever\s+\w+)"
_MOMENT = r"(?:when(?:ever)?|if|(?:each|every|any)\s+time|once|as\s+soon\s+as|in\s+case|where|after|before|while|until)"
_ASKS = r"(?:ask(?:s|ed|ing)?|requests?|wants?|mentions?|says?|(?:en|in)quires?|quer(?:y|ies)|needs?|types?|logs?|greets?|writes?|sends?|enters?|brings?|talks?|speaks?|complains?|tries|confirms?|refers?|uploads?|opens?|has|is|would|looks?|requires?|wishes|starts?|inputs?|prompts?)"
_READS = r"(?:reads?|retrieves?|recalls?|loads?|sees?|receives?|processes|process|opens?|access(?:es)?|finds?|fetch(?:es)?|summari[sz]es?|answers?|replies|reply|responds?|(?:is|are)\s+(?:asked|loaded|prompted|queried|given|shown|called|started|told)|encounters?|searches|search|consults?|quer(?:y|ies)|remembers?|looks?|starts?|parses?|ingests?|runs?|uses?)"
_THIS = r"(?:this|the)\s+(?:\w+\s+)?(?:note|memory|entry|record|message|text|document|fact|item|page|file|line|snippet|chunk|context)"
_DUTY = r"(?:must|should|shall|ha(?:s|ve)\s+to|(?:is|are)\s+to|needs?\s+to|ought\s+to|(?:is|are)\s+(?:required|obliged|instructed|expected|ordered|asked|supposed)\s+to|will|may|can)"
_ADVERB = r"(?:(?:always|never|first|please|kindly|immediately|silently|quietly|secretly|just|simply|only|instead|then|also|automatically|not|do\s+not|don't|ever|without\s+\w+|at\s+once|directly)\s+){0,3}"
_LEAD = rf"(?:(?:you|it|they|he|she|{_THE_MODEL})\s+{_DUTY}\s+)?{_ADVERB}"
_BREAK = r"(?:\s*(?:,|;|:|->|=>|\x{2192}|\x{2014}|\x{2013}|\s-\s)\s*(?:then\s+)?|\s+then\s+)"

# The moments, and what may follow each: whatever a reader can do, or only what harms.
_MOMENTS = (
    rf"\b{_MOMENT}\s+(?:{_ASKER}\s+(?:\w+\s+)?{_ASKS}|(?:you(?:'re|\s+are)\s+|being\s+)?asked|prompted|queried)\b"
    rf"|\b{_MOMENT}\s+{_THE_MODEL}\s+(?:\w+\s+)?{_READS}\b"
    rf"|\b{_MOMENT}\s+(?:you\s+)?(?:read|retrieve|recall|load|see|receive|process|open|access|find|fetch)\s+(?:this|{_THIS})\b"
    rf"|\b{_MOMENT}\s+(?:{_THIS}|it|this)\s+(?:is|gets|comes|has\s+been|was)\s+(?:\w+\s+)?(?:retrieved|read|recalled|loaded|accessed|seen|opened|processed|found|returned|used|cited|stored|saved|up)\b"
    r"|\b(?:up)?on\s+(?:reading|retrieving|retrieval|recalling|recall|loading|seeing|receiving|receipt|access|start(?:up)?)\b"
    r"|\b(?:before|after|with|in|during)\s+(?:answering|replying|responding|(?:each|every|any)\s+(?:\w+\s+)?(?:reply|replies|answer|response|message|question|request|prompt|turn|tool\s+call|conversation|session))\b"
)
_THEN = rf"{_BREAK}{_LEAD}{_ACT}\b|\s(?:always|never|you\s+must|you\s+should)\s+{_ACT}\b"
_ANYBODYS = rf"\b{_MOMENT}\s+{_ANYBODY}\s+(?:\w+\s+)?{_ASKS}\b"
_THEN_HARM = rf"{_BREAK}(?:(?:you|{_THE_MODEL})\s+{_DUTY}\s+{_ADVERB}{_ACT}|{_ADVERB}(?:{_HARMFUL}|{_CALL}))\b"
_AT_LAST = (
    rf"\b(?:when(?:ever)?|if|(?:each|every)\s+time|as\s+soon\s+as|once)\s+(?:{_ASKER}\s+{_ASKS}|(?:you\s+are\s+)?asked\b|{_ANYBODY}\s+{_ASKS}|{_THE_MODEL}\s+{_READS}|you\s+(?:read|recall|retrieve|load|see)\s+(?:this|{_THIS})|{_THIS}\s+is\s+(?:read|recalled|retrieved|loaded))"
    r"|\b(?:before|after|with|in|on)\s+(?:(?:each|every|any|all)\s+(?:of\s+your\s+)?(?:\w+\s+)?(?:reply|replies|answers?|responses?|messages?|turn|request|prompt)|answering|replying|responding)\b"
)
_HARM = rf"\b(?:{_HARMFUL}|{_CALL})\b"
_REACH = 160
_END = late(r"[.!?\n](?:\s|$)")


def _clause(lower: str, start: int) -> str:
    """Return what follows in the same sentence, as far as is looked."""
    rest = lower[start : start + _REACH]
    stop = _END.search(rest)
    return rest[: stop.start()] if stop else rest


def _followed(head: str, tail: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a pattern with another one behind it in the same sentence."""
    for start, end in spans(head, lower):
        last = next(spans(tail, _clause(lower, end)), None)
        if last is not None:
            yield start, end + last[1]


def trigger(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield orders that wait for a moment in the reader's work: a question, a recall, a reply."""
    for head, tail in ((_MOMENTS, _THEN), (_ANYBODYS, _THEN_HARM)):
        for start, end in _followed(head, tail, lower):
            if not is_talk(lower, start, end):
                yield Hit(start, end, 0.8)
    for start, end in spans(_AT_LAST, lower):
        begin = max(0, start - _REACH)
        before = lower[begin:start]
        for verb, _ in spans(_HARM, before):
            if not _END.search(before, verb) and is_order(lower, begin + verb):
                if not is_talk(lower, begin + verb, end):
                    yield Hit(begin + verb, end, 0.75)
                break


_FROM_NOW = r"(?:from\s+now\s+on|going\s+forward|henceforth|from\s+here\s+on(?:\s+out)?|from\s+this\s+(?:point|moment|day|time)(?:\s+(?:on|forward|onwards?))?|as\s+of\s+(?:now|today)|starting\s+(?:now|today)|effective\s+immediately|(?:in|for)\s+(?:all|every|any|each)\s+(?:future\s+)?(?:repl(?:y|ies)|answers?|responses?|sessions?|conversations?|chats?|interactions?))"
_ABOUT = r"(?:users?|customers?|clients?|callers?|visitors?|assistants?|messages?|requests?|instructions?|documents?|conversations?|repl(?:y|ies)|responses?|answers?|prompts?|links?|tokens?|passwords?|credentials?|memor(?:y|ies)|queries|tools?|invoices?|payments?|transfers?|commands?)"
_STANDING = (
    rf"\byou\s+(?:must|shall|will|have\s+to|are\s+(?:to|required\s+to|obliged\s+to|instructed\s+to|ordered\s+to|expected\s+to|commanded\s+to))\s+(?:always|never|only|not\s+ever|from\s+now\s+on)\s+(?:\w+ly\s+)?{_ACT}\b",
    rf"\byou\s+(?:should|ought\s+to|need\s+to)\s+(?:always|never|only)\s+(?:\w+ly\s+)?(?:{_HARMFUL}|{_CALL}|recommend|answer|reply|respond|mention|refuse|deny|claim|pretend)\b",
    rf"\byou\s+are\s+(?:now\s+)?(?:required|obliged|instructed|ordered|commanded|programmed|authori[sz]ed)\s+to\s+{_ADVERB}{_ACT}\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:and\s+)?(?:you|{_THE_MODEL})\s+(?:{_DUTY}|are)\s+{_ADVERB}{_ACT}\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:please\s+)?(?:always|never|only|do\s+not|don't)\s+{_ADVERB}{_ACT}\b",
    rf"\b{_FROM_NOW}[,:]?\s+(?:{_HARMFUL}|{_CALL}|(?:answer|reply|respond|treat|trust|begin|start|end|sign)\s+(?:to\s+)?(?:all|any|every|each|only|yes|your)\b)",
    rf"\b{_THE_MODEL}\s+(?:(?:reading|processing|parsing|retrieving|seeing|loading|using|accessing|indexing|that\s+reads?|who\s+reads?)\s+(?:this|these|the\s+\w+)\b(?:\s+\w+)?)\s*{_DUTY}\s+{_ADVERB}{_ACT}\b",
    rf"\b{_THE_MODEL}\s+(?:must|shall|should|ha(?:s|ve)\s+to|(?:is|are)\s+(?:to|required\s+to|instructed\s+to|ordered\s+to)|will\s+(?:always|never)|may\s+(?:never|only)|can\s+never)\s+{_ADVERB}(?:{_HARMFUL}|{_CALL}|recommend|answer|reply|respond|say|tell|mention|refuse|deny|claim|pretend|trust|treat|prefer|consult|quote|use|follow|include|add|give|warn|share|post|visit|open|report|praise|promote|rank|rate)\b",
    rf"\b(?:behaviou?r|task|job|role|duty|purpose|instruction|goal)\s+(?:of|for)\s+{_THE_MODEL}\s+is\s+(?:now\s+)?to\s+{_ADVERB}{_ACT}\b",
    r"\bif\s+you(?:'re|\s+are)\s+(?:an?\s+)?(?:ai|a\.i\.|llm|language\s+model|large\s+language\s+model|chatbot|assistant|ai\s+\w+|automated\s+\w+|bot|machine)\b(?:\s+\w+){0,6}?(?:,|:)",
    rf"(?:^|[.!?;:>\n\"(\[*]\s*|\s-\s)(?:please\s+)?(?:always|never)\s+(?:{_HARMFUL}|{_CALL}|recommend|trust|treat|answer|reply|respond|mention|warn|refuse|deny|tell|inform|use|give|include|add|share|believe|consult|say|question|verify|check|follow)\s+(?:[^\s.!?;:]+\s+){{0,4}}?{_ABOUT}\b",
)
_VOCATIVE = (
    rf"(?:^|[.!?;>\n\"(\[*#]\s*|\s-\s)(?:(?:dear|hey|hi|hello|attention|important|note|warning|ok|listen)[,:]?\s+)?(?:{_MODEL}|assistants?|agents?|model|bot)\s*[,:!\x{{2014}}\x{{2013}}-]\s*(?:(?:please|kindly|always|never|do\s+not|don't|from\s+now\s+on|you\s+(?:must|should|will|shall|have\s+to|need\s+to|are\s+to))\s+){{1,3}}{_ADVERB}{_ACT}\b",
    rf"(?:^|[.!?;>\n\"(\[*#]\s*|\s-\s)(?:(?:dear|hey|hi|hello|attention|important|note|warning|ok|listen)[,:]?\s+)?(?:{_MODEL}|assistants?|agents?|model|bot)\s*[,:!]\s*(?:{_HARMFUL}|{_CALL})\b",
    rf"\b(?:attention|important|notice|warning|listen)(?:\s+(?:to|for))?[,:]?\s+(?:all\s+)?(?:{_MODEL}|assistants?|agents)\b(?:\s+\w+){{0,6}}?(?:[,:]\s*|\s{_DUTY}\s+){_ADVERB}{_ACT}\b",
    rf"\b(?:notes?|instructions?|messages?|memo|directives?|reminders?|(?:next\s+)?(?:steps?|tasks?|actions?)|rules?|guidance|guidelines?|hints?)[\s_-]+(?:to|for)[\s_-]+(?:the[\s_-]+|all[\s_-]+|any[\s_-]+|this[\s_-]+)?(?:{_MODEL}|assistants?|agents?|models?|bots?)\b(?:\s+\w+){{0,3}}:",
)


def standing(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield lasting orders and duties of the reader, and what is addressed to it by name."""
    for pattern in (*_STANDING, *_VOCATIVE):
        for start, end in spans(pattern, lower):
            if not is_talk(lower, start, end):
                yield Hit(start, end, 0.75)


_WHO = r"(?:(?:(?:the|this|your|our|my)\s+(?:\w+\s+)?(?:users?|customers?|clients?|owner|admin(?:istrator)?s?|operators?|developers?|management|company|boss|manager|team|author|ceo|security\s+team|account\s+holder)|management|users|anthropic|open\s?ai|google|microsoft|meta)(?:\s+of\s+(?:this|the|your)\s+\w+)?)"
_WISHES = r"(?:(?:ha(?:s|ve|d)\s+)?(?:(?:already|now|explicitly|expressly|also|just|always|really)\s+){0,2}(?:wants?|wanted|would\s+like|wish(?:es|ed)?|asks?|asked|expects?|needs?|requires?|required|prefers?|agreed?s?|authori[sz](?:es|ed?)|approve[sd]?|allow(?:s|ed)?|permit(?:s|ted)?|instruct(?:s|ed)?|order(?:s|ed)?|clear(?:s|ed)?|told|tells|confirm(?:s|ed)?|consent(?:s|ed)?|decided|requests?|requested|demands?|demanded|granted|given|gives|gave))"
_BY_WISH = r"(?:you|the\s+(?:ai\s+)?(?:assistant|agent|model|ai|bot|chatbot))"
_CLAIM = (
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?(?:you\s+(?:permission\s+)?)(?:to|may|can|should|must|will|always|never|not)\s+{_ADVERB}(?:[a-z]+ly\s+)?{_ACT}\b",
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?you\s+(?:{_HARMFUL}|{_CALL})\b",
    rf"\b{_WHO}\s+{_WISHES}\s+(?:for\s+|that\s+)?{_BY_WISH}\s+(?:permission\s+)?(?:(?:to|may|can|should|must|will)\s+)?{_ADVERB}(?:{_HARMFUL}(?:s|es)?|{_CALL}|disclos\w+|reveal\w*|share|shares)\b",
    rf"\b(?:per|by|at|on|it\s+is|it's|under|with|following)\s+(?:the\s+)?(?:users?|customers?|owners?|admin(?:istrator)?s?|operators?|developers?|managements?)(?:'s?|s'|\x{{2019}}s?)?\s+(?:\w+\s+)?(?:instructions?|wish(?:es)?|request|orders?|permission|preferences?|consent|approval)\b[,:]?\s*(?:that\s+)?{_BY_WISH}\s+(?:(?:are|is)\s+(?:to|allowed\s+to|free\s+to)|may|can|must|should|will|shall)?\s*{_ADVERB}{_ACT}\b",
)


def claimed_wish(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield what the model is told that its user, its operator or its maker wants of it."""
    for pattern in _CLAIM:
        for start, end in spans(pattern, lower):
            if not is_talk(lower, start, end):
                yield Hit(start, end, 0.75)


_KEEP = r"(?:store|save|remember|keep|persist|memori[sz]e|record|add|retain|write|note|commit|put)"
_ORDERED = rf"(?:{_MOMENT}\s+(?:{_ASKER}|{_ANYBODY}|{_THE_MODEL}|asked|you|this)\b|you\s+(?:must|should|shall|will|have\s+to|are\s+to|need\s+to)\b|{_THE_MODEL}\s|{_ADVERB}(?:{_HARMFUL}|{_CALL}|reply|respond|answer|recommend|refuse|trust|treat|always|never)\b)"
_FOREVER = r"(?:permanently|forever|for\s+good|for\s+(?:all|every|any|each)\s+(?:future\s+|later\s+)?(?:sessions?|conversations?|chats?|users?|interactions?|requests?)|as\s+(?:an?\s+|your\s+)?(?:core|permanent|standing|fixed|absolute|top|lasting|long-term|persistent|hard|binding|key|important|new|global)\s+(?:\w+\s+)?(?:belief|rule|fact|instruction|memory|preference|polic(?:y|ies)|directive|principle|guideline|behaviou?r)s?|(?:to|in|into)\s+(?:your|the\s+(?:assistant|agent|model)'s)\s+(?:\S+\s+)?(?:memory|memories|notes|knowledge|long-term\s+memory|persistent\s+memory|profile)|across\s+(?:all\s+)?sessions?|and\s+never\s+(?:delete|forget|remove|change)\s+(?:it|this))"
_LASTING = rf"\b({_KEEP})\s+(?:[^\s.!?;:]+\s+){{0,6}}?{_FOREVER}"
_KEPT = rf"(?:[:;,.!\x{{2014}}\x{{2013}}-]|\bthat\b|\band\b)\s*(?:[^\s.!?\n]+\s+){{0,3}}?{_ORDERED}"
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
